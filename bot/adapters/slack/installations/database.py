"""Databases for installations: a file of their own, or the bot's PostgreSQL if several processes share it."""

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr
from sqlalchemy import URL, Connection, Engine, create_engine, event, func, inspect, make_url, select
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from memory.adapters.private_files import make_file, make_folder
from memory.adapters.sql.engines.postgres import lock_key, open_engine

_BUSY_SECONDS = 10


class InstallationDatabase(Protocol):
    """A database with slack-sdk's tables."""

    engine: Engine
    name: str
    """Its name for people."""
    remedy: str
    """What to check when it cannot be used."""
    start_anew: str
    """What to do with it if its tables do not fit."""
    is_shared: bool
    """Whether other processes serve the same workspaces at the same time."""

    def is_there(self) -> bool:
        """Whether anything was ever installed here. Raises SQLAlchemy's errors."""

    def make(self) -> AbstractContextManager[Connection]:
        """A transaction that makes tables; one at a time among all processes."""


class InstallationFile:
    """An SQLite file beside the memory, made when needed, so that copies of the memory have no tokens."""

    remedy = "check the file and the disk"
    start_anew = "move the file away"
    is_shared = False

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path
        # `hide_parameters`: an error must not quote a token.
        self.engine = create_engine(
            URL.create("sqlite", database=str(path)),
            connect_args={"timeout": _BUSY_SECONDS},
            poolclass=NullPool,
            hide_parameters=True,
        )
        event.listen(self.engine, "connect", _configure)
        event.listen(self.engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))

    def is_there(self) -> bool:
        """As `InstallationDatabase` says."""
        return self._path.exists() and inspect(self.engine).has_table("slack_bots")

    @contextmanager
    def make(self) -> Iterator[Connection]:
        """As `InstallationDatabase` says."""
        make_folder(self._path.parent)
        make_file(self._path)
        with self.engine.begin() as connection:
            yield connection


class SharedInstallations:
    """The bot's PostgreSQL, beside the tables of memory, which know nothing of Slack."""

    name = "the bot's database"
    remedy = "check the database"
    start_anew = "drop its tables slack_bots, slack_installations and slack_oauth_states"
    is_shared = True

    def __init__(self, url: SecretStr) -> None:
        self.engine = open_engine(make_url(url.get_secret_value()).set(drivername="postgresql+psycopg"))
        event.listen(self.engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))

    def is_there(self) -> bool:
        """As `InstallationDatabase` says."""
        return inspect(self.engine).has_table("slack_bots")

    @contextmanager
    def make(self) -> Iterator[Connection]:
        """As `InstallationDatabase` says."""
        with self.engine.begin() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(lock_key("the schema"))))
            yield connection


def _configure(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    # The driver would begin a transaction at its first write, so that two processes could use one state.
    connection.isolation_level = None
    connection.execute("PRAGMA secure_delete=ON")

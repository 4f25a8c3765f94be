"""Databases for installations: a file of their own, or the bot's PostgreSQL if several processes share it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr
from sqlalchemy import URL, Connection, Engine, create_engine, event, func, inspect, make_url, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from bot.errors import MessengerUnavailable
from memory.adapters.private_files import make_file, make_folder
from memory.adapters.sql.engines.postgres import lock_key, open_engine

_BUSY_SECONDS = 10
SECRETS = ("bot_token", "bot_refresh_token", "user_token", "user_refresh_token", "incoming_webhook_url")
"""Columns that give access to a workspace."""


class InstallationDatabase:
    """A database with slack-sdk's tables."""

    name: str
    """Its name for people."""
    remedy: str
    """What to check when it cannot be used."""
    start_anew: str
    """What to do with it if its tables do not fit."""
    is_shared: bool
    """Whether other processes serve the same workspaces at the same time."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def is_there(self) -> bool:
        """Whether anything was ever installed here. Raises SQLAlchemy's errors."""
        return inspect(self.engine).has_table("slack_bots")

    @contextmanager
    def make(self) -> Iterator[Connection]:
        """A transaction that makes tables; one at a time among all processes."""
        with self.engine.begin() as connection:
            yield connection

    @contextmanager
    def naming_faults(self) -> Iterator[None]:
        """Raise `MessengerUnavailable`, which names the database and the remedy, if it cannot be used."""
        try:
            yield
        except (SQLAlchemyError, OSError) as exc:
            reason = getattr(exc, "orig", None) or type(exc).__name__
            raise MessengerUnavailable(
                f"the Slack installations in {self.name} cannot be used: {reason}; {self.remedy}"
            ) from exc


class InstallationFile(InstallationDatabase):
    """An SQLite file beside the memory, made when needed, so that copies of the memory have no tokens."""

    remedy = "check the file and the disk"
    start_anew = "move the file away"
    is_shared = False

    def __init__(self, path: Path) -> None:
        # `hide_parameters`: an error must not quote a token.
        super().__init__(
            create_engine(
                URL.create("sqlite", database=str(path)),
                connect_args={"timeout": _BUSY_SECONDS},
                poolclass=NullPool,
                hide_parameters=True,
            )
        )
        self.name = str(path)
        self._path = path
        event.listen(self.engine, "connect", _configure)
        event.listen(self.engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))

    def is_there(self) -> bool:
        """As `InstallationDatabase` says. Makes no file."""
        return self._path.exists() and super().is_there()

    @contextmanager
    def make(self) -> Iterator[Connection]:
        """As `InstallationDatabase` says."""
        make_folder(self._path.parent)
        make_file(self._path)
        with super().make() as connection:
            yield connection


class SharedInstallations(InstallationDatabase):
    """The bot's PostgreSQL, beside the tables of memory, which know nothing of Slack."""

    name = "the bot's database"
    remedy = "check the database"
    start_anew = "drop its tables slack_bots, slack_installations and slack_oauth_states"
    is_shared = True

    def __init__(self, url: SecretStr) -> None:
        address = make_url(url.get_secret_value()).set(drivername="postgresql+psycopg")
        super().__init__(open_engine(address, checks_connections=True))
        event.listen(self.engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))

    @contextmanager
    def make(self) -> Iterator[Connection]:
        """As `InstallationDatabase` says."""
        with super().make() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(lock_key("the schema"))))
            yield connection


def _configure(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    # The driver would begin a transaction at its first write, so that two processes could use one state.
    connection.isolation_level = None
    connection.execute("PRAGMA secure_delete=ON")

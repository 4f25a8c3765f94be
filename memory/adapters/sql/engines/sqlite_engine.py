"""A SQLite engine that begins no transaction by itself, and whose commits survive a power failure."""

import sqlite3
import time
from pathlib import Path

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from memory.adapters.sql.queries.retrievals import FUNCTIONS
from memory.errors import StoreUnavailable

BUSY_SECONDS = 10
"""How long to wait for another process's transaction before giving up."""

_PART_KEPT = 64
LEAST_KEPT, MOST_KEPT = 2 * 2**20, 8 * 2**20
"""Of a file, a connection keeps one byte of 64 in memory, from SQLite's own 2 MiB to 8 MiB. A page of the recall index
has four rows or the ways to four pages, so that the way to a row of a million is eleven pages long: with 2 MiB most of
them are read again for each row."""

_RETRY_SECONDS = 0.02


def open_engine(path: Path) -> Engine:
    """An engine for one database file. Connects when used; nothing is created before."""
    url = URL.create("sqlite", database=str(path))
    # What people say is a parameter of statements: it must not get into a log with them.
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, hide_parameters=True, poolclass=NullPool)
    event.listen(engine, "connect", _connected)
    return engine


def configure(connection: sqlite3.Connection) -> None:
    """Make a fresh connection behave as the store needs it, whatever kind of database it is to."""
    # The driver must not begin transactions by itself: it would take the write lock too late, and fail instead of wait
    # (docs.sqlalchemy.org, "Serializable isolation / Savepoints / Transactional DDL").
    connection.isolation_level = None
    for pragma in ("foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
    # SQLite's own `lower` knows ASCII only; PostgreSQL has both.
    connection.create_function("lower", 1, _lower, deterministic=True)
    connection.create_function("strpos", 2, _strpos, deterministic=True)
    for name, function in FUNCTIONS.items():
        connection.create_function(name, -1, function, deterministic=True)


def _connected(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    configure(connection)
    _use_wal(connection)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(f"PRAGMA cache_size=-{_kept(connection) // 1024}")


def _kept(connection: sqlite3.Connection) -> int:
    """How many bytes of the file."""
    (pages,), (page_bytes,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(min(MOST_KEPT, max(LEAST_KEPT, pages * page_bytes // _PART_KEPT)))


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log. SQLite does not wait by itself when two processes switch a fresh file at once."""
    if _is_foreign(connection):
        return
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)
            continue
        if mode != "wal":
            raise StoreUnavailable("The file system cannot share a database between processes. Use a local disk.")
        return


def _is_foreign(connection: sqlite3.Connection) -> bool:
    """Whether another program made this database: it is refused later, and must not be changed by looking at it."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return bool(tables) and "alembic_version" not in tables


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _strpos(text: str | None, part: str | None) -> int | None:
    return None if text is None or part is None else text.find(part) + 1

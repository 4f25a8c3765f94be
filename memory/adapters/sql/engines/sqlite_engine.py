"""SQLite engines that begin no transactions by themselves, and whose commits survive a power failure."""

import sqlite3
import time
from pathlib import Path

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from memory.adapters.sql.queries.retrievals import FUNCTIONS
from memory.errors import StoreUnavailable

BUSY_SECONDS = 10
"""How long to wait for another process's transaction."""

_FILE_PER_CACHE = 64
LEAST_KEPT, MOST_KEPT = 2 * 2**20, 8 * 2**20
"""The page cache of a connection is 1/64 of the file, at least SQLite's default of 2 MiB and at most 8 MiB. A page of
the recall index has four rows or four child pages, so a path to one of a million rows has eleven pages: with 2 MiB,
most of them are read again for each row."""

_RETRY_SECONDS = 0.02


def open_engine(path: Path) -> Engine:
    """An engine for one database file. It connects when used and creates nothing before."""
    url = URL.create("sqlite", database=str(path))
    # `hide_parameters`: people's messages are parameters and must not be logged.
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, hide_parameters=True, poolclass=NullPool)
    event.listen(engine, "connect", _connected)
    return engine


def configure(connection: sqlite3.Connection) -> None:
    """Set up a new connection to a file or to a database in memory."""
    # The driver must not begin transactions by itself: it would take the write lock too late, and fail instead of wait
    # (docs.sqlalchemy.org, "Serializable isolation / Savepoints / Transactional DDL").
    connection.isolation_level = None
    for pragma in ("foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
    # SQLite's own `lower` is ASCII only, and it has no `strpos`; PostgreSQL has both.
    connection.create_function("lower", 1, _lower, deterministic=True)
    connection.create_function("strpos", 2, _strpos, deterministic=True)
    for name, function in FUNCTIONS.items():
        connection.create_function(name, -1, function, deterministic=True)


def _connected(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
    configure(connection)
    _use_wal(connection)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(f"PRAGMA cache_size=-{_cache_bytes(connection) // 1024}")


def _cache_bytes(connection: sqlite3.Connection) -> int:
    """The size of the page cache in bytes, by the size of the file."""
    (pages,), (page_bytes,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(min(MOST_KEPT, max(LEAST_KEPT, pages * page_bytes // _FILE_PER_CACHE)))


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log. SQLite does not wait by itself if two processes switch a new file at once."""
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
    """Whether another program made this database. It is refused later, and must not be changed before."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return bool(tables) and "alembic_version" not in tables


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _strpos(text: str | None, part: str | None) -> int | None:
    return None if text is None or part is None else text.find(part) + 1

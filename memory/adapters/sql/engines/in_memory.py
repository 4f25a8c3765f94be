"""SQLite databases in memory. Each starts as a copy of an empty database that is made once per process."""

import sqlite3
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import finalize

from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import StaticPool

from memory.adapters.sql.engines.planner import advise_planner
from memory.adapters.sql.engines.sqlite_engine import configure
from memory.adapters.sql.tables.columns import metadata

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import CompiledCacheType

IN_MEMORY = Path(":memory:")
"""The path of such databases, shown in messages instead of a file."""

_copy_lock = Lock()
_compiled: "CompiledCacheType" = {}
"""The cache of compiled statements, shared by all databases in memory."""


def open_in_memory() -> Engine:
    """An engine for a new empty database with all tables, which is erased when the engine is disposed of.

    All threads share one connection, so their transactions must not overlap.
    """
    connection: Any = _connect()  # the pool wants another type than the driver's
    with _copy_lock:
        template, source = _template()
        source.backup(connection)
    pool, options = StaticPool(lambda: connection), {"compiled_cache": _compiled}
    engine = Engine(pool, template.dialect, template.url, hide_parameters=True, execution_options=options)
    finalize(engine, connection.close)  # stores that live as long as the process are often not closed
    return engine


@cache
def _template() -> tuple[Engine, sqlite3.Connection]:
    """An empty database with all tables."""
    source = _connect()
    engine = create_engine("sqlite://", creator=lambda: source, poolclass=StaticPool)
    with engine.begin() as connection:
        metadata.create_all(connection)
        advise_planner(connection)
    return engine, source


def _connect() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    configure(connection)
    connection.execute("PRAGMA temp_store=MEMORY")
    return connection

"""Databases in this process's memory: each begins as a copy of an empty one, which is made once."""

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
"""What messages name instead of a file."""

_one_copies = Lock()
_compiled: "CompiledCacheType" = {}
"""Statements in the words of the driver, which are the same for every database."""


def open_in_memory() -> Engine:
    """An engine for an empty database of its own, with all tables; disposing of the engine erases it.

    All threads share its one connection, so they must take turns.
    """
    connection: Any = _connect()  # the pool wants another type than the driver's
    with _one_copies:
        template, source = _template()
        source.backup(connection)
    pool, options = StaticPool(lambda: connection), {"compiled_cache": _compiled}
    engine = Engine(pool, template.dialect, template.url, hide_parameters=True, execution_options=options)
    finalize(engine, connection.close)  # whoever has a memory for as long as the process need not close it
    return engine


@cache
def _template() -> tuple[Engine, sqlite3.Connection]:
    """A database with the tables of the code."""
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

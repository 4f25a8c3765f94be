"""Each statement is compiled once for all databases of a process of tests, as an engine does it for its connections.

A test has a database of its own, so it would compile what all others had compiled before: a quarter of their time.
"""

from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Dialect, Engine, event
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import CompiledCacheType

_COMPILED: "CompiledCacheType" = {}


def compile_once() -> None:
    """From now on, for every engine of this process.

    What is compiled is kept by SQLAlchemy and by the store with the dialect, of which every engine has one.
    """
    for kind in (PGDialect_psycopg, SQLiteDialect_pysqlite):
        kind.__eq__, kind.__hash__ = _is_alike, _hash  # type: ignore[method-assign,assignment]  # two of a kind compile alike
    event.listen(Engine, "engine_connect", _share)


def _is_alike(dialect: Dialect, other: Any) -> bool:
    return type(dialect) is type(other) and dialect.server_version_info == other.server_version_info


def _hash(dialect: Dialect) -> int:
    return hash(type(dialect))


def _share(connection: Connection) -> None:
    connection.execution_options(compiled_cache=_COMPILED)

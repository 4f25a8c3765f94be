"""Each statement is compiled once for all databases of a process of tests, as an engine does it for its connections.

A test has a database of its own, so it would compile what all others had compiled before: a quarter of their time.
"""

from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.sql.compiler import Compiled


class _ForEachKindOfDatabase(dict[Any, Compiled]):
    """SQLAlchemy's keys begin with the dialect, of which every engine has one; two of a kind compile alike."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_of_kind(key), default)

    def __setitem__(self, key: Any, compiled: Compiled) -> None:
        super().__setitem__(_of_kind(key), compiled)


def _of_kind(key: Any) -> Any:
    dialect, *rest = key
    return (dialect.name, dialect.driver, dialect.server_version_info, *rest)


_COMPILED = _ForEachKindOfDatabase()


def compile_once() -> None:
    """From now on, for every engine of this process."""
    event.listen(Engine, "engine_connect", _share)


def _share(connection: Connection) -> None:
    connection.execution_options(compiled_cache=_COMPILED)

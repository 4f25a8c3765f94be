"""The tables' statements are written once in a process of tests: every other new SQLite file gets the same.

Writing them takes several times as long as running them.
"""

from typing import Any

from sqlalchemy import Connection, MetaData, create_engine, event

from memory.adapters.sql.engines import schema
from memory.adapters.sql.tables.columns import metadata

_real = schema.create_tables
_statements: list[tuple[str, Any]] = []
"""Each statement for the first empty file, with its parameters."""


def write_tables_once() -> None:
    """From now on, in this process."""
    schema.create_tables = _create_tables


def write_tables_before_forking() -> None:
    """The same for processes that are forked from this one."""
    write_tables_once()
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        _create_tables(connection)
    engine.dispose()


def _create_tables(connection: Connection, tables: MetaData = metadata) -> None:
    if connection.dialect.name != "sqlite":
        _real(connection, tables)
    elif _statements:
        for statement, parameters in _statements:
            connection.exec_driver_sql(statement, parameters)
    else:
        event.listen(connection, "before_cursor_execute", _note)
        _real(connection, tables)
        event.remove(connection, "before_cursor_execute", _note)


def _note(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
    if not statement.lstrip().startswith(("PRAGMA", "SELECT")):
        _statements.append((statement, parameters))

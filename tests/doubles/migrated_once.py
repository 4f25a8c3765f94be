"""The migrations run once in a process of tests: every other new SQLite file gets the same statements.

The migration library takes a hundred times as long as the statements that it makes.
"""

from typing import Any

from sqlalchemy import Connection, create_engine, event

from memory import migrations

_real = migrations.upgrade
_statements: list[tuple[str, Any]] = []
"""Each statement of the first upgrade of an empty file, with its parameters."""


def migrate_once() -> None:
    """From now on, in this process."""
    migrations.upgrade = _upgrade


def migrate_before_forking() -> None:
    """The same for processes that are forked from this one, none of which needs the migration library then."""
    migrate_once()
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        _upgrade(connection)
    engine.dispose()


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name != "sqlite" or connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first():
        _real(connection)
    elif _statements:
        for statement, parameters in _statements:
            connection.exec_driver_sql(statement, parameters)
    else:
        event.listen(connection, "before_cursor_execute", _note)
        _real(connection)
        event.remove(connection, "before_cursor_execute", _note)


def _note(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
    if not statement.lstrip().startswith(("PRAGMA", "SELECT")):
        _statements.append((statement, parameters))

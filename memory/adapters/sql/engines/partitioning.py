"""Partitioned tables in PostgreSQL, by a hash of the workspace: a step towards several servers.

Native partitioning has the same requirement as a distributed PostgreSQL: each unique key contains the workspace. Every
statement for a message names its workspace, so that it uses one part of each table.
"""

from contextlib import closing
from functools import cache

from sqlalchemy import Connection, MetaData, text

from memory.adapters.sql.engines.schema import create_tables
from memory.adapters.sql.tables.columns import metadata
from memory.adapters.sql.tables.lesson_versions import create_triggers, derived
from memory.adapters.sql.transaction.driver import translated_errors
from memory.errors import InvalidInput

OF_ALL_WORKSPACES = frozenset({"leases", "job_runs"})
"""Tables without a workspace; they are small and are not partitioned."""

_PARTS = text("SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass('episodes')")


def partition_tables(url: str, parts: int) -> None:
    """Make the tables in an empty database, each in `parts` parts. Does nothing if they exist in as many parts.

    Raises `InvalidInput` for another kind of database or one with other tables, and kinds of `StoreUnavailable`.
    """
    if not url.startswith("postgres"):
        raise InvalidInput("Only tables of PostgreSQL can be in parts. Name a postgresql:// database, or no parts.")
    from memory.adapters.sql.engines.postgres import PostgresDatabase  # its driver is an extra

    database = PostgresDatabase.at(url)
    with closing(database), translated_errors(database.where), database.upgrading() as connection:
        if not set(connection.execute(database.tables).scalars()):
            _make_tables(connection, parts)
        elif connection.execute(_PARTS).scalar() != parts:
            raise InvalidInput(f"The target has tables that are not in {parts} parts. Name a database without any.")


@cache
def _partitioned() -> MetaData:
    """A copy of the code's tables with partitioning."""
    found = MetaData(naming_convention=metadata.naming_convention)
    for table in (*metadata.sorted_tables, *derived.sorted_tables):
        copy = table.to_metadata(found)
        if table.name not in OF_ALL_WORKSPACES:
            copy.dialect_options["postgresql"]["partition_by"] = "HASH (workspace)"
    return found


def _make_tables(connection: Connection, parts: int) -> None:
    create_tables(connection, _partitioned())
    for table in set(_partitioned().tables) - OF_ALL_WORKSPACES:
        for part in range(parts):
            values = f"FOR VALUES WITH (MODULUS {parts}, REMAINDER {part})"
            connection.execute(text(f'CREATE TABLE "{table}_part{part}" PARTITION OF "{table}" {values}'))
    create_triggers(connection)

"""Creates the tables, and checks that a database is ours and has this version's schema."""

import logging
from functools import cache

from sqlalchemy import Connection, MetaData, text

from memory.adapters.sql.engines.database import Database
from memory.adapters.sql.tables.columns import metadata
from memory.adapters.sql.tables.lesson_versions import derived, forms, recreate_triggers
from memory.adapters.sql.transaction.driver import translated_errors
from memory.errors import MoveUnfinished, NotADatabase, SchemaMismatch

log = logging.getLogger(__name__)

HEAD_REVISION = "0001_tables"
"""The newest migration. Repeated here so that opening an up-to-date database does not load the migration library."""

MOVING = "moving_"
"""Prefix of the revision of a database into which another one is being moved; the rest identifies the other one."""

_UNRELEASED = frozenset(f"{number:04}" for number in range(1, 14))
"""Prefixes of revisions from before the first release, which cannot be migrated."""

_REVISION = text("SELECT version_num FROM alembic_version")
_VERSION_TABLE = text("CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")


def require_schema(database: Database, *, migrate: bool, moving: str = "") -> None:
    """Upgrade the database to the newest schema if needed. The revision `moving` is accepted too.

    Derived tables and triggers that are missing or of another version are made anew. Raises `SchemaMismatch` (newer; or
    older or incomplete and `migrate` is false; without a table or column of its schema; `MoveUnfinished` for another
    move) and `NotADatabase` (another program's database).
    """
    with translated_errors(database.where):
        connection, transaction = database.begin(writes=False)
        try:
            with transaction:
                revision = _revision(connection, database)
                missing = _missing(connection, database) if revision == HEAD_REVISION else ""
        finally:
            database.release(connection)
    if revision in (HEAD_REVISION, moving or HEAD_REVISION) and not missing:
        return
    if not migrate:
        if missing:
            raise SchemaMismatch(f"The database {database.where} lacks {missing}. Run `goodbot migrate`.")
        _require_known(revision, database)
        raise SchemaMismatch(
            f"The database {database.where} has an older schema ({revision or 'none'}). Run `goodbot migrate`."
        )
    with translated_errors(database.where), database.upgrading() as connection:
        # Another process may have upgraded it while this one waited.
        revision = _revision(connection, database)
        if not revision:
            create_tables(connection)
        elif revision != HEAD_REVISION:
            from memory.migrations import upgrade  # slow to import, and rarely needed

            _require_known(revision, database)
            upgrade(connection)
        elif missing := _missing(connection, database):
            log.warning("the database %s lacked %s, which are made anew", database.where, missing)
            recreate_triggers(connection)


def _missing(connection: Connection, database: Database) -> str:
    """The derived tables and triggers that a database of the newest schema lacks. Empty if it is complete.

    Raises `SchemaMismatch` if it lacks a table or a column, whose content nothing can restore.
    """
    columns = {(table, column) for table, column in connection.execute(database.columns)}
    names = {table for table, _ in columns}
    lost = sorted(set(metadata.tables) - names)
    lost_columns = sorted(f"{table}.{column}" for table, column in _columns() - columns if table in names)
    if lost or lost_columns:
        kinds = {"tables": lost, "columns": lost_columns}
        what = [f"{kind} {', '.join(each)}" for kind, each in kinds.items() if each]
        raise SchemaMismatch(
            f"The database {database.where} has the schema {HEAD_REVISION} without its {' and '.join(what)}. "
            f"Restore a backup, or set DATABASE_URL to {database.another}."
        )
    tables = [f"the table {name}" for name in sorted(set(derived.tables) - names)]
    made = {(name, form) for name, form in connection.execute(database.triggers)}
    lacking = forms(connection.dialect.name).items() - made
    return " and ".join(
        [*tables, *([f"{len(lacking)} of the present triggers by which processes see changes"] if lacking else [])]
    )


@cache
def _columns() -> frozenset[tuple[str, str]]:
    """The (table, column) of each column of the code's tables."""
    return frozenset((table.name, column.name) for table in metadata.sorted_tables for column in table.columns)


def create_tables(connection: Connection, tables: MetaData = metadata) -> None:
    """Make all tables in an empty database, and store the newest revision."""
    tables.create_all(connection, checkfirst=False)
    connection.execute(_VERSION_TABLE)
    connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD_REVISION})


def _revision(connection: Connection, database: Database) -> str:
    """The schema's revision; empty for a database without tables."""
    names = set(connection.execute(database.tables).scalars())
    if not names:
        return ""
    if "alembic_version" not in names:
        raise NotADatabase(f"{database.where} is another program's database. Set DATABASE_URL to {database.another}.")
    known = [str(each) for each in connection.execute(_REVISION).scalars() if each]
    if len(known) != 1 and names != {"alembic_version"}:
        raise SchemaMismatch(
            f"The database {database.where} does not say which schema it has: its table alembic_version has "
            f"{len(known)} entries instead of one. Restore a backup."
        )
    return known[0] if known else ""


def _require_known(revision: str, database: Database) -> None:
    from memory.migrations import known_revisions

    if not revision or revision in known_revisions():
        return
    if revision.startswith(MOVING):
        raise MoveUnfinished(
            f"A move into the database {database.where} broke off. Give the same `goodbot move` again, or set "
            "DATABASE_URL to another one.",
            revision,
        )
    if revision[:4] in _UNRELEASED:
        raise SchemaMismatch(
            f"The database {database.where} is from before the first release of Goodbot (schema {revision}) and cannot "
            f"be upgraded. Move the file away to begin with an empty one, or set DATABASE_URL to {database.another}."
        )
    raise SchemaMismatch(
        f"The database {database.where} was written by a newer Goodbot (schema {revision}); "
        f"upgrade Goodbot, or set DATABASE_URL to {database.another}."
    )

"""Whether a database file is ours and of this version, and what to do if not."""

from pathlib import Path

from sqlalchemy import Connection, Engine, text

from memory.adapters.sql.engine import begin
from memory.adapters.sql.faults import translated
from memory.adapters.sql.planner import advise_planner
from memory.errors import MoveUnfinished, NotADatabase, SchemaMismatch

HEAD_REVISION = "0001_tables"
"""The newest migration. Kept here so that an up-to-date database is opened without loading the migration library."""

MOVING = "moving_"
"""How the revision begins of a database into which another one is being moved; what follows names the other one."""

_UNRELEASED = frozenset(f"{number:04}" for number in range(1, 14))
"""How revisions from before the first release begin. Nothing leads from them to the tables of today."""

_TABLES = text("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
_REVISION = text("SELECT version_num FROM alembic_version")


def require_schema(engine: Engine, path: Path, *, migrate: bool, moving: str = "") -> None:
    """Bring the database to the newest schema, or say why not. One into which the move `moving` goes is fine, too.

    Raises `SchemaMismatch` (newer; or older and `migrate` is false) and `NotADatabase` (another program's database).
    """
    with translated(path), engine.connect() as connection, begin(connection, writes=False):
        revision = _revision(connection, path)
    if revision in (HEAD_REVISION, moving or HEAD_REVISION):
        return
    if not migrate:
        _require_known(revision, path)
        raise SchemaMismatch(f"The database {path} has an older schema ({revision or 'none'}). Run `goodbot migrate`.")
    _upgrade(engine, path)


def _upgrade(engine: Engine, path: Path) -> None:
    from memory.migrations import upgrade  # heavy, and rarely needed

    with translated(path), engine.connect() as connection:
        # Off while tables are rebuilt, and checked at the end. SQLite ignores this inside a transaction.
        _execute(connection, "PRAGMA foreign_keys=OFF")
        try:
            with begin(connection, writes=True):
                # Another process may have upgraded while this one waited for the lock.
                revision = _revision(connection, path)
                if revision != HEAD_REVISION:
                    _require_known(revision, path)
                    upgrade(connection)
                    _require_whole(connection, path)
                    advise_planner(connection)
        finally:
            _execute(connection, "PRAGMA foreign_keys=ON")


def _execute(connection: Connection, statement: str) -> None:
    """Run a statement outside any transaction."""
    driver = connection.connection.driver_connection
    if driver is not None:
        driver.execute(statement)


def _require_whole(connection: Connection, path: Path) -> None:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        raise NotADatabase(f"The database {path} is damaged: a row of {broken[0]} refers to nothing. Restore a backup.")


def _revision(connection: Connection, path: Path) -> str:
    """The schema's revision, empty for a database without tables."""
    names = set(connection.execute(_TABLES).scalars())
    if not names:
        return ""
    if "alembic_version" not in names:
        raise NotADatabase(f"{path} is another program's database. Set DATABASE_URL to another file.")
    known = [str(each) for each in connection.execute(_REVISION).scalars() if each]
    if len(known) != 1 and names != {"alembic_version"}:
        raise SchemaMismatch(
            f"The database {path} does not say which schema it has: its table alembic_version has {len(known)} entries "
            "instead of one. Restore a backup."
        )
    return known[0] if known else ""


def _require_known(revision: str, path: Path) -> None:
    from memory.migrations import known_revisions

    if not revision or revision in known_revisions():
        return
    if revision.startswith(MOVING):
        raise MoveUnfinished(
            f"A move into the database {path} broke off. Give the same `goodbot move` again, or set DATABASE_URL to "
            "another one.",
            revision,
        )
    if revision[:4] in _UNRELEASED:
        raise SchemaMismatch(
            f"The database {path} is from before the first release of Goodbot (schema {revision}) and cannot be "
            "upgraded. Move the file away to begin with an empty one, or set DATABASE_URL to another file."
        )
    raise SchemaMismatch(
        f"The database {path} was written by a newer Goodbot (schema {revision}); "
        "upgrade Goodbot, or set DATABASE_URL to another file."
    )

"""SQLite alone: each change of what lessons are weighed by marks its workspace, whoever makes it.

What a process keeps of it is good for as long as the mark is the same (`lesson_cache`). Triggers do it, so no statement
can forget to. A mark is a random number, and no count: none comes again after a rollback, or in a backup put back.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, Connection, MetaData, PrimaryKeyConstraint, Table, event, text

from memory.adapters.sql.columns import metadata, short

only_in_sqlite = MetaData(naming_convention=metadata.naming_convention)

# Nothing is lost with it, so it is neither moved nor compared.
lesson_versions = Table(
    "lesson_versions",
    only_in_sqlite,
    *short("workspace"),
    Column("mark", BigInteger, nullable=False),
    PrimaryKeyConstraint("workspace"),
    sqlite_with_rowid=False,
)

WEIGHED = {
    "episodes": "run_id parent_id author origin termination action goal output correction trajectory created_at "
    "graded_at archived_at",
    "votes": "node_id actor role value source is_limited standing at",
    "trust_records": "right wrong",
    "links": "from_id to_id kind",
    "thresholds": "budget value reliability",
    "settings": "channel name value changed_by at",
    "rules": "id",
}
"""The tables from which lessons are weighed, with the columns that are read, as far as they may change."""
_MARK = (
    "INSERT INTO lesson_versions SELECT ROW.workspace, 0 "
    "WHERE NOT EXISTS (SELECT 1 FROM lesson_versions WHERE workspace = ROW.workspace); "
    "UPDATE lesson_versions SET mark = random() WHERE workspace = ROW.workspace;"
)


def triggers() -> dict[str, str]:
    """The statements that make them, by name."""
    found: dict[str, str] = {}
    for table, names in WEIGHED.items():
        changes = " OR ".join(f"OLD.{name} IS NOT NEW.{name}" for name in names.split())
        given = {"INSERT": "1", "DELETE": "1", f"UPDATE OF {', '.join(names.split())}": changes}
        for change, condition in given.items():
            kind = change.split()[0]
            if (table, kind) == ("episodes", "INSERT"):
                continue  # a new one is not known to anybody
            name = f"mark_{table}_{kind.lower()}"
            mark = _MARK.replace("ROW", "OLD" if kind == "DELETE" else "NEW")
            found[name] = f"CREATE TRIGGER {name} AFTER {change} ON {table} WHEN {condition} BEGIN {mark} END"
    return found


@event.listens_for(metadata, "after_create")
def _create(_target: MetaData, connection: Connection, **_: Any) -> None:  # noqa: ANN401 - what SQLAlchemy gives
    """With all other tables."""
    if connection.dialect.name == "sqlite":
        only_in_sqlite.create_all(connection)
        for statement in triggers().values():
            connection.execute(text(statement))

"""SQLite alone: each change of what lessons are weighed by marks its workspace, whoever makes it.

What a process keeps of it is good for as long as the mark is the same (`LessonCache`). Triggers do it, so no statement
can forget to. A mark is a random number, and no count: none comes again after a rollback, or in a backup put back.

Its upper bits change only where something is erased, a row or the words of a lesson (`erasures`): up to then, what was
made of lessons is kept, to be used again if they are read as they were.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, Connection, MetaData, PrimaryKeyConstraint, Table, event, text

from memory.adapters.sql.tables.columns import metadata, short

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
    "thresholds": "budget value confusion reliability",
    "settings": "channel name value changed_by at",
    "rules": "id",
}
"""The tables from which lessons are weighed, with the columns that are read, as far as they may change."""
_WORDS = frozenset({"goal", "output", "correction", "trajectory"})
"""Columns of what people or agents wrote."""
_MARK = (
    "INSERT INTO lesson_versions SELECT ROW.workspace, 0 "
    "WHERE NOT EXISTS (SELECT 1 FROM lesson_versions WHERE workspace = ROW.workspace); "
    "UPDATE lesson_versions SET mark = CHANGED WHERE workspace = ROW.workspace;"
)
_LOWER = 40
"""Bits that change each time."""
_ANY = "random()"
_WITHOUT_ERASURE = f"(mark >> {_LOWER} << {_LOWER}) | (random() & {2**_LOWER - 1})"


def erasures(mark: int) -> int:
    """The part of a mark that stays as long as nothing is erased."""
    return mark >> _LOWER


def triggers() -> dict[str, str]:
    """The statements that make them, by name."""
    found: dict[str, str] = {}
    for table, names in WEIGHED.items():
        changes = " OR ".join(map(_differs, names.split()))
        words = " OR ".join(map(_differs, sorted(_WORDS.intersection(names.split()))))
        given = {"INSERT": "1", "DELETE": "1", f"UPDATE OF {', '.join(names.split())}": changes}
        for change, condition in given.items():
            kind = change.split()[0]
            if (table, kind) == ("episodes", "INSERT"):
                continue  # a new one is not known to anybody
            name = f"mark_{table}_{kind.lower()}"
            kept = f"CASE WHEN {words} THEN {_ANY} ELSE {_WITHOUT_ERASURE} END" if words else _WITHOUT_ERASURE
            changed = {"DELETE": _ANY, "INSERT": _WITHOUT_ERASURE}.get(kind, kept)
            mark = _MARK.replace("ROW", "OLD" if kind == "DELETE" else "NEW").replace("CHANGED", changed)
            found[name] = f"CREATE TRIGGER {name} AFTER {change} ON {table} WHEN {condition} BEGIN {mark} END"
    return found


def _differs(name: str) -> str:
    return f"OLD.{name} IS NOT NEW.{name}"


@event.listens_for(metadata, "after_create")
def _create(_target: MetaData, connection: Connection, **_: Any) -> None:  # noqa: ANN401 - what SQLAlchemy gives
    """With all other tables."""
    if connection.dialect.name == "sqlite":
        only_in_sqlite.create_all(connection)
        for statement in triggers().values():
            connection.execute(text(statement))

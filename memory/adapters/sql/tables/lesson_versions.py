"""A mark of each workspace, which changes with everything that lessons are weighed by, whoever changes it.

What a process keeps of it is good for as long as the mark is the same (`LessonCache`). Triggers change it, so no
statement can forget to. A mark is a random number, and no count:
none comes again after a rollback, or in a backup put back.

Its upper bits change only where something is erased, a row or the words of a lesson (`erasures`): up to then, what was
made of lessons is kept, to be used again if they are read as they were.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, Connection, MetaData, PrimaryKeyConstraint, Table, event

from memory.adapters.sql.tables.columns import metadata, short

derived = MetaData(naming_convention=metadata.naming_convention)
"""Tables that are made of the others: they are neither moved nor compared, as nothing is lost with them."""

lesson_versions = Table(
    "lesson_versions",
    derived,
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
_LOWER_BITS = 40
"""Those of a mark that change each time."""
_WORDS = frozenset({"goal", "output", "correction", "trajectory"})
"""Columns of what people or agents wrote."""
_CHANGES = ("INSERT", "UPDATE", "DELETE")

_SQLITE_MARK = (
    "INSERT INTO lesson_versions SELECT ROW.workspace, 0 "
    "WHERE NOT EXISTS (SELECT 1 FROM lesson_versions WHERE workspace = ROW.workspace); "
    "UPDATE lesson_versions SET mark = CHANGED WHERE workspace = ROW.workspace;"
)
_SQLITE_ERASED = "random()"
_SQLITE_CHANGED = f"(mark >> {_LOWER_BITS} << {_LOWER_BITS}) | (random() & {2**_LOWER_BITS - 1})"

# A row that is written many times in one transaction grows slower each time, so one mark of each kind has to do for
# it; a setting that lasts as long as the transaction, or up to the savepoint it goes back to, says which was made.
_POSTGRES_FUNCTION = f"""
CREATE OR REPLACE FUNCTION mark_lessons() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    here text;
    made text := 'goodbot.' || TG_ARGV[0];
BEGIN
    IF TG_OP = 'DELETE' THEN here := OLD.workspace; ELSE here := NEW.workspace; END IF;
    IF current_setting(made, true) IS DISTINCT FROM here THEN
        INSERT INTO lesson_versions VALUES (here, 0) ON CONFLICT DO NOTHING;
        UPDATE lesson_versions SET mark = CASE TG_ARGV[0]
            WHEN 'erased' THEN (random() * {2**62})::bigint
            ELSE (mark >> {_LOWER_BITS} << {_LOWER_BITS}) | (random() * {2**_LOWER_BITS - 1})::bigint
        END WHERE workspace = here;
        PERFORM set_config(made, here, true);
    END IF;
    RETURN NULL;
END $$
"""  # noqa: S608 - numbers of our own


def erasures(mark: int) -> int:
    """The part of a mark that stays as long as nothing is erased."""
    return mark >> _LOWER_BITS


def create_triggers(connection: Connection) -> None:
    """Make them; all tables are there."""
    is_sqlite = connection.dialect.name == "sqlite"
    for statement in sqlite_triggers() if is_sqlite else [_POSTGRES_FUNCTION, *postgres_triggers()]:
        connection.exec_driver_sql(statement)


def sqlite_triggers() -> list[str]:
    """One for each kind of change of each table."""
    found: list[str] = []
    for table, names, change in _watched():
        columns, words = _differing(names, "IS NOT")
        kept = f"CASE WHEN {words} THEN {_SQLITE_ERASED} ELSE {_SQLITE_CHANGED} END" if words else _SQLITE_CHANGED
        changed = {"DELETE": _SQLITE_ERASED, "INSERT": _SQLITE_CHANGED}.get(change, kept)
        mark = _SQLITE_MARK.replace("ROW", "OLD" if change == "DELETE" else "NEW").replace("CHANGED", changed)
        condition = f"WHEN {columns} " if change == "UPDATE" else ""
        found.append(
            f"CREATE TRIGGER {_name(table, change)} AFTER {_of(change, names)} ON {table} {condition}BEGIN {mark} END"
        )
    return found


def postgres_triggers() -> list[str]:
    """The same, and one more for changes of words, which erase what they were."""
    found: list[str] = []
    for table, names, change in _watched():
        columns, words = _differing(names, "IS DISTINCT FROM")
        kinds = {"erased": "" if change == "DELETE" else words, "changed": "" if change == "INSERT" else columns}
        made = {"INSERT": ["changed"], "DELETE": ["erased"], "UPDATE": ["changed", "erased"] if words else ["changed"]}
        for kind in made[change]:
            name = _name(table, change) + ("_words" if (kind, change) == ("erased", "UPDATE") else "")
            condition = f"WHEN ({kinds[kind]}) " if kinds[kind] else ""
            found.append(
                f"CREATE TRIGGER {name} AFTER {_of(change, names)} ON {table} FOR EACH ROW {condition}"
                f"EXECUTE FUNCTION mark_lessons('{kind}')"
            )
    return found


def _watched() -> list[tuple[str, list[str], str]]:
    """Each table, the columns that may change, and a kind of change. A new episode is not known to anybody."""
    watched = [(table, names.split(), change) for table, names in WEIGHED.items() for change in _CHANGES]
    return [each for each in watched if (each[0], each[2]) != ("episodes", "INSERT")]


def _name(table: str, change: str) -> str:
    return f"mark_{table}_{change.lower()}"


def _of(change: str, names: list[str]) -> str:
    return "UPDATE OF " + ", ".join(f'"{name}"' for name in names) if change == "UPDATE" else change


def _differing(names: list[str], differs: str) -> tuple[str, str]:
    """That a row differs in one of these columns, and that it does in words; empty where there are none."""
    differ = {name: f'OLD."{name}" {differs} NEW."{name}"' for name in names}
    return " OR ".join(differ.values()), " OR ".join(differ[name] for name in names if name in _WORDS)


@event.listens_for(metadata, "after_create")
def _create(_target: MetaData, connection: Connection, **_: Any) -> None:  # noqa: ANN401 - what SQLAlchemy gives
    """With all other tables."""
    derived.create_all(connection)
    create_triggers(connection)

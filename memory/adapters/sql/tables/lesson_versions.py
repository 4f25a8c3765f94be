"""The table of marks: one number per workspace, which changes with all data that lessons are weighed by.

A process's cached lessons are valid as long as the mark is the same (`LessonCache`). Triggers change it, so no
statement can forget to. A mark is a random number, not a count, so that it does not repeat after a rollback or the
restore of a backup.

Its upper bits change only if a row or the text of a lesson is erased (`erasures`); otherwise, cached lessons are reused
if their rows are unchanged.
"""

from functools import cache
from hashlib import sha256
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, MetaData, PrimaryKeyConstraint, Table, delete, event

from memory.adapters.sql.tables.columns import metadata, short_texts

derived = MetaData(naming_convention=metadata.naming_convention)
"""Tables that are derived from others, so they are neither moved nor compared."""

lesson_versions = Table(
    "lesson_versions",
    derived,
    *short_texts("workspace"),
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
"""The tables and columns that lessons are weighed by, as far as columns may change."""
_LOWER_BITS = 40
"""The number of a mark's lower bits, which change each time."""
_WORDS = frozenset({"goal", "output", "correction", "trajectory"})
"""Columns with texts of people or agents."""
_CHANGES = ("INSERT", "UPDATE", "DELETE")

_SQLITE_MARK = (
    "INSERT INTO lesson_versions SELECT ROW.workspace, 0 "
    "WHERE NOT EXISTS (SELECT 1 FROM lesson_versions WHERE workspace = ROW.workspace); "
    "UPDATE lesson_versions SET mark = CHANGED WHERE workspace = ROW.workspace;"
)
_SQLITE_ERASED = "random()"
_SQLITE_CHANGED = f"(mark >> {_LOWER_BITS} << {_LOWER_BITS}) | (random() & {2**_LOWER_BITS - 1})"

# Updating one row many times in one transaction gets slower each time, so each kind of change updates the mark once. A
# transaction-local setting, which a rollback to a savepoint undoes, stores that it did.
_POSTGRES_FUNCTION = f"""
CREATE OR REPLACE FUNCTION mark_lessons() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    here text;
    made text := 'goodbot.' || TG_ARGV[0];
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE lesson_versions SET mark = (random() * {2**62})::bigint;
        RETURN NULL;
    END IF;
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

_MARK_ALL = "FOR EACH STATEMENT EXECUTE FUNCTION mark_lessons('erased')"


def erasures(mark: int) -> int:
    """The upper bits of a mark, which change only if something is erased."""
    return mark >> _LOWER_BITS


def create_triggers(connection: Connection) -> None:
    """Create the triggers; all tables must exist."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(_POSTGRES_FUNCTION)
    for statement in triggers(connection.dialect.name).values():
        connection.exec_driver_sql(statement)
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(f"COMMENT ON FUNCTION mark_lessons() IS '{_postgres_form()}'")


def recreate_triggers(connection: Connection) -> None:
    """Create the table if it is missing and all triggers, and drop all marks, as changes may have been missed."""
    derived.create_all(connection)
    for name, statement in triggers(connection.dialect.name).items():
        table = statement.partition(" ON ")[2].split()[0]
        on_table = "" if connection.dialect.name == "sqlite" else f" ON {table}"
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}{on_table}")
    create_triggers(connection)
    connection.execute(delete(lesson_versions))


@cache
def triggers(dialect: str) -> dict[str, str]:
    """The SQL of each trigger, by name."""
    statements = sqlite_triggers() if dialect == "sqlite" else postgres_triggers()
    return {statement.split()[2]: statement for statement in statements}


@cache
def forms(dialect: str) -> dict[str, str]:
    """The form of each trigger, by name, in which another version's trigger differs.

    SQLite stores their SQL as it was given. PostgreSQL does not, so a comment on their function has a digest of it all.
    """
    return triggers(dialect) if dialect == "sqlite" else dict.fromkeys(triggers(dialect), _postgres_form())


@cache
def _postgres_form() -> str:
    return sha256("\n".join([_POSTGRES_FUNCTION, *postgres_triggers()]).encode()).hexdigest()


def sqlite_triggers() -> list[str]:
    """The SQL of SQLite's triggers: one for each kind of change of each table."""
    found: list[str] = []
    for table, names, change in _triggers():
        columns, words = _change_conditions(names, "IS NOT")
        kept = f"CASE WHEN {words} THEN {_SQLITE_ERASED} ELSE {_SQLITE_CHANGED} END" if words else _SQLITE_CHANGED
        changed = {"DELETE": _SQLITE_ERASED, "INSERT": _SQLITE_CHANGED}.get(change, kept)
        mark = _SQLITE_MARK.replace("ROW", "OLD" if change == "DELETE" else "NEW").replace("CHANGED", changed)
        condition = f"WHEN {columns} " if change == "UPDATE" else ""
        found.append(
            f"CREATE TRIGGER {_name(table, change)} AFTER {_of(change, names)} ON {table} {condition}BEGIN {mark} END"
        )
    return found


def postgres_triggers() -> list[str]:
    """The SQL of PostgreSQL's triggers: as SQLite's, one more for updates of texts, and one for TRUNCATE."""
    found: list[str] = []
    for table, names, change in _triggers():
        columns, words = _change_conditions(names, "IS DISTINCT FROM")
        kinds = {"erased": "" if change == "DELETE" else words, "changed": "" if change == "INSERT" else columns}
        made = {"INSERT": ["changed"], "DELETE": ["erased"], "UPDATE": ["changed", "erased"] if words else ["changed"]}
        for kind in made[change]:
            name = _name(table, change) + ("_words" if (kind, change) == ("erased", "UPDATE") else "")
            condition = f"WHEN ({kinds[kind]}) " if kinds[kind] else ""
            found.append(
                f"CREATE TRIGGER {name} AFTER {_of(change, names)} ON {table} FOR EACH ROW {condition}"
                f"EXECUTE FUNCTION mark_lessons('{kind}')"
            )
    found += [f"CREATE TRIGGER {_name(table, 'truncate')} AFTER TRUNCATE ON {table} {_MARK_ALL}" for table in WEIGHED]
    return found


def _triggers() -> list[tuple[str, list[str], str]]:
    """(table, columns, kind of change) of each trigger. Inserts of episodes have none, as nothing caches them yet."""
    watched = [(table, names.split(), change) for table, names in WEIGHED.items() for change in _CHANGES]
    return [each for each in watched if (each[0], each[2]) != ("episodes", "INSERT")]


def _name(table: str, change: str) -> str:
    return f"mark_{table}_{change.lower()}"


def _of(change: str, names: list[str]) -> str:
    return "UPDATE OF " + ", ".join(f'"{name}"' for name in names) if change == "UPDATE" else change


def _change_conditions(names: list[str], differs: str) -> tuple[str, str]:
    """The conditions that a row differs in one of the columns, and in one with text; the second may be empty."""
    differ = {name: f'OLD."{name}" {differs} NEW."{name}"' for name in names}
    return " OR ".join(differ.values()), " OR ".join(differ[name] for name in names if name in _WORDS)


@event.listens_for(metadata, "after_create")
def _create(_target: MetaData, connection: Connection, **_: Any) -> None:  # noqa: ANN401 - what SQLAlchemy gives
    """Create the derived tables and triggers after all other tables."""
    derived.create_all(connection)
    create_triggers(connection)

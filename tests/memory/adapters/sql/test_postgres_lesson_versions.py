"""On PostgreSQL, too, whatever changes what lessons are weighed by changes the mark of their workspace."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from memory.adapters.sql import SqlStore
from memory.adapters.sql.engines.partitioning import partition_tables
from memory.adapters.sql.tables.lesson_versions import WEIGHED, erasures
from memory.errors import SchemaMismatch
from tests.doubles.pages import counted_statements
from tests.doubles.postgres import new_database, open_postgres
from tests.memory.adapters.sql.test_lessons import read
from tests.memory.adapters.store_samples import fill

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]
WORDS = {"goal", "output", "correction", "trajectory"}


@pytest.fixture(scope="module", params=[0, 4], ids=["whole", "in_parts"])
def url(request: pytest.FixtureRequest) -> str:
    """A database, its tables whole or in parts, in which no row needs another one."""
    url = new_database()
    if request.param:
        partition_tables(url, request.param)
    with closing(SqlStore.open(url)) as store, store.write() as tx:
        fill(tx, "w")
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            "SELECT conrelid::regclass, conname FROM pg_constraint WHERE contype = 'f' AND conparentid = 0"
        ).fetchall()
        for table, name in found:
            connection.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"'.encode())
        connection.execute(b"INSERT INTO rules VALUES ('w', 'r1', 'workspace', 'success', '[]')")
    return url


@pytest.mark.parametrize("parts", [0, 4])
def test_what_an_older_database_lacks_is_told_and_made_anew(parts: int) -> None:
    url = new_database()
    if parts:
        partition_tables(url, parts)
    with closing(SqlStore.open(url)) as store, store.write() as tx:
        fill(tx, "w")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(b"DROP FUNCTION mark_lessons CASCADE; DROP TABLE lesson_versions")
    with pytest.raises(
        SchemaMismatch, match=r"lacks the table lesson_versions and \d+ of the present triggers.* `goodbot migrate`"
    ):
        SqlStore.open(url, migrate=False)
    SqlStore.open(url).close()
    with closing(SqlStore.open(url, migrate=False)) as store, store.read() as tx:
        assert read(tx, "e1").lessons.keys() == {"e1"}
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(b"ALTER TABLE votes DISABLE TRIGGER mark_votes_update")
    with pytest.raises(SchemaMismatch, match=r"lacks 1 of the present triggers"):
        SqlStore.open(url, migrate=False)
    SqlStore.open(url).close()
    assert change(url, "UPDATE votes SET value = -value")


def test_triggers_of_another_version_are_made_anew() -> None:
    url = new_database()
    with closing(SqlStore.open(url)) as store, store.write() as tx:
        fill(tx, "w")
    before = change(url, "UPDATE votes SET value = -value")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            b"CREATE OR REPLACE FUNCTION mark_lessons() RETURNS trigger LANGUAGE plpgsql AS "
            b"'BEGIN RETURN NULL; END'; COMMENT ON FUNCTION mark_lessons() IS 'of an older version'"
        )
    assert change(url, "UPDATE votes SET value = -value") == before
    with pytest.raises(SchemaMismatch, match=r"of the present triggers.* `goodbot migrate`"):
        SqlStore.open(url, migrate=False)
    SqlStore.open(url).close()
    SqlStore.open(url, migrate=False).close()
    assert change(url, "UPDATE votes SET value = -value") != before


@pytest.mark.parametrize("migrate", [True, False])
def test_columns_that_are_missing_are_named(migrate: bool) -> None:
    url = new_database()
    SqlStore.open(url).close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(b"ALTER TABLE incoming DROP COLUMN place; ALTER TABLE episodes DROP COLUMN why")
    with pytest.raises(SchemaMismatch, match=r"without its columns episodes\.why, incoming\.place\. Restore a backup"):
        SqlStore.open(url, migrate=migrate)


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    """Its transactions end with the test, and change nothing."""
    with psycopg.connect(url, autocommit=True) as connection, connection.transaction(force_rollback=True):
        yield connection


def mark(connection: Connection) -> int:
    found = connection.execute("SELECT mark FROM lesson_versions WHERE workspace = 'w'").fetchone()
    assert found is not None
    return int(found[0])


def change(url: str, statement: str) -> int:
    """The mark after another program changed some rows."""
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute(statement.encode()).rowcount > 0
        return mark(connection)


def other(url: str, table: str, column: str) -> str:
    """Another value for a column, in words of SQL."""
    query = "SELECT data_type FROM information_schema.columns WHERE table_name = %s AND column_name = %s"
    with psycopg.connect(url) as connection:
        found = connection.execute(query, (table, column)).fetchone()
    assert found is not None
    if found[0] == "boolean":
        return f'NOT "{column}"'
    is_text = found[0] in ("text", "character varying")
    return f"\"{column}\" || 'x'" if is_text else f'coalesce("{column}", 0) + 1'


@pytest.mark.parametrize(("table", "column"), [(t, name) for t, names in WEIGHED.items() for name in names.split()])
def test_whoever_changes_what_is_weighed_marks_the_workspace(url: str, table: str, column: str) -> None:
    before = change(url, f'UPDATE {table} SET "{column}" = "{column}"')
    assert change(url, f'UPDATE {table} SET "{column}" = "{column}"') == before
    after = change(url, f'UPDATE {table} SET "{column}" = {other(url, table, column)}')
    assert after != before
    assert (erasures(after) == erasures(before)) is not (column in WORDS)


@pytest.mark.parametrize("table", WEIGHED)
def test_whoever_adds_or_deletes_marks_it(connection: Connection, url: str, table: str) -> None:
    before = mark(connection)
    connection.execute(f"CREATE TEMPORARY TABLE kept AS SELECT * FROM {table}".encode())
    with connection.transaction(force_rollback=True):
        assert connection.execute(f"DELETE FROM {table}".encode()).rowcount > 0
        assert erasures(mark(connection)) != erasures(before)
    connection.execute("SET LOCAL session_replication_role = replica")  # without triggers
    connection.execute(f"DELETE FROM {table}".encode())
    connection.execute("SET LOCAL session_replication_role = DEFAULT")
    assert mark(connection) == before
    assert connection.execute(f"INSERT INTO {table} SELECT * FROM kept".encode()).rowcount > 0
    assert (mark(connection) == before) is (table == "episodes")  # a new one is known to nobody


@pytest.mark.parametrize("table", WEIGHED)
def test_whoever_empties_a_table_marks_it(connection: Connection, table: str) -> None:
    before = mark(connection)
    connection.execute(f"TRUNCATE {table}".encode())
    assert erasures(mark(connection)) != erasures(before)


def test_a_transaction_makes_one_mark_of_each_kind(connection: Connection) -> None:
    with connection.transaction():
        connection.execute("UPDATE votes SET at = at + 1")
        changed = mark(connection)
        connection.execute("UPDATE votes SET at = at + 1")
        assert mark(connection) == changed
        connection.execute("DELETE FROM votes")
        erased = mark(connection)
        connection.execute("DELETE FROM episodes")
        assert mark(connection) == erased
    assert erasures(erased) != erasures(changed)


def test_a_program_that_looks_for_no_tables_in_the_schema_marks_it_too(connection: Connection) -> None:
    before = mark(connection)
    schema = connection.execute("SELECT current_schema()").fetchone()
    assert schema is not None
    connection.execute("SET LOCAL search_path = ''")  # as restoring a backup does
    connection.execute(f"UPDATE {schema[0]}.votes SET at = at + 1".encode())
    connection.execute(f"SET LOCAL search_path = {schema[0]}".encode())
    assert mark(connection) != before


def test_what_a_transaction_takes_back_does_not_count_as_marked(connection: Connection) -> None:
    before = mark(connection)
    with connection.transaction(force_rollback=True):
        connection.execute("UPDATE votes SET at = at + 1")
        assert mark(connection) != before
    assert mark(connection) == before
    connection.execute("UPDATE votes SET at = at + 1")
    assert mark(connection) != before


def test_what_was_read_is_not_read_again() -> None:
    with closing(open_postgres()) as store:
        with store.write() as tx:
            fill(tx, "w")
        with store.read() as tx:
            first = read(tx, "e1", "e2")
        with counted_statements(store) as statements, store.read() as tx:
            assert read(tx, "e2", "e1") == first
        assert len([each for each in statements if each.startswith("SELECT")]) == 1  # the search


def test_a_transaction_that_sees_what_others_commit_meanwhile_keeps_nothing() -> None:
    with closing(open_postgres()) as store:
        with store.write() as tx:
            fill(tx, "w")
        with store.write() as tx:
            read(tx, "e1")
        assert not store._recall.lessons._known

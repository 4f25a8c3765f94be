"""A new database gets exactly the tables the store uses, once, whoever opens the file first; an older one the steps."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text

from memory.adapters.sql import SqlStore
from memory.adapters.sql.engines.schema import HEAD_REVISION, create_tables
from memory.adapters.sql.engines.sqlite_engine import open_engine
from memory.adapters.sql.tables.columns import metadata
from memory.adapters.sql.tables.lesson_versions import derived
from memory.errors import SchemaMismatch
from memory.migrations import known_revisions, upgrade
from tests.doubles.process import python
from tests.doubles.tables_once import make_tables_anew, make_tables_once
from tests.memory.adapters.store_samples import dump, fill


@pytest.fixture(autouse=True)
def _made_anew() -> Iterator[None]:
    """No new file begins as a copy of another."""
    make_tables_anew()
    yield
    make_tables_once()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "goodbot.db"


def migrated(path: Path) -> None:
    SqlStore.open(f"sqlite:///{path}").close()


def schema(path: Path) -> dict[str, str]:
    """The statements that made every table and index, white space folded."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {name: " ".join(sql.split()) for name, sql in rows if name not in ("alembic_version", "sqlite_stat1")}


def test_there_is_one_head_and_the_code_knows_it() -> None:
    config = Config()
    config.set_main_option("script_location", "memory:migrations")
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD_REVISION]
    assert known_revisions()[0] == HEAD_REVISION


def test_a_new_database_has_the_tables_of_the_code(path: Path) -> None:
    migrated(path)
    engine = open_engine(path)
    with engine.connect() as connection:
        opts = {"compare_type": True, "include_name": lambda name, *_: name not in derived.tables}
        assert compare_metadata(MigrationContext.configure(connection, opts=opts), metadata) == []
    engine.dispose()
    direct = path.with_name("direct.db")
    engine = create_engine(f"sqlite:///{direct}")
    metadata.create_all(engine)
    engine.dispose()
    assert schema(path) == schema(direct)


def test_every_new_database_has_its_indexes_in_the_same_order(path: Path) -> None:
    """SQLite takes the newer one of two that serve alike, and should take the one of some rows."""
    migrated(path)
    with closing(sqlite3.connect(path)) as connection:
        made = connection.execute(
            "SELECT tbl_name, sql LIKE '% WHERE %', name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL "
            "ORDER BY rowid"
        ).fetchall()
    for table in {table for table, *_ in made}:
        of_table = [each for each in made if each[0] == table]
        assert of_table == sorted(of_table)


def test_every_table_is_keyed_by_workspace_first() -> None:
    of_the_whole_database = {"leases", "job_runs"}
    assert {
        table.name for table in metadata.sorted_tables if next(iter(table.primary_key)).name != "workspace"
    } == of_the_whole_database


def test_every_index_but_the_sweeps_begins_with_the_workspace() -> None:
    others = {
        index.name
        for table in metadata.sorted_tables
        for index in table.indexes
        if index.columns.keys()[0] != "workspace"
    }
    jobs_for_all_workspaces_at_once = {
        "ix_ledger_expires_at",
        "ix_short_memories_expires_at",
        "ix_incoming_progress_workspace_at",
        "ix_outgoing_unsent",
    }
    assert others == jobs_for_all_workspaces_at_once


def test_opening_again_changes_nothing(path: Path) -> None:
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        with store.write() as tx:
            fill(tx, "w")
        before = dump(store, "w")
    content = path.read_bytes()
    migrated(path)
    assert path.read_bytes() == content
    with closing(SqlStore.open(f"sqlite:///{path}", migrate=False)) as store:
        assert dump(store, "w") == before


@pytest.mark.parametrize("migrate", [True, False])
def test_a_newer_schema_is_refused_and_left_alone(path: Path, migrate: bool) -> None:
    migrated(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    content = path.read_bytes()
    with pytest.raises(SchemaMismatch, match=r"newer Goodbot \(schema 9999\); upgrade"):
        SqlStore.open(f"sqlite:///{path}", migrate=migrate)
    assert path.read_bytes() == content


@pytest.mark.parametrize("migrate", [True, False])
@pytest.mark.parametrize("revision", ["0001", "0005", "0011", "0001_initial", "0013_settings"])
def test_a_schema_from_before_the_first_release_is_refused_and_left_alone(
    path: Path, revision: str, migrate: bool
) -> None:
    migrated(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [revision])
    content = path.read_bytes()
    with pytest.raises(SchemaMismatch, match=rf"before the first release .*\(schema {revision}\).* Move the file away"):
        SqlStore.open(f"sqlite:///{path}", migrate=migrate)
    assert path.read_bytes() == content


def test_an_older_schema_is_not_upgraded_unasked(path: Path) -> None:
    path.touch()
    with pytest.raises(SchemaMismatch, match="goodbot migrate"):
        SqlStore.open(f"sqlite:///{path}", migrate=False)
    migrated(path)
    assert "episodes" in schema(path)


def test_a_database_of_an_earlier_release_gets_the_steps(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrated(path)
    monkeypatch.setattr("memory.adapters.sql.engines.schema.HEAD_REVISION", "0002_next")
    monkeypatch.setattr("memory.migrations.known_revisions", lambda: ["0002_next", "0001_tables"])
    with pytest.raises(SchemaMismatch, match=r"an older schema \(0001_tables\). Run `goodbot migrate`"):
        SqlStore.open(f"sqlite:///{path}", migrate=False)

    def step(connection: Connection) -> None:
        upgrade(connection)  # alembic runs on the same connection
        connection.execute(text("CREATE TABLE next (id INTEGER PRIMARY KEY)"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0002_next'"))

    monkeypatch.setattr("memory.migrations.upgrade", step)
    migrated(path)
    assert "next" in schema(path)


LACKING = [
    ("DROP TABLE lesson_versions", r"the table lesson_versions"),
    ("DROP TRIGGER mark_votes_delete", r"1 of the present triggers by which processes see changes"),
    (
        "DROP TRIGGER mark_votes_delete; CREATE TRIGGER mark_votes_delete AFTER DELETE ON votes BEGIN SELECT 1; END",
        r"1 of the present triggers by which processes see changes",
    ),
]


@pytest.mark.parametrize(("statement", "told"), LACKING)
def test_what_is_derived_and_missing_is_told_and_made_anew(
    path: Path, statement: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    migrated(path)
    complete = schema(path)
    with closing(SqlStore.open(f"sqlite:///{path}")) as store, store.write() as tx:
        fill(tx, "w")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(statement)
    with pytest.raises(SchemaMismatch, match=rf"lacks {told}.* Run `goodbot migrate`"):
        SqlStore.open(f"sqlite:///{path}", migrate=False)
    migrated(path)
    assert re.search(rf"lacked {told}, which are made anew", caplog.text)
    assert schema(path) == complete
    with closing(SqlStore.open(f"sqlite:///{path}", migrate=False)) as store:
        assert store.schema() == HEAD_REVISION
    with closing(sqlite3.connect(path)) as connection:  # whatever changed meanwhile, nothing is taken as unchanged
        assert connection.execute("SELECT count(*) FROM lesson_versions").fetchall() == [(0,)]


@pytest.mark.parametrize("migrate", [True, False])
@pytest.mark.parametrize(
    ("change", "lacked"),
    [
        ("DROP TABLE votes", r"tables votes"),
        (
            "ALTER TABLE incoming DROP COLUMN place; ALTER TABLE episodes DROP COLUMN why",
            r"columns episodes\.why, incoming\.place",
        ),
    ],
)
def test_tables_and_columns_that_are_missing_are_named(path: Path, change: str, lacked: str, migrate: bool) -> None:
    migrated(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(change)
    with pytest.raises(SchemaMismatch, match=rf"without its {lacked}\. Restore a backup"):
        SqlStore.open(f"sqlite:///{path}", migrate=migrate)


def test_tables_that_fail_to_be_made_leave_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(connection: Connection) -> None:
        create_tables(connection)
        raise ZeroDivisionError

    monkeypatch.setattr("memory.adapters.sql.engines.schema.create_tables", broken)
    with pytest.raises(ZeroDivisionError):
        migrated(path)
    assert schema(path) == {}
    monkeypatch.undo()
    migrated(path)
    assert "episodes" in schema(path)


def test_processes_that_open_a_fresh_file_at_once_all_succeed(path: Path) -> None:
    script = """
import sys
from memory.adapters.sql import SqlStore
from tests.doubles.tables_once import make_tables_anew
from tests.memory.adapters.store_samples import NOW
make_tables_anew()
print("ready", flush=True)
sys.stdin.readline()
store = SqlStore.open(sys.argv[1])
with store.write() as tx:
    assert tx.log.claim("w", sys.argv[2], NOW)
store.close()
"""
    processes = [python(script, f"sqlite:///{path}", str(number)) for number in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
    for process in processes:
        assert process.communicate(b"", 60)[1] == b""
        assert process.returncode == 0
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM processed_events").fetchone() == (4,)


def test_the_steps_are_found_as_part_of_the_package() -> None:
    folder = files("memory.migrations")
    assert folder.joinpath("env.py").is_file()
    assert folder.joinpath("versions", f"{HEAD_REVISION}.py").is_file()

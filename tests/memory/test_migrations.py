"""The migrations make exactly the tables the store uses, once, whoever opens the file first."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine

from memory.adapters.sql import SqlStore
from memory.adapters.sql.columns import metadata
from memory.adapters.sql.engine import open_engine
from memory.adapters.sql.schema import HEAD_REVISION
from memory.errors import SchemaMismatch
from memory.migrations import known_revisions, upgrade
from memory.model import Audience, Event, EventKind, Visibility
from memory.rules.audience import partition_of
from tests import CHECKOUT
from tests.doubles.memory_world import scope
from tests.memory.adapters.store_samples import NOW, dump, episode, fill, session_run


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


def test_the_migrations_make_the_tables_of_the_code(path: Path) -> None:
    migrated(path)
    engine = open_engine(path)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata) == []
    engine.dispose()
    direct = path.with_name("direct.db")
    engine = create_engine(f"sqlite:///{direct}")
    metadata.create_all(engine)
    engine.dispose()
    assert schema(path) == schema(direct)


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
    }
    assert others == jobs_for_all_workspaces_at_once


def test_messages_of_an_older_schema_are_kept_without_blame(path: Path) -> None:
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        with store.write() as tx:
            fill(tx, "w")
        before = dump(store, "w")
    config = Config()
    config.set_main_option("script_location", "memory:migrations")
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0005")
        assert "crashes" not in {row[1] for row in connection.exec_driver_sql("PRAGMA table_info(incoming)")}
    engine.dispose()
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        after = dump(store, "w")
    messages = ("incoming", "incoming of run", "unfinished")
    assert [after[each] for each in messages] == [before[each] for each in messages]


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


def test_runs_of_an_older_schema_get_their_place_and_findings_lose_their_question(path: Path) -> None:
    """The place is that of the first steps; of a run without any, nobody but its person is told."""
    runs = {"public": "public", "private": "private", "shared": "shared", "direct": "direct", "noted": ""}
    with closing(SqlStore.open(f"sqlite:///{path}")) as store, store.write() as tx:
        for name, visibility in runs.items():
            root = f"root-{name}" if visibility else ""
            if visibility:
                tx.episodes.put(episode(root, visibility=Visibility(visibility), channel="c/1"))
            tx.steps.put_run(session_run(name, root_id=root))
        detail = {"ratio": 0.5, "context": "where is zyzzyva?"}
        tx.log.append(
            Event(workspace="w", episode_id="e", kind=EventKind.USED, actor="detector", at=NOW, detail=detail)
        )
    engine = open_engine(path)
    config = Config()
    config.set_main_option("script_location", "memory:migrations")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0005")
    engine.dispose()
    with closing(SqlStore.open(f"sqlite:///{path}")) as store, store.read() as tx:
        places = {run.run_id: run.partition for run in tx.steps.runs("w", "ana", "s1")}
        (told,) = tx.log.of_episode("w", "e")
    inside = "person/ana/in/c%2F1"
    assert places == {
        "public": "person/ana",
        "private": inside,
        "shared": f"{inside}/shared",
        "direct": "person/ana/direct",
        "noted": "person/ana/direct",
    }
    for name, visibility in runs.items():
        if visibility:
            here = scope("ana", workspace="w", channel="c/1", visibility=Visibility(visibility))
            assert partition_of(here, Audience.PERSONAL) == places[name]
    assert told.detail == {"ratio": 0.5}


def test_an_older_schema_is_not_upgraded_unasked(path: Path) -> None:
    path.touch()
    with pytest.raises(SchemaMismatch, match="goodbot migrate"):
        SqlStore.open(f"sqlite:///{path}", migrate=False)
    migrated(path)
    assert "episodes" in schema(path)


def test_an_upgrade_that_fails_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(connection: Connection) -> None:
        upgrade(connection)
        raise ZeroDivisionError

    monkeypatch.setattr("memory.migrations.upgrade", broken)
    with pytest.raises(ZeroDivisionError):
        migrated(path)
    assert schema(path) == {}
    monkeypatch.undo()
    migrated(path)
    assert "episodes" in schema(path)


def test_processes_that_open_a_fresh_file_at_once_all_succeed(path: Path) -> None:
    script = """
import sys
import alembic.command
from memory.adapters.sql import SqlStore
from tests.memory.adapters.store_samples import NOW
print("ready", flush=True)
sys.stdin.readline()
store = SqlStore.open(sys.argv[1])
with store.write() as tx:
    assert tx.log.claim("w", sys.argv[2], NOW)
store.close()
"""
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", script, f"sqlite:///{path}", str(number)],
            cwd=CHECKOUT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        assert process.communicate(timeout=60)[1] == ""
        assert process.returncode == 0
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM processed_events").fetchone() == (4,)


def test_the_steps_are_found_as_part_of_the_package() -> None:
    folder = files("memory.migrations")
    assert folder.joinpath("env.py").is_file()
    assert folder.joinpath("versions", "0001_initial.py").is_file()

"""Everything gets into another database as it is, however often that breaks off, and the source stays as it is."""

import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Boolean, Float, Integer, LargeBinary, Table
from sqlalchemy.types import TypeDecorator

from memory.adapters.sql import SqlStore
from memory.adapters.sql.copies import whole_tables
from memory.adapters.sql.copies.move import MovedTable, move
from memory.adapters.sql.tables.columns import metadata
from memory.adapters.sql.tables.types import EnumText
from memory.errors import Conflict, InvalidInput, SchemaMismatch, StoreUnavailable
from memory.model import Episode
from tests.doubles.memory_world import World, scope
from tests.doubles.process import python

ROWS = 7
BATCH = 3


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def value(table: Table, name: str, number: int) -> Any:
    """The same text in every column of a row, so that what it refers to is there."""
    kind = table.c[name].type
    if name == "workspace":
        return "w"
    if isinstance(kind, EnumText):
        words = [member.value for member in kind.enumeration.__members__.values()]
        return words[number % len(words)]
    stored = kind.impl_instance if isinstance(kind, TypeDecorator) else kind
    if isinstance(stored, Boolean):
        return bool(number % 2)
    if isinstance(stored, Integer):
        return number
    if isinstance(stored, Float):
        return 1 / (number + 3)
    return bytes([0, number, 255]) if isinstance(stored, LargeBinary) else f"ä {number}"


def fill(path: Path) -> None:
    """A few rows in every table, whatever tables there are."""
    with closing(SqlStore.open(url(path))):
        pass
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in metadata.sorted_tables:
            names = [column.name for column in table.columns]
            marks = ", ".join("?" * len(names))
            rows = [[value(table, name, number) for name in names] for number in range(ROWS)]
            if [column.name for column in table.primary_key] == ["workspace"]:
                rows = rows[:1]
            connection.executemany(f'INSERT INTO "{table.name}" VALUES ({marks})', rows)


def dump(path: Path) -> list[str]:
    """All that is in a database, as the driver tells it."""
    with closing(sqlite3.connect(path)) as connection:
        marks = 'INSERT INTO "lesson_versions"'  # of changes, which are random, and no moved table
        return sorted(each for each in connection.iterdump() if not each.startswith(marks))


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("full") / "full.db"
    fill(path)
    return path


@pytest.fixture
def ends(full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setattr(whole_tables, "BATCH", BATCH)
    source = tmp_path / "source.db"
    shutil.copyfile(full, source)
    return source, tmp_path / "new" / "target.db"


def moved(source: Path, target: Path) -> list[MovedTable]:
    return move(url(source), url(target), lambda done, total, table: None)


def break_off(source: Path, target: Path, step: int) -> None:
    """Begin a move that ends at this step."""

    def stop(done: int, total: int, table: str) -> None:
        steps.append(table)
        if len(steps) == step:
            raise KeyboardInterrupt

    steps: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        move(url(source), url(target), stop)


def test_every_table_is_the_same_afterwards_and_counted(ends: tuple[Path, Path]) -> None:
    source, target = ends
    before = dump(source)
    tables = moved(source, target)
    assert dump(target) == before == dump(source)
    assert [each.name for each in tables] == [table.name for table in metadata.sorted_tables]
    assert all(each.rows == each.copied > 0 and len(each.digest) == 32 for each in tables)
    assert target.stat().st_mode & 0o777 == 0o600
    assert target.parent.stat().st_mode & 0o777 == 0o700
    with closing(SqlStore.open(url(target))) as store:
        assert store.workspaces() == ["w"]


def test_it_tells_how_far_it_is(ends: tuple[Path, Path]) -> None:
    told: list[tuple[int, int, str]] = []
    tables = move(url(ends[0]), url(ends[1]), lambda *step: told.append(step))
    total = sum(each.rows for each in tables)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert told[-1][:2] == (total, total)


@pytest.mark.slow
def test_wherever_it_breaks_off_the_next_one_brings_the_rest(ends: tuple[Path, Path]) -> None:
    source, target = ends
    copied_at: list[int] = []
    move(url(source), url(target.with_name("whole.db")), lambda done, total, table: copied_at.append(done))
    for step in (1, 2, 3, len(copied_at) // 2, len(copied_at) - 1, len(copied_at)):
        for each in target.parent.glob("target.db*"):
            each.unlink()
        break_off(source, target, step)
        with pytest.raises(SchemaMismatch, match="Give the same `goodbot move` again"):
            SqlStore.open(url(target))
        tables = moved(source, target)
        assert dump(target) == dump(source)
        copied, rows = (sum(getattr(each, name) for each in tables) for name in ("copied", "rows"))
        assert (copied, rows) == (rows - min(rows, copied_at[step - 1]), rows)


def test_what_the_source_changed_meanwhile_is_brought_too(ends: tuple[Path, Path]) -> None:
    source, target = ends
    break_off(source, target, 40)
    with closing(sqlite3.connect(source)) as connection, connection:
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("UPDATE channels SET since = 99 WHERE channel = 'ä 1'")
        connection.execute("DELETE FROM episodes WHERE id = 'ä 2'")
        connection.execute("UPDATE ledger SET part = 5 WHERE message_id = 'ä 6'")
    moved(source, target)
    assert dump(target) == dump(source)


def test_a_source_that_is_written_to_is_told_and_brought_by_the_next_one(ends: tuple[Path, Path]) -> None:
    source, target = ends

    def write(done: int, total: int, table: str) -> None:
        with closing(sqlite3.connect(source)) as connection, connection:
            connection.execute("UPDATE channels SET since = since + 1")

    with pytest.raises(Conflict, match="End every process"):
        move(url(source), url(target), write)
    with pytest.raises(SchemaMismatch, match="broke off"):
        SqlStore.open(url(target))
    moved(source, target)
    assert dump(target) == dump(source)


def test_a_table_that_is_empty_when_the_source_s_processes_have_ended_is_empty_in_the_target(
    ends: tuple[Path, Path],
) -> None:
    source, target = ends

    def write(done: int, total: int, table: str) -> None:
        with closing(sqlite3.connect(source)) as connection, connection:
            connection.execute("UPDATE channels SET since = since + 1")

    with pytest.raises(Conflict):
        move(url(source), url(target), write)
    with closing(sqlite3.connect(source)) as connection, connection:
        connection.execute("DELETE FROM leases")
    moved(source, target)
    assert dump(target) == dump(source)


def test_a_target_that_others_write_to_is_not_called_the_same(ends: tuple[Path, Path]) -> None:
    source, target = ends

    def spoil(done: int, total: int, table: str) -> None:
        if done == total:
            with closing(sqlite3.connect(target)) as connection, connection:
                connection.execute(f'DELETE FROM "{table}"')

    with pytest.raises(StoreUnavailable, match="is not in the target as it is in the source"):
        move(url(source), url(target), spoil)
    moved(source, target)
    assert dump(target) == dump(source)


def test_what_is_no_target_is_refused_and_left_alone(ends: tuple[Path, Path], tmp_path: Path) -> None:
    source, target = ends
    with pytest.raises(InvalidInput, match="is the database that would be moved"):
        moved(source, source)
    link = tmp_path / "link.db"
    link.symlink_to(source)
    with pytest.raises(InvalidInput, match="is the database that would be moved"):
        moved(source, link)
    moved(source, target)
    before = dump(target)
    with pytest.raises(InvalidInput, match=r"is not empty: its table .* has rows"):
        moved(source, target)
    assert dump(target) == before
    other = tmp_path / "other.db"
    shutil.copyfile(source, other)
    half = tmp_path / "half.db"
    break_off(source, half, 3)
    with pytest.raises(InvalidInput, match="The move of another database"):
        moved(other, half)
    assert moved(source, half)


@pytest.mark.parametrize("which", ["source", "target"])
def test_a_newer_schema_is_refused(ends: tuple[Path, Path], which: str) -> None:
    source, target = ends
    newer = source if which == "source" else target
    if newer == target:
        SqlStore.open(url(target)).close()
    with closing(sqlite3.connect(newer)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999_later'")
    with pytest.raises(SchemaMismatch):
        moved(source, target)


def test_a_source_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(SchemaMismatch, match="There is no database"):
        moved(tmp_path / "none.db", tmp_path / "target.db")
    assert list(tmp_path.iterdir()) == []


_KILLED = """
import os, signal, sys
from memory.adapters.sql.copies import whole_tables
from memory.adapters.sql.copies.move import move
whole_tables.BATCH = 3
steps = []
def show(*step):
    steps.append(step)
    if len(steps) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
move(sys.argv[1], sys.argv[2], show)
"""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("step", [1, 60])
def test_a_kill_loses_nothing(ends: tuple[Path, Path], step: int) -> None:
    source, target = ends
    process = python(_KILLED, url(source), url(target), str(step))
    process.communicate(b"", timeout=60)
    assert process.returncode == -signal.SIGKILL
    moved(source, target)
    assert dump(target) == dump(source)


def recalled(world: World) -> list[Episode]:
    found = world.memory.recalling.recall(scope("ana"), "where is key 3?")
    return [exemplar.episode for exemplar in found.exemplars]


def test_lessons_are_found_in_the_new_database_as_in_the_old_one(tmp_path: Path) -> None:
    source, target = tmp_path / "source.db", tmp_path / "target.db"
    with closing(SqlStore.open(url(source))) as store:
        world = World(store)
        for number in range(5):
            world.react(world.ask(f"where is key {number}?", f"in drawer {number}"))
        found = recalled(world)
    assert found
    moved(source, target)
    with closing(SqlStore.open(url(target))) as store:
        world = World(store)
        assert world.memory.audit.check() == []
        assert recalled(world) == found

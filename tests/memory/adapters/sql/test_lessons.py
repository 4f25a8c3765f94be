"""What a process keeps of lessons is what the database has, whoever changed it, and however it was kept."""

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import Column
from sqlalchemy.sql.visitors import iterate

from memory.adapters.sql import SqlStore
from memory.adapters.sql.recall import lessons
from memory.adapters.sql.recall.lessons import LessonCache
from memory.adapters.sql.tables.lesson_versions import WEIGHED, erasures
from memory.model.evidence import ActionText, Evidence
from memory.ports import Transaction, WeighingInput
from tests.doubles.memory_world import World, scope
from tests.doubles.pages import counted_statements
from tests.doubles.postgres import address, open_postgres
from tests.memory.adapters.store_samples import MODEL, episode, fill, unit, vote

ACTIONS = (ActionText(name="pay_bill", description="Pays a bill."),)
HISTORIES = st.lists(st.tuples(st.sampled_from(["ask", "approve", "refuse", "correct", "forget"]), st.integers(0, 3)))
GOALS = ("where is the canteen?", "where is the canteen please?", "where do I find the canteen?")


@pytest.fixture
def store(path: Path) -> Iterator[SqlStore]:
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        yield store


def read(tx: Transaction, *ids: str) -> WeighingInput:
    """As a recall reads it: behind a search, which reads the mark."""
    tx.episodes.nearest("w", ["workspace"], MODEL, unit(1, 0, 0), 3, -1.0)
    return tx.episodes.weighing_input("w", "C1", ids)


def marks(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as connection:
        return [mark for (mark,) in connection.execute("SELECT mark FROM lesson_versions WHERE workspace = 'w'")]


def change(path: Path, statement: str) -> int:
    """How many rows another program changed."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement).rowcount


@pytest.mark.parametrize(("table", "column"), [(t, name) for t, names in WEIGHED.items() for name in names.split()])
def test_whoever_changes_what_is_weighed_marks_the_workspace(
    store: SqlStore, path: Path, table: str, column: str
) -> None:
    with store.write() as tx:
        fill(tx, "w")
    change(path, "INSERT INTO rules VALUES ('w', 'r1', 'workspace', 'success', '[]')")
    before = marks(path)
    assert change(path, f"UPDATE {table} SET {column} = {column}") > 0
    assert marks(path) == before
    with closing(sqlite3.connect(path)) as connection:
        kind = next(row[2] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] == column)
    other = f"{column} || 'x'" if kind in ("VARCHAR", "TEXT") else f"coalesce({column}, 0) + 1"
    assert change(path, f"UPDATE {table} SET {column} = {other}") > 0
    after = marks(path)
    assert after != before
    has_words = column in ("goal", "output", "correction", "trajectory")
    assert (list(map(erasures, after)) == list(map(erasures, before))) is not has_words
    change(path, f"CREATE TABLE kept AS SELECT * FROM {table}")
    assert change(path, f"DELETE FROM {table}") > 0
    without = marks(path)
    assert list(map(erasures, without)) != list(map(erasures, after))
    assert change(path, f"INSERT INTO {table} SELECT * FROM kept") > 0
    assert (marks(path) == without) is (table == "episodes")  # a new one is known to nobody


def test_each_column_that_is_read_is_looked_after() -> None:
    """But for those that a row is found by, which never change."""
    read_columns = {
        (each.table.name, each.name)
        for each in iterate(lessons._with_other_input(lessons._lessons(1)))
        if isinstance(each, Column) and each.table is not None
    }
    keys = {"workspace", "id", "run_id", "actor", "channel", "name"}
    watched = {(table, name) for table, names in WEIGHED.items() for name in names.split()}
    assert {each for each in read_columns if each[1] not in keys} <= watched
    assert {table for table, _ in read_columns} == set(WEIGHED)


def test_what_was_read_is_not_read_again(store: SqlStore) -> None:
    with store.write() as tx:
        fill(tx, "w")
    with store.read() as tx:
        first = read(tx, "e1", "e2")
    with counted_statements(store) as statements, store.read() as tx:
        assert read(tx, "e2", "e1") == first
    assert len([each for each in statements if each.startswith("SELECT")]) == 1  # the search
    with counted_statements(store) as statements, store.read() as tx:
        assert read(tx, "e1", "none").lessons.keys() == {"e1"}
    with counted_statements(store) as others, store.read() as tx:
        assert read(tx, "no", "nor", "neither").lessons == {}
    # The channel's settings are known, and one statement reads some lessons or others: building another takes long.
    [statement] = [each for each in statements if "episodes" in each]
    assert [each for each in others if "episodes" in each] == [statement]
    assert "settings" not in statement


def test_what_was_made_of_a_lesson_is_used_until_the_lesson_changes(store: SqlStore, path: Path) -> None:
    with store.write() as tx:
        fill(tx, "w")
    with store.read() as tx:
        first = read(tx, "e1", "e2").lessons
    assert change(path, "UPDATE episodes SET action = 'pay_bill' WHERE id = 'e2'") > 0
    with store.read() as tx:
        later = read(tx, "e1", "e2").lessons
    assert later["e1"] is first["e1"]
    assert (first["e2"].action, later["e2"].action) == ("", "pay_bill")


@pytest.mark.parametrize("erasure", ["UPDATE episodes SET goal = '' WHERE id = 'e1'", "DELETE FROM votes"])
def test_what_was_read_before_something_was_erased_is_kept_no_longer(store: SqlStore, path: Path, erasure: str) -> None:
    with store.write() as tx:
        fill(tx, "w")
    with store.read() as tx:
        read(tx, "e1", "e2")
    assert change(path, erasure) > 0
    with store.read() as tx:
        read(tx, "e2")
    assert list(store._recall.lessons._known["w"].lessons) == ["e2"]


def kept(store: SqlStore) -> list[str]:
    """The ids of the lessons that the process keeps."""
    return [name for known in store._recall.lessons._known.values() for name in known.lessons]


def erased_during(store: SqlStore, path: Path, saw: Callable[[], object]) -> None:
    """A transaction that began before an erasure reads the lesson once more, when the process has seen the erasure."""
    with store.write() as tx:
        fill(tx, "w")
    with store.read() as tx:
        tx.episodes.nearest("w", ["workspace"], MODEL, unit(1, 0, 0), 3, -1.0)
        assert change(path, "UPDATE episodes SET output = '' WHERE id = 'e1'") > 0
        saw()
        found = tx.episodes.weighing_input("w", "C1", ["e1"]).lessons
        assert found["e1"].output  # its snapshot is answered as it is


def by_another_thread(work: Callable[[], object]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


@pytest.mark.parametrize("weighs", [False, True])
def test_an_old_snapshot_puts_nothing_back_that_was_erased(store: SqlStore, path: Path, weighs: bool) -> None:
    def later() -> None:
        with store.read() as tx:
            tx.episodes.nearest("w", ["workspace"], MODEL, unit(1, 0, 0), 3, -1.0)
            if weighs:
                tx.episodes.weighing_input("w", "C1", ["e1"])

    erased_during(store, path, partial(by_another_thread, later))
    assert kept(store) == []


def test_an_old_snapshot_puts_nothing_back_that_this_process_erased(store: SqlStore, path: Path) -> None:
    erased_during(store, path, store._recall.lessons.clear)
    assert kept(store) == []


def test_nor_does_it_when_the_workspace_was_dropped_for_want_of_room(store: SqlStore, path: Path) -> None:
    cache = store._recall.lessons

    def later() -> None:
        with store.read() as tx:
            read(tx, "e1")
        with cache._lock:
            while cache._known:
                cache._drop_oldest()

    erased_during(store, path, partial(by_another_thread, later))
    assert kept(store) == []


def test_after_an_old_snapshot_lessons_are_kept_again(store: SqlStore, path: Path) -> None:
    erased_during(store, path, store._recall.lessons.clear)
    with store.read() as tx:
        first = read(tx, "e1", "e2").lessons
    with store.read() as tx:
        again = read(tx, "e1", "e2").lessons
    assert all(again[name] is first[name] for name in ("e1", "e2"))
    assert kept(store) == ["e1", "e2"]


def test_what_is_rolled_back_is_kept_nowhere(store: SqlStore) -> None:
    with store.write() as tx:
        fill(tx, "w")
    with store.read() as tx:
        first = read(tx, "e1")

    def change_and_fail() -> None:
        with store.write() as tx:
            read(tx, "e1")
            tx.teaching.put_votes(replace(vote("nobody"), run_id=first.lessons["e1"].run_id))
            assert "nobody" in [each.actor for each in read(tx, "e1").lessons["e1"].votes]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change_and_fail()
    with store.read() as tx:
        assert read(tx, "e1") == first


def test_a_snapshot_is_answered_as_it_is(store: SqlStore, path: Path) -> None:
    """A transaction that began before a change finds what was, and leaves nothing of that to later ones."""
    with store.write() as tx:
        fill(tx, "w")
    with store.read() as tx:
        before = read(tx, "e1")
        change(path, "UPDATE episodes SET output = 'another' WHERE id = 'e1'")
        with closing(SqlStore.open(f"sqlite:///{path}")) as other, other.read() as later:
            changed = read(later, "e1")
        assert read(tx, "e1") == before != changed
    with store.read() as tx:
        assert read(tx, "e1") == changed


def test_no_more_is_kept_than_there_is_room_for(store: SqlStore) -> None:
    with store.write() as tx:
        fill(tx, "w")
    cache = LessonCache(budget=2000)
    store._recall.lessons = cache
    for _ in range(2):
        with store.read() as tx:
            assert read(tx, "e1", "e2").lessons.keys() == {"e1", "e2"}
    assert sum(each.nbytes for each in cache._known.values()) <= 2000


def test_what_was_used_longest_ago_makes_room(store: SqlStore) -> None:
    with store.write() as tx:
        tx.episodes.put(*(episode(f"e{number}") for number in range(4)))
        tx.teaching.put_votes(vote("ana"))
    store._recall.lessons = LessonCache(budget=4 * 2100)  # three lessons, and what is read beside them
    for used in (["e0", "e1"], ["e2"], ["e0"], ["e3"], ["e0"]):
        with store.read() as tx:
            assert read(tx, *used).lessons.keys() == set(used)
    (known,) = store._recall.lessons._known.values()
    assert list(known.lessons) == ["e2", "e3", "e0"]


def test_what_several_lessons_say_is_kept_once(store: SqlStore) -> None:
    answer = "Take the grey key from the ground floor."
    with store.write() as tx:
        tx.episodes.put(*(episode(f"e{number}", output=answer) for number in range(6)), episode("other", output="No."))
        tx.teaching.put_votes(vote("ana"))
    store._recall.lessons = LessonCache(budget=5 * 2100)  # four lessons, and what is read beside them
    for used in (["e0", "other"], ["e1"], ["e2", "e3"], ["e4", "e5", "e3"]):
        with store.read() as tx:
            assert {each.output for name, each in read(tx, *used).lessons.items() if name != "other"} == {answer}
    (known,) = store._recall.lessons._known.values()
    assert list(known.lessons) == ["e2", "e3", "e4", "e5"]
    assert len({id(each.lesson.output) for each in known.lessons.values()}) == 1


def test_of_lessons_that_were_dropped_little_is_kept(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lessons, "_SPARE", 4)
    with store.write() as tx:
        tx.episodes.put(*(episode(f"e{number}", output=f"Room {number}.") for number in range(40)))
        tx.teaching.put_votes(vote("ana"))
    store._recall.lessons = LessonCache(budget=4 * 2100)
    for number in range(40):
        with store.read() as tx:
            assert read(tx, f"e{number}").lessons
    (known,) = store._recall.lessons._known.values()
    assert len(known.lessons) == 3
    assert len(known.of_output) <= 2 * 3 + 5


def test_what_is_forgotten_is_kept_no_longer(path: Path) -> None:
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        world = World(store)
        _taught(world, "ana", GOALS[0])
        assert _weighed(world, "ana").lessons == 1
        assert store._recall.lessons._known
        world.memory.privacy.forget(scope().workspace, "ana")
        assert not store._recall.lessons._known


def _taught(world: World, person: str, goal: str) -> None:
    world.react(world.ask(goal, f"By the stairs, {person}.", of=scope(person)), "👍", by=person)


def _weighed(world: World, person: str) -> Evidence:
    return world.memory.recalling.weighing.weigh(scope(person), GOALS[0], ACTIONS)


@settings(
    max_examples=max(6, settings().max_examples // 2), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(HISTORIES)
def test_a_process_that_has_it_all_recalls_as_one_that_has_nothing(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, int]]
) -> None:
    url = f"sqlite:///{tmp_path_factory.mktemp('lessons') / 'goodbot.db'}"
    with closing(SqlStore.open(url)) as store:
        recalls_alike(store, url, history)


@pytest.mark.slow
@settings(max_examples=12)
@given(HISTORIES)
def test_so_it_does_on_postgres(history: list[tuple[str, int]]) -> None:
    with closing(open_postgres()) as store:
        recalls_alike(store, address(store), history)


def recalls_alike(store: SqlStore, url: str, history: list[tuple[str, int]]) -> None:
    """After each act, a process that acted, one that only recalled, and one that just began have the same evidence."""
    with closing(SqlStore.open(url)) as reader:
        world, warm = World(store), World(reader)
        people = ("ana", "bo", "cy", "dee")
        episodes = [world.ask(GOALS[0], "By the stairs.", of=scope("ana"))]
        for act, number in history:
            world.clock.tick(minutes=5)
            person, episode = people[number], episodes[number % len(episodes)]
            if act == "ask":
                episodes.append(world.ask(GOALS[number % len(GOALS)], f"Behind door {number}.", of=scope(person)))
            elif act == "forget":
                world.memory.privacy.forget(scope().workspace, person)
                with store.read() as tx:
                    left = tx.episodes.get_many(scope().workspace, [each.id for each in episodes])
                episodes = list(left.values()) or [world.ask(GOALS[0], "By the stairs.", of=scope("ana"))]
            elif act == "correct":
                world.correct(episode, f"Upstairs, room {number}.", by=person)
            else:
                world.react(episode, "👍" if act == "approve" else "👎", by=person)
            with closing(SqlStore.open(url)) as cold:
                fresh = World(cold)
                for each in people:
                    assert _weighed(warm, each) == _weighed(fresh, each)
                    assert _weighed(world, each) == _weighed(fresh, each)

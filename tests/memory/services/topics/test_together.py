"""Queries that come at the same time raise what each returned, as if they had come one after the other."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from memory.adapters.sql import SqlStore
from memory.model import Audience, EventKind
from memory.model.topic import TopicEventKind
from memory.ports import Transaction
from memory.rules.strength import SALIENCE_BUMP
from memory.services.topics import Ingest
from memory.services.topics.shared_transaction import SharedTransaction
from tests.doubles.memory_world import World, scope

QUESTION = "where is the coffee?"
THREADS, TIMES = 6, 5


class Interrupted:
    """A store in which something else happens first, just before a transaction that writes begins."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self.first: list[Callable[[], object]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        while self.first:
            self.first.pop()()
        with self._store.write() as tx:
            yield tx


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    store = SqlStore.open(f"sqlite:///{tmp_path}/goodbot.db")
    yield store
    store.close()


def filled(world: World) -> tuple[str, str]:
    """A world with a taught answer and a topic near one question; their ids."""
    answer = world.ask(QUESTION, "upstairs")
    world.react(answer, "👍", by="ana")
    topic = world.memory.world.ingest(scope(), Ingest(title=QUESTION, audience=Audience.WORKSPACE))
    return answer.id, topic.topic_id


def query(world: World, **more: str) -> dict[str, float]:
    """The salience that a query tells of each topic."""
    response = world.memory.world.query(scope(), {"q": QUESTION}, **more)
    return {each.topic_id: each.salience for each in response.candidates}


def test_no_two_queries_raise_from_the_same_value(store: SqlStore) -> None:
    world = World(store)
    lesson, topic = filled(world)
    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(lambda _: query(world), range(THREADS * TIMES)))
    expected = [1.0 + SALIENCE_BUMP * number for number in range(THREADS * TIMES)]
    for each in (lesson, topic):
        assert sorted(answer[each] for answer in answers) == pytest.approx(expected)
    with store.read() as tx:
        bumps = [each for each in tx.log.of_episode("terminal:w", lesson) if each.kind is EventKind.QUERY_BUMP]
        trail = [each for each in tx.topics.event_log("terminal:w", topic) if each.kind is TopicEventKind.SALIENCE]
    for entries in (bumps, trail):
        assert [each.detail["from"] for each in entries] == pytest.approx(expected)
    assert world.memory.audit.check() == []


def test_two_processes_raise_from_each_others_values(store: SqlStore, tmp_path: Path) -> None:
    world = World(store)
    lesson, _ = filled(world)
    other_store = SqlStore.open(f"sqlite:///{tmp_path}/goodbot.db")
    other = World(other_store)
    other.clock.now = world.clock.now
    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(lambda number: query((world, other)[number % 2]), range(THREADS * TIMES)))
    other_store.close()
    assert len({round(each[lesson], 6) for each in answers}) == THREADS * TIMES


def test_what_was_taken_away_meanwhile_is_neither_returned_nor_raised(store: SqlStore) -> None:
    interrupted = Interrupted(store)
    world, other = World(interrupted), World(store)
    lesson, topic = filled(world)
    interrupted.first.append(lambda: other.memory.curation.archive("terminal:w", lesson, actor="tess"))
    assert query(world).keys() == {topic}
    interrupted.first.append(lambda: other.memory.world.archive(scope(), topic))
    assert query(world) == {}
    with store.read() as tx:
        assert [each.kind for each in tx.log.of_episode("terminal:w", lesson)].count(EventKind.QUERY_BUMP) == 0
        assert [each.kind for each in tx.topics.event_log("terminal:w", topic)].count(TopicEventKind.SALIENCE) == 1


def test_what_was_erased_meanwhile_is_not_raised(store: SqlStore) -> None:
    interrupted = Interrupted(store)
    world, other = World(interrupted), World(store)
    lesson, topic = filled(world)
    run = world.memory.audit.get("terminal:w", lesson).run_id
    interrupted.first.append(lambda: other.memory.privacy.erase_run("terminal:w", run, actor="tess"))
    assert query(world).keys() == {topic}
    assert world.memory.audit.check() == []


def test_the_same_event_raises_once_however_many_bring_it_at_once(store: SqlStore) -> None:
    world = World(store)
    lesson, _ = filled(world)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda _: query(world, event_id="e1"), range(THREADS)))
    assert query(world)[lesson] == pytest.approx(1.0 + SALIENCE_BUMP)


def test_what_waits_shares_a_transaction_and_fails_alone() -> None:
    begun, go_on, sizes = Event(), Event(), list[int]()

    def work(take: Callable[[], Sequence[str]]) -> list[str]:
        begun.set()
        assert go_on.wait(10)
        items = take()
        sizes.append(len(items))
        if "bad" in items:
            raise ValueError("bad")
        return [item.upper() for item in items]

    shared = SharedTransaction[str, str](work)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(shared, "a")
        assert begun.wait(10)
        others = [pool.submit(shared, item) for item in ("b", "bad", "c")]
        while shared.waiting < 4:
            pass
        go_on.set()
        assert [first.result(10), others[0].result(10), others[2].result(10)] == ["A", "B", "C"]
        with pytest.raises(ValueError, match="bad"):
            others[1].result(10)
    assert sizes[0] == 4
    assert sorted(sizes[1:]) == [1, 1, 1, 1]


def test_whoever_cannot_begin_says_so_and_leaves_nothing_behind() -> None:
    def work(_: Callable[[], Sequence[str]]) -> list[str]:
        raise OSError("no disk")

    shared = SharedTransaction[str, str](work)
    with pytest.raises(OSError, match="no disk"):
        shared("a")
    assert shared.waiting == 0

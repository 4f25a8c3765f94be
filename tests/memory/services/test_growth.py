"""What one message or one reaction costs does not depend on how much came before: counted in steps, not in time."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from memory.adapters.sql import SqlStore
from memory.model import (
    Audience,
    Event,
    EventKind,
    Incoming,
    LedgerEntry,
    LinkKind,
    Outgoing,
    Progress,
    Reaction,
    Role,
    TrustEvidence,
    Verdict,
    Verdicts,
    Vote,
)
from memory.ports import EpisodeFilter, Transaction
from memory.rules.audience import partitions_of
from memory.rules.fold import with_verdicts
from memory.rules.retrieval.config import RetrievalConfig
from tests.doubles.memory_world import START, World, scope
from tests.doubles.stores import open_file
from tests.memory.adapters.store_samples import episode, link

pytestmark = pytest.mark.slow

W = "terminal:w"
FEW, MANY = 100, 2_000
LESSONS = 1_000
HOUR = timedelta(hours=1)


class Steps:
    """How many instructions SQLite's machine runs for this store: each row it looks at costs some."""

    def __init__(self, store: SqlStore) -> None:
        self._engine = store._engine
        self._count = 0
        self._watched: list[sqlite3.Connection] = []

    def _watch(self, _: object, cursor: sqlite3.Cursor, *__: object) -> None:
        cursor.connection.set_progress_handler(self._step, 1)
        self._watched.append(cursor.connection)

    def _step(self) -> int:
        self._count += 1
        return 0

    def of(self, work: Callable[[], object]) -> int:
        """The steps of one piece of work. Only these are counted: to count each costs more than the step."""
        self._count = 0
        event.listen(self._engine, "before_cursor_execute", self._watch)
        try:
            work()
        finally:
            event.remove(self._engine, "before_cursor_execute", self._watch)
            for connection in self._watched:
                connection.set_progress_handler(None, 1)
            self._watched.clear()
        return self._count


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(open_file(tmp_path / "goodbot.db")) as store:
        yield store


def vote_of(
    person: str,
    number: int,
    at: datetime,
    *,
    is_limited: bool = False,
    role: Role = Role.MEMBER,
    source: str = "emoji:👍",
) -> Vote:
    return Vote(
        workspace=W, run_id=f"r{number}", actor=person, role=role, source=source, value=1, at=at, is_limited=is_limited
    )


def add_votes(tx: Transaction, person: str, numbers: range, most: int) -> None:
    """So many answers that the person voted on within the hour that is now, with their registers."""
    for number in numbers:
        at = START + number * (HOUR / (2 * MANY))
        vote = vote_of(person, number, at, is_limited=number >= most)
        tx.teaching.set_votes(W, vote.run_id, [vote])
        register = Reaction(
            workspace=W,
            channel="c1",
            message_id=f"m{number}",
            actor=person,
            source="emoji:👍",
            value=1,
            at=at,
            run_id=vote.run_id,
        )
        tx.teaching.put_reaction(register)


ACTS: dict[str, dict[str, Any]] = {
    "the newest": {"at": START + HOUR / 2},
    "late": {"at": START + timedelta(seconds=1)},
    "against": {"at": START + HOUR / 2, "emoji": "👎"},
    "decree": {"at": START + HOUR / 2, "role": Role.ADMIN},
    "taken back": {"at": START + HOUR / 2, "added": False},
}


def test_a_reaction_costs_the_same_however_many_votes_its_voter_has(store: SqlStore) -> None:
    world, steps = World(store), Steps(store)
    most = world.memory.core.policy.votes_per_window
    costs: dict[str, list[int]] = {name: [] for name in ACTS}
    for numbers in (range(FEW), range(FEW, MANY)):
        with store.write() as tx:
            add_votes(tx, "bob", numbers, most)
        for name, act in ACTS.items():
            answer = world.ask("which bank?")
            if name == "taken back":
                world.react(answer, by="bob", at=START + timedelta(seconds=1))
            costs[name].append(steps.of(partial(world.react, answer, by="bob", **act)))
            with store.read() as tx:
                marks = [vote.is_limited for vote in tx.teaching.votes(W, answer.run_id)]
            assert marks == {"late": [False], "decree": [False], "taken back": []}.get(name, [True])
    for few, many in costs.values():
        assert many == pytest.approx(few, rel=0.05)


def teach(world: World) -> None:
    teacher = scope("tea")
    lesson = world.memory.teaching.teach(
        teacher, "where?", "there", role=Role.TEACHER, audience=Audience.CHANNEL, at=START + HOUR / 2
    )
    assert lesson is not None
    assert lesson.verdicts.channel is Verdict.SUCCESS


def test_teaching_and_reacting_cost_the_same_however_much_was_taught_within_the_hour(store: SqlStore) -> None:
    world, steps = World(store), Steps(store)
    costs: dict[str, list[int]] = {"teach": [], "correct": [], "react": []}
    for numbers in (range(0), range(FEW), range(FEW, MANY)):
        with store.write() as tx:
            for number in numbers:
                at = START + number * (HOUR / (2 * MANY))
                tx.teaching.put_votes(vote_of("tea", number, at, role=Role.TEACHER, source="correction"))
        world.clock.now = START + HOUR / 2
        answer, other = world.ask("which bank?"), world.ask("which street?")
        costs["teach"].append(steps.of(lambda: teach(world)))
        costs["correct"].append(steps.of(partial(world.correct, answer, "that", by="tea", role=Role.TEACHER)))
        costs["react"].append(steps.of(partial(world.react, other, by="tea", role=Role.TEACHER)))
        assert world.episode(other).verdicts.channel is Verdict.SUCCESS
        world.react(other, by="tea", role=Role.TEACHER, added=False)  # so that the next one is the only one again
    for _, few, many in costs.values():  # the first of a world has less to look at
        assert many == pytest.approx(few, rel=0.05)


def test_a_reaction_costs_the_same_however_often_its_voter_was_proven_right_or_wrong(store: SqlStore) -> None:
    world, steps = World(store), Steps(store)
    costs = []
    for numbers in (range(FEW), range(FEW, MANY)):
        with store.write() as tx:
            for number in numbers:
                proven = TrustEvidence(workspace=W, run_id=f"r{number}", actor="bob", agrees=number % 2 == 0)
                tx.teaching.set_trust_evidence(W, proven.run_id, [proven])
        answer = world.ask(f"question number {numbers.stop}")
        costs.append(steps.of(partial(world.react, answer, by="bob")))
        world.react(answer, by="bob", added=False)  # so that none of them has an earlier vote to be looked at
    assert costs[1] == pytest.approx(costs[0], rel=0.05)


def test_a_question_costs_the_same_however_often_it_was_asked_and_joined_to_one_lesson(store: SqlStore) -> None:
    world, steps = World(store), Steps(store)
    goal = "how do I reset the router?"
    lesson = world.ask(goal, "hold the button")
    world.react(lesson)
    world.correct(world.ask(goal, "kick it"), "hold the button for long")  # a mistake, whose corrections are looked up
    costs = []
    keepers = (lesson.id, *world.recalled(goal))
    for numbers in (range(FEW), range(FEW, LESSONS)):
        with store.write() as tx:
            for number in numbers:
                name = f"e{number:05}"
                tx.episodes.put(episode(name, W, goal=goal, channel="c1", run_id=f"r{number}", rep=number))
                for keeper in keepers:
                    tx.episodes.add_link(link(name, keeper, LinkKind.SAME_GOAL, W))
        asking = steps.of(partial(world.ask, goal, "hold the button"))
        newest = world.memory.audit.episodes(W, EpisodeFilter(limit=1))[0]
        assert newest.rep == numbers.stop
        costs.append(asking + steps.of(partial(world.lessons_used, newest)))
    assert costs[1] == pytest.approx(costs[0], rel=0.05)


def add_lessons(world: World, numbers: range) -> None:
    """So many answers of the same words that somebody asked for in one channel and approved."""
    asker = scope()
    vector = world.memory.embedder.embed(["how do I reset the router?"])[0]
    with world.memory.store.write() as tx:
        for number in numbers:
            name, at = f"e{number:05}", START + timedelta(seconds=number)
            lesson = with_verdicts(
                episode(
                    name,
                    W,
                    run_id=f"r{number}",
                    goal=f"how do I reset the router {number}?",
                    channel=asker.channel,
                    output="hold the button",
                    place=asker.place,
                    created_at=at,
                    salience_at=at,
                ),
                Verdicts(personal=Verdict.SUCCESS),
            )
            tx.episodes.put(lesson)
            tx.log.append(Event(workspace=W, episode_id=name, kind=EventKind.CREATED, actor="ana", at=at))
            tx.episodes.put_vector(W, name, world.memory.embedder.name, vector)
            tx.episodes.set_index(W, name, partitions_of(lesson))
            tx.deliveries.accept(
                Incoming(scope=asker, event_id=name, message_id=name, text=lesson.goal, at=at, run_id=lesson.run_id)
            )
            tx.deliveries.advance(W, name, Progress.ACCEPTED, Progress.DELIVERED)
            sent = Outgoing(
                workspace=W, run_id=lesson.run_id, part=1, channel="c1", thread="", text=lesson.output, sent_at=at
            )
            tx.deliveries.put_outgoing(sent)
            row = LedgerEntry(
                workspace=W,
                channel="c1",
                message_id=f"m{number}",
                run_id=lesson.run_id,
                part=1,
                posted_at=at,
                expires_at=at + timedelta(days=30),
            )
            tx.teaching.put_ledger(row)


def test_a_message_costs_the_same_however_many_lessons_its_channel_has(store: SqlStore) -> None:
    config = RetrievalConfig(env_threshold=0.0, top_k=None, final_k=4, min_intent=0.3, max_per_author=1, consensus=True)
    world, steps = World(store, config), Steps(store)
    costs = []
    for numbers in (range(200), range(200, LESSONS)):
        add_lessons(world, numbers)
        world.memory.upkeep.run("consolidate")
        world.ask("warm up")  # brings the process's copy of the index up to date, once
        costs.append(steps.of(lambda: world.ask("how do I reset the router?", "hold the button")))
        assert world.memory.recalling.recall(scope(), "how do I reset the router?").rules
    assert costs[1] == pytest.approx(costs[0], rel=0.05)

"""A message whose reactions count for one answer stays that answer's, and live and rebuilt state agree about it."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import pytest

from memory import ReactionContext, ReactionHandler, ReactionLedger
from memory.adapters.embedding import HashingEmbedder
from memory.errors import Conflict
from memory.library.episodic import EpisodicMemory
from memory.model import Episode, EpisodeStatus, Vector, Verdict
from tests.doubles.memory_world import World, scope

ANA = scope("ana")
FIRST, SECOND = ReactionContext("where is the key?", "under the mat"), ReactionContext("who has the key?", "Bianca")


class Person:
    """One person's ledger and handler."""

    def __init__(self, world: World, name: str = "ana") -> None:
        self.memory = EpisodicMemory(world.memory, scope(name))
        self.ledger = ReactionLedger(self.memory)
        self.handler = ReactionHandler(self.ledger, self.memory)
        self._world = world

    def react(self, emoji: str = "👍", *, added: bool = True) -> Episode | None:
        self._world.clock.tick()
        return self.handler.handle_reaction("m1", emoji, added=added)


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    assert world.memory.audit.check() == []
    assert world.memory.audit.rebuild() == 0


class Meanwhile(HashingEmbedder):
    """Something else happens while it embeds, once."""

    def __init__(self) -> None:
        super().__init__()
        self.then: Callable[[], object] = lambda: None

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        then, self.then = self.then, lambda: None
        then()
        return super().embed(texts)


def count(world: World) -> int:
    return world.memory.audit.statistics(ANA.workspace)[0]["episodes"]


def test_what_people_reacted_to_is_not_replaced(world: World) -> None:
    ana = Person(world)
    ana.ledger.record("m1", FIRST)
    answer = ana.react()
    assert answer is not None
    with pytest.raises(Conflict, match="m1 already; record the other answer with another id"):
        ana.ledger.record("m1", SECOND)
    assert ana.react() == world.episode(answer)
    assert world.episode(answer).verdict is Verdict.SUCCESS
    assert ana.ledger.lookup("m1") == FIRST
    assert count(world) == 1


def test_a_reaction_that_was_taken_back_keeps_the_message_too(world: World) -> None:
    ana = Person(world)
    ana.ledger.record("m1", FIRST)
    ana.react()
    ana.react(added=False)
    with pytest.raises(Conflict):
        ana.ledger.record("m1", SECOND)
    with pytest.raises(Conflict):
        ana.ledger.record("m1", FIRST, run_id=ana.memory.store(Episode(goal="other", output="other")).run_id)


def test_a_repeated_delivery_after_a_reaction_is_the_same_answer_even_when_it_had_expired(world: World) -> None:
    ana = Person(world)
    ana.ledger.record("m1", FIRST)
    answer = ana.react()
    assert answer is not None
    ana.ledger.record("m1", FIRST)
    world.clock.tick(days=40)
    assert ana.ledger.lookup("m1") is None
    ana.ledger.record("m1", FIRST, run_id=answer.run_id)
    world.clock.tick(days=40)
    ana.ledger.record("m1", FIRST)
    assert (ana.react("👎"), count(world)) == (world.episode(answer), 1)
    assert world.episode(answer).verdict is Verdict.FAILURE


def test_another_persons_answer_keeps_its_reactions_when_it_has_expired(world: World) -> None:
    ana, bo = Person(world), Person(world, "bo")
    ana.ledger.record("m1", FIRST)
    answer, judged = ana.react(), bo.react("👎")
    assert answer is not None
    assert judged is not None
    assert judged.id == answer.id
    world.clock.tick(days=40)
    bo.ledger.record("m1", SECOND)
    mine = bo.react("👎")
    assert mine is not None
    assert (mine.goal, mine.verdict) == (SECOND.goal, Verdict.FAILURE)


def test_a_vote_cannot_name_a_message_of_another_run(world: World) -> None:
    first, second = world.ask("one?", message_id="m1"), world.ask("two?", message_id="m2")
    vote = dataclasses.replace(world.reaction(second, message_id="m1"), run_id=second.run_id)
    with pytest.raises(Conflict, match="m1 belongs to another run"):
        world.memory.teaching.vote(vote)
    world.react(first, message_id="m1")
    world.clock.tick(days=40)
    with pytest.raises(Conflict, match="m1 belongs to another run"):
        world.memory.teaching.vote(vote)
    own = dataclasses.replace(vote, message_id="m2")
    assert world.memory.teaching.vote(own).changed
    assert [world.episode(each).verdict for each in (first, second)] == [Verdict.SUCCESS] * 2


def test_a_vote_that_names_its_own_message_is_in_the_register_of_reactions_on_it(world: World) -> None:
    answer = world.ask("one?", message_id="m1")
    vote = dataclasses.replace(world.reaction(answer, message_id="m1"), run_id=answer.run_id)
    assert world.memory.teaching.vote(vote).changed
    assert world.react(answer, added=False, message_id="m1").changed
    assert world.episode(answer).verdict is Verdict.PENDING


def test_a_message_posted_once_more_for_another_run_stays_the_first_ones(world: World) -> None:
    first = world.ask("one?", message_id="m1")
    world.react(first, message_id="m1")
    world.ask("two?", message_id="m1")
    world.react(first, "👎", message_id="m1")
    assert world.episode(first).verdict is Verdict.FAILURE


def test_a_message_delivered_twice_at_once_is_one_answer_which_may_have_reactions_already() -> None:
    embedder = Meanwhile()
    world = World(embedder=embedder)
    ana = Person(world)
    judged: list[Episode | None] = []

    def deliver_and_react() -> None:
        ana.ledger.record("m1", FIRST)
        judged.append(ana.react())

    embedder.then = deliver_and_react
    ana.ledger.record("m1", FIRST)
    assert count(world) == 1
    assert judged[0] is not None
    assert world.episode(judged[0]).verdict is Verdict.SUCCESS
    assert ana.react("👎") == world.episode(judged[0])


def test_an_answer_that_cannot_have_its_message_is_not_stored() -> None:
    embedder = Meanwhile()
    world = World(embedder=embedder)
    ana = Person(world)

    def deliver_another_and_react() -> None:
        ana.ledger.record("m1", FIRST)
        ana.react()

    embedder.then = deliver_another_and_react
    with pytest.raises(Conflict, match="m1 already"):
        ana.ledger.record("m1", SECOND)
    assert count(world) == 1


def test_an_episode_stored_twice_at_once_is_one_and_judged() -> None:
    embedder = Meanwhile()
    world = World(embedder=embedder)
    ana = Person(world)
    episode = Episode(id="e1", goal="water the fern", output="done")
    embedder.then = lambda: ana.memory.store(episode)
    assert ana.memory.store(dataclasses.replace(episode, status=EpisodeStatus.SUCCESS)).verdict is Verdict.SUCCESS
    assert count(world) == 1

"""After another embedder was chosen: what the one before embedded is found by it until it is embedded anew."""

from collections.abc import Sequence
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sqlalchemy import event

from memory.adapters.embedding import HashingEmbedder
from memory.adapters.sql import SqlStore
from memory.errors import EmbeddingFailed
from memory.model import Recollection, Vector, Visibility
from memory.model.evidence import ActionText
from memory.ports import Embedder, Store
from memory.services.embedders import LOOK_EVERY, EmbedderNamed
from memory.services.upkeep import reembedding
from tests.doubles.memory_world import World, scope
from tests.doubles.postgres import open_postgres

BEFORE, NOW = HashingEmbedder(384), HashingEmbedder(256)
ASKED = "where is the red key of the cellar?"
GOALS = (
    "where is the red key?",
    "where is the key of the cellar?",
    "who has the blue key?",
    "how do I open the cellar?",
    "when is lunch?",
)


def by_name(name: str) -> Embedder | None:
    return {each.name: each for each in (BEFORE, NOW)}.get(name)


def again(world: World, named: EmbedderNamed = by_name, embedder: Embedder = NOW) -> World:
    """The same memory with another embedder."""
    opened = World(world.memory.store, None, embedder, embedder_named=named)
    opened.clock.now = world.clock.tick(days=1)
    return opened


def taught(goals: Sequence[str] = GOALS, store: Store | None = None) -> World:
    world = World(store, None, BEFORE)
    for number, goal in enumerate(goals):
        world.react(world.ask(goal, f"answer {number}"))
        world.clock.tick(minutes=1)
    return world


def recalled(world: World, person: str = "ana", actions: Sequence[ActionText] | None = None) -> Recollection:
    return world.memory.recalling.recall(scope(person), ASKED, actions=actions)


def outcome(found: Recollection) -> tuple[list[str], list[str], list[float]]:
    """What was shown and believed, with the numbers behind it."""
    beliefs = found.evidence.beliefs if found.evidence else ()
    scores = [each.intent_score for each in found.exemplars] + [each.value for each in beliefs]
    return [each.episode.id for each in found.exemplars], [each.text for each in beliefs], scores


# Each goal once: the order of equal ones is decided by the last digit, which rounding changes.
@given(st.lists(st.sampled_from(GOALS), unique=True), st.integers(0, 5), st.booleans())
def test_recall_is_the_same_before_while_and_after_everything_is_embedded_anew(
    goals: list[str], limit: int, with_evidence: bool
) -> None:
    opened = again(taught(goals))
    actions = () if with_evidence else None
    found = [outcome(recalled(opened, actions=actions))]
    opened.memory.reembedding.run(limit=limit)
    found.append(outcome(recalled(opened, actions=actions)))
    opened.memory.reembedding.run()
    found.append(outcome(recalled(opened, actions=actions)))
    assert found[0][:2] == found[1][:2] == found[2][:2]
    # Stored vectors are rounded to half precision, those made on the way are not.
    assert found[0][2] == pytest.approx(found[1][2], abs=2e-3)
    assert found[0][2] == pytest.approx(found[2][2], abs=2e-3)
    assert found[0][0] or GOALS[0] not in goals
    assert opened.memory.audit.check() == []


class Closer(HashingEmbedder):
    """To it all texts are much alike: no cosine is below 0.6."""

    name = "closer"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [np.append(each * 0.4**0.5, np.float32(0.6**0.5)) for each in super().embed(texts)]


@pytest.mark.parametrize("limit", [0, 1, 4, 6])
def test_an_action_is_expected_as_much_whichever_model_embedded_what_it_was_approved_for(limit: int) -> None:
    closer = Closer()
    world = World(None, None, closer)
    for number in range(12):
        world.action = "clock" if number % 2 else "timer"
        world.react(world.ask(f"{GOALS[number % 5]} {'now' if number % 2 else 'later'}"))
    opened = again(world, named=lambda name: closer, embedder=HashingEmbedder())

    def expected() -> dict[str, float]:
        actions = [
            ActionText(name="clock", description="a key"),
            ActionText(name="timer", description="rings the bell"),
        ]
        found = recalled(opened, actions=actions)
        assert found.evidence is not None
        return {each.action: each.prior for each in found.evidence.beliefs}

    opened.memory.reembedding.run(limit=limit)
    found = expected()
    opened.memory.reembedding.run()
    assert found == pytest.approx(expected(), abs=2e-3)


@pytest.mark.slow
@given(st.lists(st.sampled_from(GOALS), unique=True), st.integers(0, 5))
def test_postgresql_finds_lessons_of_either_model(goals: list[str], limit: int) -> None:
    with closing(open_postgres()) as store:
        opened = again(taught(goals, store))
        found = [outcome(recalled(opened, actions=()))]
        for until in (limit, None):
            opened.memory.reembedding.run(limit=until)
            found.append(outcome(recalled(opened, actions=())))
    assert found[0][:2] == found[1][:2] == found[2][:2]
    assert found[0][0] or GOALS[0] not in goals


def test_an_old_process_finds_what_a_new_one_embedded() -> None:
    world = taught()
    again(world).memory.reembedding.run()
    old = again(world, embedder=BEFORE)
    assert "answer 0" in [each.episode.output for each in recalled(old).exemplars]


def test_what_another_model_finds_is_only_what_the_asker_may_find() -> None:
    world = World(None, None, BEFORE)
    private = scope("bo", channel="dm", visibility=Visibility.DIRECT)
    world.react(world.ask(ASKED, "under bo's mat", of=private), by="bo")
    opened = again(world)
    assert recalled(opened).exemplars == ()
    assert recalled(opened, actions=()).evidence == recalled(again(World()), actions=()).evidence
    found = opened.memory.recalling.recall(private, ASKED)
    assert [each.episode.output for each in found.exemplars] == ["under bo's mat"]


def test_without_the_embedder_of_before_nothing_of_it_is_found_until_it_is_embedded_anew() -> None:
    opened = again(taught(), named=lambda name: None)
    assert recalled(opened).exemplars == ()
    opened.memory.reembedding.run()
    assert recalled(opened).exemplars


def test_an_embedder_of_before_that_fails_keeps_nobody_from_an_answer(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> list[Vector]:
            raise EmbeddingFailed("its files are gone.")

    opened = again(taught(), named=lambda name: Broken())
    assert recalled(opened).exemplars == recalled(opened, actions=()).exemplars == ()
    assert [each.message for each in caplog.records] == [
        "its files are gone. Until `goodbot reembed` has embedded it anew, what it embedded is not found by meaning."
    ]


def test_an_embedder_that_fails_in_its_own_way_keeps_nobody_from_an_answer(caplog: pytest.LogCaptureFixture) -> None:
    class Away(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> list[Vector]:
            raise ConnectionError("no route to the host")

    opened = World(taught().memory.store, None, Away())
    for _ in range(2):
        assert opened.memory.recalling.recall(scope("ana"), ASKED).exemplars, "found by its words"
    (logged,) = caplog.records
    assert logged.message == (
        "The embedder hashing-384 failed: ConnectionError: no route to the host. "
        "Until it works, lessons are found by their words; a job catches up then."
    )
    assert logged.exc_info is not None, "with the traceback"


def test_models_are_looked_for_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reembedding, "BATCH", 2)
    world = taught()
    asked: list[str] = []

    def named(name: str) -> Embedder | None:
        asked.append(name)
        return by_name(name)

    opened = again(world, named)
    others = opened.memory.core.other_embedders
    assert [set(others.embedded(w, ASKED)) for w in ("terminal:w", "terminal:other") * 2] == [{BEFORE.name}, set()] * 2
    opened.memory.reembedding.run()
    assert set(others.embedded("terminal:w", ASKED)) == {BEFORE.name}
    opened.clock.tick(seconds=LOOK_EVERY.total_seconds())
    assert others.embedded("terminal:w", ASKED) == {}
    assert asked == [BEFORE.name]
    assert others._known == {}, "the model of before is no longer kept in memory"


def statements_of(world: World) -> list[str]:
    """What a recall with evidence asks the database, in order."""
    asked: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        asked.append(statement)

    store = world.memory.store
    assert isinstance(store, SqlStore)
    event.listen(store._engine, "before_cursor_execute", note)
    recalled(world, actions=())
    event.remove(store._engine, "before_cursor_execute", note)
    return asked


def test_another_model_costs_statements_only_as_long_as_it_has_embeddings() -> None:
    world = taught()
    _, alone = statements_of(world), statements_of(world)  # the first one fills the process's copies
    opened = again(world)
    _, beside = statements_of(opened), statements_of(opened)
    assert len(beside) > len(alone)
    opened.memory.reembedding.run()
    opened.clock.tick(seconds=LOOK_EVERY.total_seconds())
    _, after = statements_of(opened), statements_of(opened)  # the first one looks which models there are
    assert after == alone

"""What has no vector of the embedder in use gets one: in any number of goes, while others write."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memory.adapters.embedding import HashingEmbedder
from memory.errors import EmbeddingFailed
from memory.model import Vector
from memory.services.topics import Ingest
from memory.services.upkeep import reembedding
from tests.doubles.memory_world import World, scope

W = "terminal:w"
ASKED = "where is key 3?"


class Failing:
    """Fails as long as it is told to, and from some text on."""

    dimension, name = 384, "hashing-384"

    def __init__(self) -> None:
        self.fails, self.left = False, 1_000_000
        self._real = HashingEmbedder()

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.left -= len(texts)
        if self.fails or self.left < 0:
            raise EmbeddingFailed("the model is away")
        return self._real.embed(texts)


def recalled(world: World) -> list[str]:
    found = world.memory.recalling.recall(scope("ana"), ASKED, config=replace(world.memory.recalling.config, final_k=1))
    return [exemplar.episode.output for exemplar in found.exemplars]


def teach(world: World, count: int = 5) -> None:
    for number in range(count):
        world.react(world.ask(f"where is key {number}?", f"in drawer {number}"))


def other(world: World, name: str = "other") -> World:
    """The same memory with another embedder."""

    class Other(HashingEmbedder):
        @property
        def name(self) -> str:
            return name

    again = World(world.memory.store, None, Other(64))
    again.clock.tick(days=1)
    return again


def test_after_another_embedder_was_chosen_everything_is_found_again(world: World) -> None:
    teach(world)
    topic = world.memory.world.ingest(scope("ana"), Ingest(title="The red key", summary="opens the cellar")).topic_id
    again = other(world)
    assert recalled(again) == []
    assert again.memory.reembedding.waiting() == (5, 1)
    told: list[tuple[int, int]] = []
    done = again.memory.reembedding.run(show=lambda count, total: told.append((count, total)))
    assert (done.episodes, done.topics, done.waiting) == (5, 1, 0)
    assert told[-1] == (6, 6)
    assert recalled(again) == ["in drawer 3"]
    asked = again.memory.world.query(scope("ana"), {"q": "red key"})
    assert topic in [each.topic_id for each in asked.candidates]
    assert again.memory.audit.check() == []
    assert again.memory.reembedding.run() == reembedding.ReembeddingCounts(episodes=0, topics=0, waiting=0)
    assert recalled(world) == []


def test_breaking_off_loses_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reembedding, "BATCH", 2)
    teach(world, 7)
    again = other(world)

    def stop(count: int, total: int) -> None:
        if count >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        again.memory.reembedding.run(show=stop)
    assert again.memory.reembedding.waiting() == (3, 0)
    assert again.memory.reembedding.run(limit=1).waiting == 2
    assert again.memory.reembedding.run().episodes == 2
    assert recalled(again) == ["in drawer 3"]
    assert again.memory.audit.check() == []


def test_what_the_embedder_failed_on_is_found_by_words_and_caught_up_by_the_job(
    caplog: pytest.LogCaptureFixture,
) -> None:
    embedder = Failing()
    world = World(None, None, embedder)
    embedder.fails = True
    teach(world)
    assert recalled(world) == ["in drawer 3"]
    assert world.memory.upkeep.run("embed").error == "the model is away"
    assert [each.message.count("found by their words") for each in caplog.records[:2]] == [1, 0]
    embedder.fails = False
    assert recalled(world) == []
    assert caplog.records[-1].message == "the embedder hashing-384 works again"
    assert world.memory.upkeep.run("embed").summary == "5 episodes and 0 topics embedded"
    assert recalled(world) == ["in drawer 3"]
    assert world.memory.audit.check() == []


def test_what_was_done_before_the_embedder_fails_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reembedding, "BATCH", 2)
    embedder = Failing()
    world = World(None, None, embedder)
    embedder.fails = True
    teach(world)
    embedder.fails, embedder.left = False, 4
    with pytest.raises(EmbeddingFailed):
        world.memory.reembedding.run()
    assert world.memory.reembedding.waiting() == (1, 0)


def test_what_is_erased_meanwhile_gets_no_vector(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    teach(world)
    again = other(world)
    embed = again.memory.core.embedder.embed

    def forgetting(texts: Sequence[str]) -> list[Vector]:
        again.memory.privacy.forget(W, "ana", actor="admin")
        return embed(texts)

    monkeypatch.setattr(type(again.memory.core.embedder), "embed", lambda _, texts: forgetting(texts))
    assert again.memory.reembedding.run().episodes == 0
    assert again.memory.reembedding.waiting() == (0, 0)


@pytest.fixture
def world() -> World:
    return World()

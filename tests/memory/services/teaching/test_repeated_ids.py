"""A source of ids that repeats itself, as a copied machine's may, loses nothing that people wrote."""

import pytest

from memory.adapters.embedding import HashingEmbedder
from memory.errors import Conflict
from memory.model import Audience, Role
from memory.services import Memory
from tests.doubles.memory_world import World, scope

ANA = scope("ana")


def test_a_lesson_is_refused_when_another_has_its_id() -> None:
    world = World()
    memory = Memory(world.memory.store, HashingEmbedder(), clock=world.clock, new_id=lambda: "lesson")

    def teach(question: str, answer: str) -> None:
        at = world.clock.tick()
        memory.teaching.teach(ANA, question, answer, role=Role.MEMBER, audience=Audience.CHANNEL, at=at)

    teach("lunch?", "at noon")
    with pytest.raises(Conflict, match="new id"):
        teach("tea?", "at four")
    answer = world.ask("tea?", "at two")
    with pytest.raises(Conflict, match="new id"):
        memory.teaching.correct(ANA, answer.run_id, "at four", role=Role.MEMBER, at=world.clock.tick())
    assert memory.audit.get(ANA.workspace, "lesson").output == "at noon"
    assert world.recalled("lunch?") == ["lesson"]
    assert memory.audit.check() == []

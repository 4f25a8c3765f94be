"""Nobody gets more than was asked for, however many lessons and corrections there are."""

from hypothesis import given, strategies as st

from memory import EpisodicMemory, Ingest
from memory.model import Audience, Role
from memory.rules.retrieval.prompt import estimate_tokens, render_lessons
from tests.doubles.memory_world import World, scope

kinds = st.lists(st.sampled_from(["like", "hate", "correct", "teach", "topic"]), max_size=8)


@given(kinds, st.integers(0, 6), st.integers(0, 400))
def test_k_and_the_budget_are_never_exceeded(made: list[str], k: int, budget: int) -> None:
    world = World()
    for number, what in enumerate(made):
        goal, author = f"where is the key {number % 3}", scope(f"p{number}")
        if what == "teach":
            world.memory.teaching.teach(
                author,
                goal,
                f"box {number}",
                role=Role.TEACHER,
                audience=Audience.WORKSPACE,
                at=world.clock.tick(),
            )
        elif what == "topic":
            world.memory.world.ingest(author, Ingest(title=goal, audience=Audience.WORKSPACE))
        else:
            answer = world.ask(goal, f"pot {number}", of=author)
            world.react(answer, "👍" if what == "like" else "👎", by="tea", role=Role.TEACHER)
            if what == "correct":
                world.correct(answer, f"roof {number}", by="tea", role=Role.TEACHER)
    episodic = EpisodicMemory(world.memory, scope("zoe"))
    assert len(episodic.retrieve("where is the key", k)) <= k
    found = world.memory.world.query(scope("zoe"), {"q": "where is the key", "top_k": k, "reinforce": False})
    assert len(found.candidates) <= k
    exemplars = world.memory.recalling.recall(scope("zoe"), "where is the key").exemplars
    text, shown = render_lessons(exemplars, budget_tokens=budget)
    assert estimate_tokens(text) <= budget or (text, shown) == ("", ())
    assert [each.episode.id for each in shown] == [
        each.episode.id for each in exemplars if each.episode.id in {s.episode.id for s in shown}
    ]

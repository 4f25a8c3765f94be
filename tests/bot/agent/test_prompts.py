"""The prompts' files, their digest, and that every episode has it."""

from bot.agent.dialogue import system_prompt
from bot.agent.prompts import DIGEST, PROMPTS, digest_of, sections_of
from memory.model import EventKind
from memory.ports import EpisodeFilter
from tests.doubles.conversation import Chat
from tests.doubles.model import ScriptedModel, answer, expand


def test_every_prompt_is_a_file_and_any_change_of_one_shows() -> None:
    assert sorted(PROMPTS) == ["agent", "feedback", "grading", "understanding"]
    assert digest_of(PROMPTS) == DIGEST
    for name in PROMPTS:
        assert digest_of({**PROMPTS, name: f"{PROMPTS[name]}."}) != DIGEST
    moved = {"agent": PROMPTS["agent"] + PROMPTS["feedback"]}
    assert digest_of(moved) != digest_of({**moved, "feedback": ""})


def test_every_part_of_the_agents_prompt_is_used() -> None:
    whole = "\n".join(
        system_prompt((), "native", has_conversation=True, preferences=["Be short."], shows_answer=shown)
        for shown in (False, True)
    )
    unused = {name for name, text in sections_of("agent").items() if text not in whole}
    assert unused == {"memory"}  # only with its tools


async def test_the_digest_is_on_every_episode() -> None:
    model = ScriptedModel([expand("sequence", "one thing", "another thing"), answer("a"), answer("b")])
    chat = Chat(model=model)
    await chat.ask("two things?")
    memory = chat.world.memory
    (root,) = memory.audit.episodes("terminal:w", EpisodeFilter(roots_only=True))
    view = memory.audit.run("terminal:w", root.run_id)
    assert len(view.nodes) == 3
    made = [event.detail["prompts"] for event in view.events if event.kind is EventKind.CREATED]
    assert made == [DIGEST] * 3

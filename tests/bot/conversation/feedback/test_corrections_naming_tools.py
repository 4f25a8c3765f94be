"""Corrections that name a tool teach the tool, and the person is told so."""

import pytest

from bot.agent.tools.calculator import calculator_tool
from bot.agent.tools.clock import clock_tool
from memory.model import Role
from tests.doubles.conversation import Chat
from tests.doubles.memory_world import scope
from tests.doubles.model import NOW

QUESTION = "how late is it where our customers are?"
TOOLS = (clock_tool(lambda: NOW), calculator_tool())
ACTIONS = [tool.spec.as_action for tool in TOOLS]


@pytest.fixture
def chat() -> Chat:
    return Chat(tools=TOOLS)


async def corrected(chat: Chat, text: str, role: Role = Role.MEMBER) -> str:
    wrong = await chat.ask(QUESTION)
    return await chat.correct(text, message_id=wrong, role=role)


def best(chat: Chat, goal: str = QUESTION) -> tuple[str, str]:
    belief = chat.world.memory.recalling.weighing.weigh(scope(), goal, ACTIONS).beliefs[0]
    return belief.action, belief.text


@pytest.mark.parametrize("text", ["clock", "use the clock", "No, please use the clock for that."])
async def test_the_tool_is_taught_and_named_in_the_confirmation(chat: Chat, text: str) -> None:
    said = await corrected(chat, text)
    assert said.startswith("Next time I will use `clock` for that. Saved as your lesson")
    assert best(chat) == ("clock", "")


@pytest.mark.parametrize("text", ["It is five.", "The clock in the hall is right.", "Don't use the clock."])
async def test_any_other_text_is_the_answer(chat: Chat, text: str) -> None:
    assert (await corrected(chat, text)).startswith("Saved as")
    assert best(chat) == ("answer", text)


async def test_a_tool_is_promised_to_nobody_whose_lesson_does_not_count(chat: Chat) -> None:
    assert "Next time" not in await corrected(chat, "use the clock", Role.GUEST)


async def test_it_is_taught_for_that_question_only(chat: Chat) -> None:
    before = best(chat, "who waters the plants on the roof?")
    await corrected(chat, "use the clock")
    assert best(chat, "who waters the plants on the roof?") == before

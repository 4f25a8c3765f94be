"""Who may use which tool where, as the model meets it."""

from dataclasses import replace

from bot.agent.tools.calculator import calculator_tool
from bot.agent.tools.clock import clock_tool
from bot.config.tool_rules import read_rule
from bot.errors import MessengerUnavailable
from bot.model import ToolTurn
from memory.model import Role
from tests.doubles.conversation import ANA, Chat
from tests.doubles.model import NOW, call


def _chat(*rules: str) -> Chat:
    tools = [clock_tool(lambda: NOW), calculator_tool()]
    return Chat(tools=tools, rules=[read_rule(rule) for rule in rules])


def _offered(chat: Chat) -> set[str]:
    return {tool.name for tool in chat.oracle.requests[-1].tools} & {"clock", "calculator"}


async def test_a_tool_is_offered_to_whom_its_rule_names() -> None:
    chat = _chat("clock for teachers")
    await chat.sink(chat.message("what time is it?"))
    await chat.bot.idle()
    assert _offered(chat) == {"calculator"}
    await chat.sink(chat.message("and what time is it now?", role=Role.TEACHER))
    await chat.bot.idle()
    assert _offered(chat) == {"calculator", "clock"}


async def test_a_tool_is_offered_where_its_rule_says() -> None:
    chat = _chat(f"clock in {ANA.channel}", "calculator in C99")
    await chat.ask("what time is it?")
    assert _offered(chat) == {"clock"}


async def test_a_tool_that_is_not_offered_is_not_run_either() -> None:
    chat = _chat("clock for nobody")
    chat.oracle.answers["what time is it?"] = call("clock")
    await chat.ask("what time is it?")
    last = chat.oracle.requests[-1].turns[-1]
    assert isinstance(last, ToolTurn)
    assert "There is no tool named 'clock'" in last.content


async def test_who_asks_is_looked_up_where_it_matters() -> None:
    async def teacher() -> Role:
        return Role.TEACHER

    async def unknown() -> Role:
        raise MessengerUnavailable("down")

    for find_role, offered in ((teacher, {"calculator", "clock"}), (unknown, {"calculator"})):
        chat = _chat("clock for teachers")
        await chat.sink(replace(chat.message("what time is it?"), find_role=find_role))
        await chat.bot.idle()
        assert _offered(chat) == offered

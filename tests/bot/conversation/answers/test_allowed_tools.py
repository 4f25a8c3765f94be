"""Who may use which tool where, as the model meets it."""

from collections.abc import Mapping
from dataclasses import replace

from bot.agent.tools.calculator import calculator_tool
from bot.agent.tools.clock import clock_tool
from bot.agent.tools.registry import Tool, ToolContext
from bot.config.tool_rules import read_rule
from bot.errors import MessengerUnavailable
from bot.model import ToolTurn
from memory.model import Grant, Option, Permission, Role
from tests.doubles.conversation import ANA, TEA, Chat
from tests.doubles.model import NOW, SCOPE, ScriptedModel, answer, call, make_tree


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


async def test_a_teacher_who_lets_a_tool_run_gives_the_asker_none_of_their_own() -> None:
    goal, roles = "send it", list[Role]()

    async def send(_: Mapping[str, object], context: ToolContext) -> str:
        roles.append(context.role)
        return "It is sent."

    tool = Tool(name="send", description="Sends.", parameters={"type": "object"}, run=send, has_side_effects=True)
    rules = [read_rule("clock for teachers")]
    chat = Chat(tools=[clock_tool(lambda: NOW), calculator_tool(), tool], rules=rules)
    chat.oracle.answers[goal] = call("send")
    await chat.ask(goal)
    chat.oracle.answers[goal] = "Done."
    (do_it, *_) = chat.messenger.posts[-1].choices
    await chat.command(do_it.command, do_it.argument, TEA, role=Role.TEACHER)
    await chat.bot.idle()
    assert roles == [Role.TEACHER]
    assert _offered(chat) == {"calculator"}


async def test_only_what_was_chosen_is_done_in_the_role_of_who_chose() -> None:
    roles: list[tuple[str, Role]] = []

    def noting(name: str) -> Tool:
        async def run(_: Mapping[str, object], context: ToolContext) -> str:
            roles.append((name, context.role))
            return f"{name} is done."

        return Tool(name=name, description=name, parameters={"type": "object"}, run=run, has_side_effects=name == "a")

    model = ScriptedModel([call("b"), answer("Done.")])
    permission = Permission(grant=Grant.ONCE, by="tea")
    chosen = Option(action="a", label="a", permission=permission)
    tree = make_tree(model, noting("a"), noting("b"))
    await tree.run("do it", SCOPE, run_id="r", chosen=chosen, role=Role.TEACHER)
    assert roles == [("a", Role.TEACHER), ("b", Role.MEMBER)]

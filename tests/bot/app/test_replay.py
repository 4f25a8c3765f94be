"""Replay: which approved answers would now be different, with nothing posted, carried out or kept."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.agent.tools.registry import Tool, ToolContext
from bot.app.replay import Differs, Replay, ReplayRequest, approved_nodes, replay
from bot.cli.root import goodbot
from bot.errors import ModelUnavailable
from memory.adapters.dry_run_store import DryRunStore
from memory.adapters.sql import SqlStore
from memory.errors import NotFound
from memory.ports import EpisodeFilter
from tests.doubles.conversation import Chat
from tests.doubles.memory_world import World, scope
from tests.doubles.model import Reply, ScriptedModel, answer, call, make_tree
from tests.doubles.openai_server import OpenAIServer, failure, text
from tests.memory.adapters.store_samples import episode

EFFECTS: list[Mapping[str, object]] = []
QUESTION = "how many days?"


async def _send(arguments: Mapping[str, object], _: ToolContext) -> str:
    EFFECTS.append(arguments)
    return f"sent to {arguments['to']}"


async def _look(arguments: Mapping[str, object], _: ToolContext) -> str:
    return f"the docs say seven about {arguments['query']}"


def _tool(
    name: str,
    argument: str,
    run: Callable[[Mapping[str, object], ToolContext], Awaitable[str]],
    *,
    has_effects: bool = False,
) -> Tool:
    schema = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return Tool(name=name, description=name, parameters=schema, run=run, has_side_effects=has_effects)


TOOLS = (_tool("send", "to", _send, has_effects=True), _tool("look", "query", _look))


async def taught(*replies: Reply, question: str = QUESTION) -> World:
    """A memory where people approved of what these replies came to."""
    world = World()
    chat = Chat(world, ScriptedModel(replies), tools=TOOLS)
    await chat.react(await chat.ask(question))
    return world


async def again(world: World, *replies: Reply, without_own: bool = False, limit: int = 50) -> Replay:
    tree = make_tree(ScriptedModel(replies, name="new"), *TOOLS, new_id=world.ids)
    return await replay(world.memory, tree, ReplayRequest(workspace="terminal:w", without_own=without_own, limit=limit))


LOOKED = (call("look", query="days of the week"), answer("seven, see https://docs.example/days"))


@pytest.mark.parametrize(
    ("before", "now", "differs"),
    [
        ([answer("It has seven days.")], [answer("it has  Seven days.")], ()),
        ([answer("It is in room 5 there.")], [answer("It is in room 6 there.")], (Differs.MEANING,)),
        ([answer("seven")], [answer("ask the help desk about it")], (Differs.MEANING,)),
        (LOOKED, LOOKED, ()),
        (LOOKED, [call("look", query="Days of  the week"), LOOKED[1]], ()),
        (LOOKED, [LOOKED[1]], (Differs.ACTION,)),
        (LOOKED, [call("look", query="Peru"), LOOKED[1]], (Differs.ARGUMENTS,)),
        (LOOKED, [LOOKED[0], answer("seven, see https://docs.example/week")], (Differs.SOURCES,)),
        ([answer("seven")], [call("ask_person", question="which days?")], (Differs.ASKED,)),
        ([answer("seven")], [call("fail", reason="no idea")], (Differs.FAILED,)),
    ],
)
async def test_what_differs(before: Sequence[Reply], now: Sequence[Reply], differs: tuple[Differs, ...]) -> None:
    done = await again(await taught(*before), *now)
    assert [each.differs for each in done.answers] == [differs]
    assert len(done.different) == bool(differs)


async def test_a_tool_with_effects_does_not_run_and_counts_as_done() -> None:
    EFFECTS.clear()
    world = await taught(answer("told"), question="tell Bo")
    done = await again(world, call("send", to="bo"), answer("told"))
    assert EFFECTS == []
    assert done.answers[0].differs == (Differs.ACTION,)
    assert [deed.tool for deed in done.answers[0].after.deeds] == ["send"]


async def test_only_what_people_approved_of_is_replayed_and_of_each_question_the_newest() -> None:
    world = World()
    model = ScriptedModel([answer(each) for each in ("one", "two", "three", "four")])
    chat = Chat(world, model, tools=TOOLS)
    question = "how many days does a week have here?"
    await chat.react(await chat.ask(question))
    await chat.react(await chat.ask(question))
    await chat.ask("how many weeks does a year have?")
    await chat.react(await chat.ask("how many years does a reign have?"), "👎")
    found = approved_nodes(world.memory, ReplayRequest(workspace="terminal:w"))
    assert [nodes[0].output for nodes in found] == ["two"]
    assert approved_nodes(world.memory, ReplayRequest(workspace="terminal:other")) == []
    later = world.clock() + timedelta(days=9)
    assert approved_nodes(world.memory, ReplayRequest(workspace="terminal:w", since=later)) == []
    assert approved_nodes(world.memory, ReplayRequest(workspace="terminal:w", channel="c2")) == []


async def test_an_answer_may_be_tried_without_the_lesson_it_became() -> None:
    world = await taught(answer("seven"))
    for without_own in (False, True):
        model = ScriptedModel([answer("seven")])
        chat = Chat(world, model)
        tree = chat.bot._answering._agent
        await replay(world.memory, tree, ReplayRequest(workspace="terminal:w", without_own=without_own))
        assert ("seven" in str(model.requests[0].turns[0])) is not without_own


async def test_a_model_out_of_reach_ends_it() -> None:
    world = World()
    chat = Chat(world, ScriptedModel([answer(str(number)) for number in range(5)]))
    for number in range(5):
        asker = scope(f"p{number}")
        await chat.react(await chat.ask(f"question number {number}?", asker), by=asker)
    done = await again(world, *([ModelUnavailable("gone")] * 3))
    assert (len(done.answers), done.left_out) == (3, 2)
    assert {each.differs for each in done.answers} == {(Differs.FAILED,)}


def test_nothing_written_through_a_dry_store_stays() -> None:
    store = SqlStore.in_memory()
    World(store).ask("before?")
    dry = DryRunStore(store)
    with dry.write() as tx:
        tx.episodes.add(episode("2", "terminal:w"))
        assert len(tx.episodes.search("terminal:w", EpisodeFilter())) == 2
    with dry.read() as tx:
        assert [each.goal for each in tx.episodes.search("terminal:w", EpisodeFilter())] == ["before?"]
    with pytest.raises(NotFound), dry.write() as tx:
        raise NotFound("of a use case")


# Through the command line and the real HTTP client ----------------------------------------------------------------


def _home(folder: Path, server: OpenAIServer) -> dict[str, str]:
    home = {
        "HOME": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'goodbot.db'}",
        "GOODBOT_EMBEDDER_NAME": "hashing",
        "GOODBOT_LOG_FILE": str(folder / "goodbot.log"),
        "OPENAI_BASE_URL": server.base_url,
    }
    with closing(SqlStore.open(home["DATABASE_URL"])) as store:
        world = World(store)
        for number in (1, 2):
            of = scope("you", workspace="terminal:local", channel="terminal")
            world.react(world.ask(f"where is room {number}?", f"on floor {number}", of=of), by="you")
    return home


def _run(home: Mapping[str, str], *options: str) -> Result:
    return CliRunner().invoke(goodbot, ["replay", "--model", "openai:gpt-4o-mini", *options], env=dict(home))


def _rows(home: Mapping[str, str]) -> dict[str, list[object]]:
    with closing(SqlStore.open(home["DATABASE_URL"])) as store, store.connected() as connection:
        names = [row[0] for row in connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: list(connection.exec_driver_sql(f"SELECT * FROM {name}").all()) for name in names}


def test_the_command_says_what_is_different_and_by_its_exit_code_too(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        home = _home(tmp_path, server)
        before = _rows(home)
        server.script(text("on floor 2"), text("on floor 1"))
        same = _run(home)
        assert (same.exit_code, same.output.splitlines()[-1]) == (
            0,
            "2 of 2 answers would be the same with openai:gpt-4o-mini, 0 different. "
            "0.0005 US$ (2400 tokens, 2 answers).",
        )
        server.script(text("on floor 2"), text("I think it is on floor 7"))
        changed = _run(home, "--json")
        assert changed.exit_code == 1
        found = json.loads(changed.output)
        assert (found["replayed"], found["different"], found["model"]) == (2, 1, "openai:gpt-4o-mini")
        assert [each["differs"] for each in found["answers"]] == [[], ["meaning"]]
        server.script(text("on floor 2"), text("no idea"))
        assert _run(home, "--allow", "0.5").exit_code == 0
        server.script(text("no idea"))
        shown = _run(home, "--limit", "1")
        assert "“where is room 2?”: meaning" in shown.output
        assert "  approved: on floor 2\n  now:      no idea\n" in shown.output
        server.script(*([failure(401, "no such key")] * 2))
        assert _run(home).exit_code == 1
        assert _run(home, "--channel", "nowhere").exit_code == 2
        assert _rows(home) == before

"""Other agents through the protocol's own client: in process, over HTTP with keys, and as a real process."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from bot.adapters.mcp.explained_memory import ExplainedMemory
from bot.adapters.mcp.server import make_http_application, make_server, sessions
from bot.adapters.web.server import serving
from bot.app.mcp import CHANNEL_HEADER, PERSON_HEADER, key_required, memory_of_request
from bot.config import Settings
from memory.adapters.sql import SqlStore
from memory.model import Role, Scope, Visibility
from memory.model.api_key import Right
from memory.model.teaching import EmojiMap
from tests.doubles.fork_server import forked_command
from tests.doubles.memory_world import World, scope
from tests.doubles.process import Home

EMOJI = EmojiMap(["👍"], ["👎"])


@pytest.fixture
def world() -> World:
    return World(SqlStore.in_memory())


def client_of(world: World, person: Scope, role: Role = Role.MEMBER) -> Client:
    opened = ExplainedMemory(memory=world.memory, scope=person, role=role, emoji=EMOJI)
    return Client(make_server(lambda _, __: opened))


async def call(client: Client, tool: str, **arguments: object) -> Any:
    """What a tool returned, which must be no error."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result.content
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: object) -> str:
    """Why a tool refused."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert result.is_error
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def test_what_an_agent_did_becomes_a_lesson_when_its_person_says_so(world: World) -> None:
    async with client_of(world, scope()) as agent:
        assert (await call(agent, "recall", goal="where is the spare key?"))["lessons"] == []
        steps = [{"thought": "I look it up.", "tool": "search", "arguments": {"what": "key"}, "observation": "a pot"}]
        kept = await call(agent, "record", goal="where is the spare key?", answer="Under the pot.", steps=steps)
        assert kept["verdict"] == "pending"
        assert (await call(agent, "recall", goal="where is the spare key?"))["lessons"] == []
        assert (await call(agent, "react", answer_id=kept["answer_id"], emoji="👍"))["verdict"] == "success"
        [lesson] = (await call(agent, "recall", goal="where is the spare key?"))["lessons"]
        assert (lesson["advice"], lesson["answer"], lesson["taught_by"]) == ("REPEAT", "Under the pot.", "ana")
        assert "ana 👍" in (await call(agent, "why", id=kept["answer_id"]))["result"]
        assert "As a lesson" in (await call(agent, "why", id=lesson["id"]))["result"]
        assert (await call(agent, "react", answer_id=kept["answer_id"], emoji="👍", withdraw=True))[
            "verdict"
        ] == "pending"


async def test_a_correction_is_followed(world: World) -> None:
    async with client_of(world, scope(), Role.TEACHER) as agent:
        kept = await call(agent, "record", goal="which room is the retro in?", answer="Room 3.")
        await call(agent, "react", answer_id=kept["answer_id"], emoji="👎")
        made = await call(agent, "correct", answer_id=kept["answer_id"], text="Room 5.")
        assert made["verdict"] == "success"
    async with client_of(world, scope("ben")) as other:
        found = await call(other, "recall", goal="which room is the retro in?")
    assert "Room 5." in [each["answer"] for each in found["lessons"]]
    assert found["known_answer"] == "Room 5."


async def test_chat_and_agents_share_one_memory(world: World) -> None:
    answer = world.ask("who owns the deploy?", "Tess does.")
    world.react(answer)
    async with client_of(world, scope()) as agent:
        [lesson] = (await call(agent, "recall", goal="who owns the deploy?"))["lessons"]
    assert lesson["answer"] == "Tess does."


async def test_scopes_hold_for_agents_too(world: World) -> None:
    async with client_of(world, scope(visibility=Visibility.DIRECT, channel="d1")) as anas:
        kept = await call(anas, "record", goal="what is my door code?", answer="It is 4711.")
        await call(anas, "react", answer_id=kept["answer_id"], emoji="👍")
    strangers = [
        scope("ben", visibility=Visibility.DIRECT, channel="d2"),
        scope("ana", workspace="terminal:other", visibility=Visibility.DIRECT, channel="d1"),
        scope("ben"),
    ]
    for stranger in strangers:
        async with client_of(world, stranger) as other:
            assert (await call(other, "recall", goal="what is my door code?"))["lessons"] == []
            for tool, arguments in (("react", {"emoji": "👎"}), ("correct", {"text": "0000"})):
                assert "there is no answer" in await refused(other, tool, answer_id=kept["answer_id"], **arguments)
            assert "4711" not in await refused(other, "why", id=kept["answer_id"])


async def test_why_tells_no_correction_that_counts_for_somebody_else(world: World) -> None:
    async with client_of(world, scope()) as anas:
        kept = await call(anas, "record", goal="where is the key?", answer="Under the mat.")
    for there in (scope("ben"), scope("ben", channel="d2", visibility=Visibility.DIRECT)):
        run_id = world.memory.answers.of_message(scope(), kept["answer_id"], world.clock.tick())
        assert run_id is not None
        world.memory.teaching.correct(there, run_id, "In vault 4711.", role=Role.MEMBER, at=world.clock())
        for reader, sees in (("ana", False), ("ben", there.channel == "c1")):
            async with client_of(world, scope(reader)) as agent:
                told = await call(agent, "why", id=kept["answer_id"])
                assert ("vault 4711" in told["result"]) == sees


async def test_what_cannot_be_done_is_said(world: World) -> None:
    async with client_of(world, scope()) as agent:
        kept = await call(agent, "record", goal="a question", answer="an answer")
        assert "has no meaning here" in await refused(agent, "react", answer_id=kept["answer_id"], emoji="🐙")
        assert "there is no answer" in await refused(agent, "react", answer_id="nothing", emoji="👍")
        assert "`recall` and `record` give ids" in await refused(agent, "why", id="nothing")
        assert "recall needs a goal" in await refused(agent, "recall", goal="  ")
        assert await refused(agent, "recall", goal="x", limit=10_000)
        assert await refused(agent, "record", goal="x", answer="")


async def test_the_tools_say_what_they_change(world: World) -> None:
    async with client_of(world, scope()) as agent:
        tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
    assert set(tools) == {"recall", "record", "react", "correct", "why"}
    reading = {name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint}
    assert reading == {"recall", "why"}
    assert all(tool.description and tool.input_schema["type"] == "object" for tool in tools.values())


# Over HTTP -----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def served(world: World) -> AsyncIterator[str]:
    server = make_server(memory_of_request(world.memory, EMOJI))
    application = make_http_application(server, "127.0.0.1", key_required(Settings(), world.memory))
    async with sessions(server), serving(application, host="127.0.0.1", port=0) as url:
        yield f"{url}/mcp"


@asynccontextmanager
async def over_http(url: str, key: str, **headers: str) -> AsyncIterator[Client]:
    given = {"Authorization": f"Bearer {key}", **headers}
    async with (
        httpx2.AsyncClient(headers=given) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


async def test_over_http_a_key_says_where_and_a_header_for_whom(world: World) -> None:
    _, key = world.memory.api_keys.make("terminal:w", "ide", Right.TEACH, by="ana")
    async with served(world) as url:
        async with over_http(url, key, **{PERSON_HEADER: "ana", CHANNEL_HEADER: "c1"}) as agent:
            kept = await call(agent, "record", goal="where is the key?", answer="Under the pot.")
            await call(agent, "react", answer_id=kept["answer_id"], emoji="👍")
            [lesson] = (await call(agent, "recall", goal="where is the key?"))["lessons"]
            assert lesson["taught_by"] == "ana"
        async with over_http(url, key, **{PERSON_HEADER: "ben", CHANNEL_HEADER: "c2"}) as other:
            assert (await call(other, "recall", goal="where is the key?"))["lessons"] == []


async def test_a_key_is_needed_and_its_right_and_channel_hold(world: World) -> None:
    make = world.memory.api_keys.make
    _, reads = make("terminal:w", "reads", Right.QUERY, by="ana")
    _, bound = make("terminal:w", "bound", Right.TEACH, by="ana", channel="c1")
    async with served(world) as url:
        async with httpx2.AsyncClient() as http:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            assert (await http.post(url, json=body)).status_code == 401
            assert (await http.post(url, json=body, headers={"X-API-Key": "wrong"})).status_code == 401
        async with over_http(url, reads) as agent:
            assert (await call(agent, "recall", goal="x"))["lessons"] == []
            assert "right teach" in await refused(agent, "record", goal="x", answer="y")
        async with over_http(url, bound, **{CHANNEL_HEADER: "c2"}) as agent:
            assert "for channel c1 alone" in await refused(agent, "recall", goal="x")


# A real process ------------------------------------------------------------------------------------------------------


@pytest.mark.process
async def test_an_agent_starts_it_and_it_shares_the_terminals_memory(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.run("chat", given="where is the spare key?\n👎\n/correct Under the blue pot.\n")
    command, *arguments = forked_command("bot", "mcp")
    server = StdioServerParameters(command=command, args=arguments, env=home.environment({}), cwd=str(tmp_path))
    async with Client(server) as agent:
        found = await call(agent, "recall", goal="where is the spare key?")
        kept = await call(agent, "record", goal="who has the van?", answer="Ben has.")
        await call(agent, "react", answer_id=kept["answer_id"], emoji="👍")
    assert "Under the blue pot." in [each["answer"] for each in found["lessons"]]
    listed = json.loads(home.run("episodes", "list", "--json").out)
    assert "who has the van?" in json.dumps(listed)

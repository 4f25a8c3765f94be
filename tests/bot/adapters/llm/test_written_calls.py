"""Replies that no provider would accept back, and what models write into their text instead of sending it as calls."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart

from bot.adapters.llm.provider_model import ProviderModel
from bot.adapters.llm.written_calls import calls_in, text_of
from bot.errors import MalformedReply, ModelRefused
from bot.model import ModelRequest, ModelTurn, ToolSpec, ToolTurn, UserTurn
from tests.doubles import openai_server as server_says
from tests.doubles.openai_server import OpenAIServer

CLOCK = ToolSpec(
    name="clock",
    description="Tells the time.",
    parameters={"type": "object", "properties": {"zone": {"type": "string"}}},
)
REQUEST = ModelRequest(system="You are Goodbot.", turns=(UserTurn(text="What time is it?"),), tools=(CLOCK,))
STREAMED = replace(REQUEST, on_partial=lambda _: None)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
async def model(server: OpenAIServer) -> AsyncIterator[ProviderModel]:
    built = ProviderModel("openai:gpt-4o-mini", base_url=server.base_url, api_key="sk-test", retries=0)
    yield built
    await built.close()


@pytest.mark.parametrize(
    ("invented", "sent"),
    [("", "unnamed"), ("functions.clock", "functions_clock"), ("look it up!", "look_it_up_"), ("x" * 99, "x" * 64)],
)
async def test_a_name_that_is_none_is_sent_back_as_one(
    server: OpenAIServer, model: ProviderModel, invented: str, sent: str
) -> None:
    server.script(server_says.tool_call(invented, "{}"), server_says.text("Noon."))
    first = await model.reply(REQUEST)
    assert first.turn.calls[0].name == invented
    told = ToolTurn(call_id=first.turn.calls[0].id, name=invented, content="There is no such tool.", is_error=True)
    await model.reply(replace(REQUEST, turns=(*REQUEST.turns, first.turn, told)))
    assert server.asked[1].body["messages"][2]["tool_calls"][0]["function"]["name"] == sent


async def test_calls_with_one_id_get_two(server: OpenAIServer, model: ProviderModel) -> None:
    message = json.loads(server_says.tool_call("clock", '{"zone": "Oslo"}').body)
    calls = message["choices"][0]["message"]["tool_calls"]
    calls.append({**calls[0], "function": {"name": "clock", "arguments": '{"zone": "Rome"}'}})
    server.script(server_says.body(json.dumps(message)), server_says.text("Noon."))
    first = (await model.reply(REQUEST)).turn
    told = [ToolTurn(call_id=each.id, name=each.name, content="12:00") for each in first.calls]
    await model.reply(replace(REQUEST, turns=(*REQUEST.turns, first, *told)))
    sent = server.asked[1].body["messages"]
    ids = [each["id"] for each in sent[2]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [each["tool_call_id"] for each in sent[3:]] == ids


@pytest.mark.parametrize("request_", [REQUEST, STREAMED], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "said",
    [
        "<think>Let me count.</think>It is noon.",
        "\n<think>\nHm\n</think>\n\nIt is noon.",
        "Hm.\n</think>\n\nIt is noon.",
        "Hm.</think>\n\nIt is noon.",
        "Hm.\n </think> \nIt is noon.",
    ],
)
async def test_thoughts_between_tags_are_no_part_of_the_answer(
    server: OpenAIServer, model: ProviderModel, request_: ModelRequest, said: str
) -> None:
    server.script(server_says.text(said))
    assert (await model.reply(request_)).turn.text == "It is noon."
    assert len(server.asked) == 1


def test_a_thought_that_the_library_did_not_see_end_is_no_part_of_the_answer() -> None:
    thought = ThinkingPart(content="Hm.</think>It is ", id="content")
    assert text_of(ModelResponse(parts=[thought, TextPart(content="noon.")])) == "It is noon."


@pytest.mark.parametrize("request_", [REQUEST, STREAMED], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "said",
    [
        "Models write `</think>` after their thoughts, and `<tool_call>` before calls.",
        "Thoughts stand between `<think>` and `</think>`.",
        "Thoughts begin with <think> here.",
        "A thought:\n```\n<think>\nHm.\n</think>\n```\nNothing more.",
        "Thoughts end with </think>\nand the answer follows.",
    ],
)
async def test_tags_within_an_answer_stay(
    server: OpenAIServer, model: ProviderModel, request_: ModelRequest, said: str
) -> None:
    server.script(server_says.text(said))
    assert (await model.reply(request_)).turn.text == said


@pytest.mark.parametrize("request_", [REQUEST, STREAMED], ids=["whole", "streamed"])
async def test_a_thought_alone_is_no_reply(server: OpenAIServer, model: ProviderModel, request_: ModelRequest) -> None:
    server.script(server_says.text("<think>Let me count"))
    with pytest.raises(MalformedReply):
        await model.reply(request_)


async def test_a_refusal_in_a_stream_is_final(server: OpenAIServer, model: ProviderModel) -> None:
    server.script(server_says.refusal("I will not do that."), server_says.text("asked twice"))
    with pytest.raises(ModelRefused, match="I will not do that"):
        await model.reply(STREAMED)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "said",
    [
        '{"name": "clock", "arguments": {"zone": "Oslo"}}',
        '```json\n{"type": "function", "name": "clock", "parameters": {"zone": "Oslo"}}\n```',
        '[{"name": "clock", "arguments": {"zone": "Oslo"}}]',
        '<tool_call>\n{"name": "clock", "arguments": {"zone": "Oslo"}}\n</tool_call>',
        '<think>Hm.</think><tool_call>{"name": "clock", "arguments": {"zone": "Oslo"}}',
        '<tool_call>{"name": "clock", "arguments": {"zone": "Oslo"}}</tool_call>\n<tool_response>Noon.</tool_response>',
    ],
)
@pytest.mark.parametrize("request_", [REQUEST, STREAMED], ids=["whole", "streamed"])
async def test_a_call_written_as_text_is_a_call(
    server: OpenAIServer, model: ProviderModel, request_: ModelRequest, said: str
) -> None:
    server.script(server_says.text(said))
    turn = (await model.reply(request_)).turn
    assert [(call.name, call.arguments) for call in turn.calls] == [("clock", {"zone": "Oslo"})]
    assert turn.text == ""
    assert turn.calls[0].id


async def test_words_before_a_written_call_are_kept_and_a_broken_one_is_no_answer(
    server: OpenAIServer, model: ProviderModel
) -> None:
    server.script(server_says.text('Let me look. <tool_call>{"name": clock}</tool_call>'))
    turn = (await model.reply(REQUEST)).turn
    assert (turn.text, [call.arguments for call in turn.calls]) == ("Let me look.", [None])


@pytest.mark.parametrize(
    "said",
    [
        'Models write `<tool_call>{"name": "clock", "arguments": {}}</tool_call>` and wait.',
        'For example:\n```\n<tool_call>{"name": "clock", "arguments": {}}</tool_call>\n```',
        'The note says <tool_call>{"name": "clock", "arguments": {}}</tool_call>. Nothing else stands there.',
        'A call begins with `<tool_call>{"name": "clock"`, and ends with another tag.',
    ],
)
async def test_a_call_that_an_answer_tells_of_is_no_call(server: OpenAIServer, model: ProviderModel, said: str) -> None:
    server.script(server_says.text(said))
    assert (await model.reply(STREAMED)).turn == ModelTurn(text=said)


@pytest.mark.parametrize("blank", ["\n", "```\n", "<tool_call>\n"])
def test_calls_are_looked_for_in_linear_time(blank: str) -> None:
    said = "```" + blank * 3_000 + "x"
    assert calls_in(said, {"clock"}) == (said, ())


@pytest.mark.parametrize(
    "said",
    [
        '{"name": "Ana", "arguments": {"zone": "Oslo"}}',
        '{"name": "clock"}',
        "[]",
        "{}",
        '{"name": "clock", "argum',
        "[",
    ],
)
async def test_other_json_is_an_answer(server: OpenAIServer, model: ProviderModel, said: str) -> None:
    server.script(server_says.text(said))
    assert (await model.reply(REQUEST)).turn == ModelTurn(text=said)


async def test_without_tools_nothing_is_a_call(server: OpenAIServer, model: ProviderModel) -> None:
    said = '{"name": "clock", "arguments": {}}'
    server.script(server_says.text(said))
    assert (await model.reply(replace(REQUEST, tools=()))).turn == ModelTurn(text=said)

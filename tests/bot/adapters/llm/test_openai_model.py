"""The real openai client, through pydantic-ai and our port, against a server on this machine."""

import asyncio
import json
import socket
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace

import pytest

from bot.adapters.llm.provider_model import ProviderModel
from bot.errors import ConfigError, MalformedReply, ModelError, ModelRefused, ModelRejected, ModelUnavailable
from bot.model import ModelReply, ModelRequest, ModelTurn, ToolCall, ToolSpec, ToolTurn, UserTurn
from tests.doubles import openai_server as server_says
from tests.doubles.openai_server import OpenAIServer, Scripted

KEY = "sk-secret-0123456789"

CLOCK = ToolSpec(
    name="clock",
    description="The time in a place. For example: what time is it in Tokyo",
    parameters={
        "type": "object",
        "properties": {"zone": {"type": "string", "description": "A place"}},
        "required": ["zone"],
        "additionalProperties": False,
    },
)

PROMPT = """\
<lessons>
# Lessons From Previous Attempt
These are results from a PREVIOUS attempt at this task.
- REPEAT: actions that worked before — do them again now
- AVOID: mistakes from before — do NOT repeat them
1. REPEAT: [#travel 92%] clock: 'what time is it in Oslo'
2. AVOID: [#travel 71%] calculator: 'time in Rome'
</lessons>
<working-memory>
- office city (from node 0.1)
</working-memory>
<goal>
What time is it at the office?
</goal>"""

REQUEST = ModelRequest(system="You are Goodbot.", turns=(UserTurn(text=PROMPT),), tools=(CLOCK,))

Make = Callable[..., ProviderModel]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
async def make(server: OpenAIServer) -> AsyncIterator[Make]:
    made: list[ProviderModel] = []

    def build(**settings: object) -> ProviderModel:
        wanted: dict[str, object] = {"base_url": server.base_url, "api_key": KEY, "retries": 0, "timeout_s": 20.0}
        made.append(ProviderModel("openai:gpt-4o-mini", **{**wanted, **settings}))  # type: ignore[arg-type]  # mixed values
        return made[-1]

    yield build
    for model in made:
        await model.close()


async def _fault(model: ProviderModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await model.reply(REQUEST)
    return caught.value


async def test_the_request_carries_prompt_and_tools_as_given(server: OpenAIServer, make: Make) -> None:
    server.script(server_says.text("It is noon."))

    reply = await make().reply(REQUEST)

    assert reply.turn == ModelTurn(text="It is noon.")
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["model"] == "gpt-4o-mini"
    assert asked.body["messages"] == [
        {"role": "system", "content": "You are Goodbot."},
        {"role": "user", "content": PROMPT},
    ]
    (tool,) = asked.body["tools"]
    assert tool["function"]["name"] == CLOCK.name
    assert tool["function"]["description"] == CLOCK.description
    assert tool["function"]["parameters"] == CLOCK.parameters
    assert asked.body.get("tool_choice", "auto") == "auto"
    assert asked.body.get("stream", False) is False


async def test_lessons_are_delimited_data_and_the_goal_comes_last(server: OpenAIServer, make: Make) -> None:
    server.script(server_says.text("ok"))
    await make().reply(REQUEST)

    prompt = server.asked[0].body["messages"][-1]["content"]
    lessons = prompt.partition("<lessons>")[2].partition("</lessons>")[0]
    assert "1. REPEAT: [#travel 92%] clock: 'what time is it in Oslo'" in lessons
    assert "2. AVOID: [#travel 71%] calculator: 'time in Rome'" in lessons
    assert "- office city (from node 0.1)" in prompt
    assert prompt.endswith("<goal>\nWhat time is it at the office?\n</goal>")


async def test_usage_and_cost_are_those_of_the_answering_model(server: OpenAIServer, make: Make) -> None:
    server.script(server_says.text("ok", model="gpt-4o-mini-2024-07-18"), server_says.text("ok", model="our-own-7b"))
    model = make()

    priced = await model.reply(REQUEST)
    unknown = await model.reply(REQUEST)

    assert (priced.usage.prompt_tokens, priced.usage.completion_tokens) == (1000, 200)
    assert priced.usage.cost_usd == pytest.approx(1000 * 0.15e-6 + 200 * 0.60e-6)
    assert priced.model == "gpt-4o-mini-2024-07-18"
    assert (unknown.usage.prompt_tokens, unknown.usage.cost_usd) == (1000, 0.0)


async def test_a_tool_call_round_trips_under_one_id(server: OpenAIServer, make: Make) -> None:
    server.script(server_says.tool_call("clock", '{"zone": "Oslo"}', call_id="call_42"), server_says.text("Noon."))
    model = make()

    first = await model.reply(REQUEST)
    assert first.turn.calls == (
        ToolCall(id="call_42", name="clock", arguments={"zone": "Oslo"}, raw='{"zone": "Oslo"}'),
    )
    output = '<tool-output name="clock">\n12:00\n</tool-output>'
    result = ToolTurn(call_id="call_42", name="clock", content=output)
    second = await model.reply(
        ModelRequest(system=REQUEST.system, turns=(*REQUEST.turns, first.turn, result), tools=REQUEST.tools)
    )

    assert second.turn.text == "Noon."
    _, _, said, returned = server.asked[1].body["messages"]
    assert said["role"] == "assistant"
    (call,) = said["tool_calls"]
    assert call["id"] == "call_42"
    assert call["function"]["name"] == "clock"
    assert json.loads(call["function"]["arguments"]) == {"zone": "Oslo"}
    assert returned == {"role": "tool", "tool_call_id": "call_42", "content": output}


async def test_a_failed_tool_is_shown_as_failed(server: OpenAIServer, make: Make) -> None:
    server.script(server_says.text("I could not find out."))
    turns = (
        UserTurn(text=PROMPT),
        ModelTurn(calls=(ToolCall(id="call_1", name="clock", arguments={"zone": "Nowhere"}),)),
        ToolTurn(call_id="call_1", name="clock", content="no such place", is_error=True),
    )
    await make().reply(ModelRequest(system="", turns=turns, tools=(CLOCK,)))

    messages = server.asked[0].body["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]
    assert "no such place" in messages[2]["content"]
    assert "error" in messages[2]["content"]


@pytest.mark.parametrize("raw", ['{"zone": "Os', "[1, 2]", '"Oslo"', "null", "[" * 100_000])
async def test_arguments_that_are_no_object_come_raw(server: OpenAIServer, make: Make, raw: str) -> None:
    server.script(server_says.tool_call("clock", raw), server_says.text("sorry"))
    model = make()

    reply = await model.reply(REQUEST)
    (call,) = reply.turn.calls
    assert (call.arguments, call.raw) == (None, raw)

    told = ToolTurn(call_id=call.id, name="clock", content="arguments must be a JSON object", is_error=True)
    again = await model.reply(ModelRequest(system="", turns=(*REQUEST.turns, reply.turn, told), tools=(CLOCK,)))
    assert again.turn.text == "sorry"


async def test_a_call_without_arguments_is_an_empty_object(server: OpenAIServer, make: Make) -> None:
    server.script(server_says.tool_call("clock", ""))
    reply = await make().reply(REQUEST)
    assert reply.turn.calls[0].arguments == {}


async def test_words_beside_a_tool_call_are_kept(server: OpenAIServer, make: Make) -> None:
    server.script(server_says.tool_call("clock", "{}", content="Let me look."))
    reply = await make().reply(REQUEST)
    assert reply.turn.text == "Let me look."
    assert [call.name for call in reply.turn.calls] == ["clock"]


FAULTS: list[tuple[str, Scripted, type[ModelError], str]] = [
    ("refusal", server_says.refusal("I will not do that."), ModelRefused, "I will not do that."),
    ("content filter", server_says.content_filter(), ModelRefused, "content filter"),
    ("429", server_says.failure(429, "slow down"), ModelUnavailable, "too many requests"),
    ("500", server_says.failure(500, "boom"), ModelUnavailable, "HTTP 500: boom"),
    ("503", server_says.failure(503, "maintenance"), ModelUnavailable, "maintenance"),
    ("401", server_says.failure(401, f"Incorrect API key provided: {KEY}"), ModelRejected, "OPENAI_API_KEY"),
    ("403", server_says.failure(403, "not for you"), ModelRejected, "not for you"),
    ("404", server_says.failure(404, "no model gpt-4o-mini"), ModelRejected, "GOODBOT_MODEL"),
    ("400", server_says.failure(400, "context too long"), ModelRejected, "context too long"),
    ("dropped", server_says.dropped(), ModelUnavailable, "cannot be reached"),
    ("empty text", server_says.text(""), MalformedReply, "empty reply"),
    ("out of tokens", server_says.text("", finish_reason="length"), MalformedReply, "more tokens"),
    ("not JSON", server_says.body("<html>"), MalformedReply, "cannot be understood"),
    ("a page", server_says.body("<html>", content_type="text/html"), MalformedReply, "cannot be understood"),
    ("an empty body", server_says.body(""), MalformedReply, "cannot be understood"),
    ("a list", server_says.body("[]"), MalformedReply, "cannot be understood"),
    ("a number", server_says.body("7"), MalformedReply, "cannot be understood"),
    ("nothing", server_says.body("null"), MalformedReply, "cannot be understood"),
    ("an empty object", server_says.body("{}"), MalformedReply, "cannot be understood"),
    ("no choices", server_says.body('{"id": "1", "model": "m", "choices": []}'), MalformedReply, "understood"),
    ("null choices", server_says.body('{"id": "1", "model": "m", "choices": null}'), MalformedReply, "understood"),
    ("choices of nothing", server_says.body('{"id": "1", "model": "m", "choices": [1]}'), MalformedReply, "understood"),
    ("too deep", server_says.body("[" * 100_000), MalformedReply, "understood"),
    ("no message", server_says.body('{"model": "m", "choices": [{"index": 0}]}'), MalformedReply, "understood"),
]


@pytest.mark.parametrize(
    ("scripted", "kind", "said"), [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS]
)
async def test_each_fault_has_its_kind_and_a_clear_message(
    server: OpenAIServer, make: Make, scripted: Scripted, kind: type[ModelError], said: str
) -> None:
    server.script(scripted)

    fault = await _fault(make())

    assert type(fault) is kind
    assert said in str(fault)
    assert str(fault).startswith("openai:gpt-4o-mini")
    assert KEY not in "".join(traceback.format_exception(fault))


async def test_a_hanging_server_is_unavailable_after_the_time_out(server: OpenAIServer, make: Make) -> None:
    server.script(server_says.hang())
    model = make(timeout_s=0.3, retries=2)
    await model.warm_up()

    fault = await _fault(model)

    assert isinstance(fault, ModelUnavailable)
    assert fault.retryable
    assert "no reply within 0.3 s" in str(fault)
    assert server.waiting.is_set()


async def test_retries_stay_within_the_time_out(server: OpenAIServer, make: Make) -> None:
    server.script(server_says.failure(429, "slow down", retry_after="60"))
    model = make(timeout_s=0.3, retries=2)
    await model.warm_up()

    fault = await _fault(model)

    assert isinstance(fault, ModelUnavailable)
    assert len(server.asked) == 1


async def test_an_unreachable_server_is_unavailable(make: Make) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        fault = await _fault(make(base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1"))

    assert isinstance(fault, ModelUnavailable)
    assert "cannot be reached" in str(fault)


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_passing_trouble_is_tried_again_as_soon_as_the_server_allows(
    server: OpenAIServer, make: Make, status: int
) -> None:
    trouble = server_says.failure(status, "later", retry_after="0.01")
    server.script(trouble, trouble, server_says.text("there you are"))

    reply = await make(retries=2).reply(REQUEST)

    assert reply.turn.text == "there you are"
    assert len(server.asked) == 3


async def test_lasting_trouble_ends_after_the_retries(server: OpenAIServer, make: Make) -> None:
    server.script(*[server_says.failure(429, "later", retry_after="0.01")] * 5)
    assert isinstance(await _fault(make(retries=2)), ModelUnavailable)
    assert len(server.asked) == 3


async def test_a_rejected_request_is_not_tried_again(server: OpenAIServer, make: Make) -> None:
    server.script(*[server_says.failure(401, "wrong key")] * 3)
    assert isinstance(await _fault(make(retries=2)), ModelRejected)
    assert len(server.asked) == 1


async def test_a_server_of_ones_own_needs_no_key(server: OpenAIServer, make: Make) -> None:
    server.script(server_says.text("hello"))
    reply = await make(api_key="").reply(REQUEST)
    assert reply.turn.text == "hello"
    assert KEY not in server.asked[0].headers["authorization"]


@pytest.mark.parametrize(
    ("name", "base_url", "said"),
    [
        ("gpt-5-mini", "", "OPENAI_API_KEY"),
        ("gpt-5-mini", "https://api.openai.com/v1/", "OPENAI_API_KEY"),
        ("gpt-5-mini", "localhost:8000", "OPENAI_BASE_URL"),
        ("", "http://localhost:8000/v1", "GOODBOT_MODEL"),
    ],
)
def test_settings_that_cannot_work_stop_before_any_request(name: str, base_url: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        ProviderModel(f"openai:{name}", base_url=base_url)


async def test_replies_wait_for_one_load_and_run_together(server: OpenAIServer, make: Make) -> None:
    server.script(*[server_says.text("hello")] * 4)
    model = make()
    replies: list[ModelReply] = await asyncio.gather(*(model.reply(REQUEST) for _ in range(4)))
    assert [reply.turn.text for reply in replies] == ["hello"] * 4


async def test_a_closed_model_opens_again(server: OpenAIServer, make: Make) -> None:
    server.script(server_says.text("one"), server_says.text("two"))
    model = make()
    assert (await model.reply(REQUEST)).turn.text == "one"
    await model.close()
    await model.close()
    assert (await model.reply(REQUEST)).turn.text == "two"


async def test_a_reply_is_told_while_it_comes(server: OpenAIServer, make: Make) -> None:
    heard: list[ModelTurn] = []
    server.script(server_says.tool_call("final_answer", '{"text": "Hello \\ud83d\\ude00 w\\u00f6rld"}'))
    reply = await make().reply(replace(REQUEST, on_partial=heard.append))
    assert reply.turn.calls[0].arguments == {"text": "Hello 😀 wörld"}
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (1000, 200)
    texts = [str((each.calls[0].arguments or {}).get("text", "")) for each in heard if each.calls]
    assert texts == sorted(texts, key=len)
    assert all("Hello 😀 wörld".startswith(each) for each in texts)
    assert len(set(texts)) > 2
    assert len(server.asked) == 1


async def test_a_very_long_reply_is_told_of_ever_more_rarely(server: OpenAIServer, make: Make) -> None:
    lengths: list[int] = []
    server.script(server_says.text("word " * 4_000))
    await make().reply(replace(REQUEST, on_partial=lambda part: lengths.append(len(part.text))))
    assert len(lengths) > 100
    assert sum(lengths) < 80 * 20_000, "all that is read while it comes, in characters"


async def test_a_stream_that_breaks_off_or_cannot_be_had_is_asked_for_as_a_whole(
    server: OpenAIServer, make: Make
) -> None:
    for broken in (replace(server_says.text("some of it"), breaks_after=2), server_says.body("no stream")):
        server.script(broken, server_says.text("all of it"))
        reply = await make().reply(replace(REQUEST, on_partial=lambda _: None))
        assert reply.turn.text == "all of it"
    assert [bool(each.body.get("stream")) for each in server.asked] == [True, False, True, False]


async def test_the_tokens_of_a_stream_that_breaks_off_count_with_those_of_the_whole_reply(
    server: OpenAIServer, make: Make
) -> None:
    server.script(replace(server_says.text("word " * 40), breaks_after=21), server_says.text("all of it"))
    lost = await make().reply(replace(REQUEST, on_partial=lambda _: None))
    server.script(server_says.text("all of it"))
    whole = await make().reply(replace(REQUEST, on_partial=lambda _: None))
    assert lost.usage.prompt_tokens == 2 * whole.usage.prompt_tokens
    assert 30 <= lost.usage.completion_tokens - whole.usage.completion_tokens <= 40
    assert lost.usage.cost_usd > 1.5 * whole.usage.cost_usd

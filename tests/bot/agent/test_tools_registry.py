import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from bot.agent.tools.registry import (
    Tool,
    ToolContext,
    ToolRegistry,
    ToolResult,
    _are_wanted_texts,
    _schema_problem,
    object_schema,
    text_property,
)
from bot.errors import ToolFailed, ToolRetry
from bot.model import ToolCall
from memory.library.working_memory import WorkingMemory
from tests.doubles.model import SCOPE, tool_call

CONTEXT = ToolContext(scope=SCOPE, run_id="R", node_path="0", question="Q", memory=WorkingMemory())


def echo(name: str = "echo", *, side_effects: bool = False, raises: Exception | None = None) -> Tool:
    async def run(arguments: Mapping[str, object], _: ToolContext) -> str:
        if raises is not None:
            raise raises
        return f"ran with {dict(arguments)}"

    return Tool(
        name=name,
        description="Echoes.",
        parameters={
            "type": "object",
            "properties": {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
            "required": ["text"],
            "additionalProperties": False,
        },
        run=run,
        has_side_effects=side_effects,
    )


async def test_a_call_that_fits_is_run() -> None:
    result = await ToolRegistry([echo()]).run(tool_call("echo", text="a", times=2), CONTEXT)
    assert result == ToolResult(content="ran with {'text': 'a', 'times': 2}")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (tool_call("ecco", text="a"), "There is no tool named 'ecco'. The tools are: echo."),
        (tool_call("echo"), "echo cannot take these arguments: $: 'text' is a required property"),
        (tool_call("echo", text=1), "echo cannot take these arguments: text: 1 is not of type 'string'"),
        (tool_call("echo", text="a", times=0), "times: 0 is less than the minimum of 1"),
        (tool_call("echo", text="a", more=1), "('more' was unexpected)"),
        (ToolCall(id="c", name="echo", arguments=None, raw="[1]"), "arguments of echo were not a JSON object: [1]"),
    ],
)
async def test_a_call_that_does_not_fit_is_a_mistake(call: ToolCall, told: str) -> None:
    result = await ToolRegistry([echo()]).run(call, CONTEXT)
    assert told in result.content
    assert (result.is_error, result.is_mistake) == (True, True)


PART = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "description": "x"},
        {"type": "string", "minLength": 2},
        {"type": "integer"},
    ]
)
NAMES = st.sampled_from(["text", "name"])


@given(
    schema=st.fixed_dictionaries(
        {
            "type": st.just("object"),
            "properties": st.dictionaries(NAMES, PART),
            "required": st.lists(NAMES, max_size=2),
        },
        optional={"additionalProperties": st.booleans(), "maxProperties": st.just(1)},
    ),
    arguments=st.dictionaries(NAMES, st.one_of(st.sampled_from(["", "a", "text"]), st.integers())),
)
def test_texts_pass_without_a_validator_only_where_it_finds_nothing(
    schema: dict[str, object], arguments: dict[str, object]
) -> None:
    if _are_wanted_texts(schema, arguments):
        assert _schema_problem(schema, arguments) == ""


async def test_texts_for_a_tool_that_takes_texts_need_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(arguments: Mapping[str, object], _: ToolContext) -> str:
        return str(arguments["text"])

    plain = Tool(
        name="plain",
        description="",
        parameters=object_schema({"text": text_property("What it is about.")}, "text"),
        run=run,
    )
    monkeypatch.setattr(asyncio, "to_thread", None)
    assert (await ToolRegistry([plain]).run(tool_call("plain", text="a"), CONTEXT)).content == "a"


async def test_errors_of_a_tool_are_observations() -> None:
    registry = ToolRegistry(
        [echo("retry", raises=ToolRetry("how_to_type it")), echo("failed", raises=ToolFailed("closed"))]
    )
    assert await registry.run(tool_call("retry", text="a"), CONTEXT) == ToolResult(
        content="how_to_type it", is_error=True, is_mistake=True
    )
    assert await registry.run(tool_call("failed", text="a"), CONTEXT) == ToolResult(content="closed", is_error=True)


@pytest.mark.parametrize("fault", [ToolRetry("how_to_type it"), ToolFailed("closed")])
async def test_errors_of_a_tool_from_outside_come_from_outside(fault: Exception) -> None:
    registry = ToolRegistry([replace(echo(raises=fault), is_outside=True)])
    assert (await registry.run(tool_call("echo", text="a"), CONTEXT)).is_outside


async def test_a_bug_of_a_tool_is_not_hidden() -> None:
    with pytest.raises(LookupError):
        await ToolRegistry([echo(raises=LookupError())]).run(tool_call("echo", text="a"), CONTEXT)


async def test_time_out() -> None:
    stopped = asyncio.Event()

    async def run(_: Mapping[str, object], __: ToolContext) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return "never"

    slow = Tool(name="slow", description="", parameters={"type": "object"}, run=run)
    result = await ToolRegistry([slow], timeout_s=0.01).run(tool_call("slow"), CONTEXT)
    assert result == ToolResult(content="slow took longer than 0.01 seconds.", is_error=True)
    assert stopped.is_set()


async def test_what_has_effects_may_have_had_them_when_its_time_is_over() -> None:
    async def run(_: Mapping[str, object], __: ToolContext) -> str:
        await asyncio.Event().wait()
        return "never"

    slow = Tool(name="slow", description="", parameters={"type": "object"}, run=run, has_side_effects=True)
    result = await ToolRegistry([slow], timeout_s=0.01).run(tool_call("slow"), CONTEXT, is_approved=True)
    assert result.is_error
    assert "It may have happened all the same" in result.content


async def test_what_has_effects_runs_only_if_it_is_let() -> None:
    call = tool_call("send", text="a")
    send = echo("send", side_effects=True)
    assert (await ToolRegistry([send]).run(call, CONTEXT, is_approved=True)).content.startswith("ran with")
    refused = ToolResult(content="send was not approved, and did not run.", is_error=True)
    assert await ToolRegistry([send]).run(call, CONTEXT) == refused
    assert await ToolRegistry([send]).permit(send, {}, CONTEXT) is None


def test_names_are_checked() -> None:
    with pytest.raises(ValueError, match="two tools"):
        ToolRegistry([echo(), echo()])
    for name in ("", "a b", "x" * 65, "ä", "a\n"):
        with pytest.raises(ValueError, match="a tool's name"):
            ToolRegistry([echo(name)])


def test_the_main_argument_is_the_first_of_the_schema() -> None:
    assert echo().main_argument({"times": 2, "text": "a"}) == "a"
    assert echo().main_argument({"times": 2}) == "2"
    assert echo().main_argument({}) == ""
    bare = Tool(name="t", description="", parameters={"type": "object"}, run=echo().run)
    assert bare.main_argument({"x": 1}) == ""


def test_specs_keep_the_order() -> None:
    registry = ToolRegistry([echo("b"), echo("a")])
    assert registry.names == ("b", "a")
    assert [spec.name for spec in registry.specs] == ["b", "a"]
    assert registry.get("c") is None


@given(st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=5), max_size=3))
def test_arguments_never_break_the_registry(arguments: dict[str, object]) -> None:
    call = ToolCall(id="c", name="t", arguments=arguments)
    tool = Tool(
        name="t", description="", parameters=object_schema({"text": text_property("a text")}, "text"), run=echo().run
    )
    result = asyncio.run(ToolRegistry([tool]).run(call, CONTEXT))
    assert result.is_mistake is not (arguments.keys() == {"text"} and isinstance(arguments["text"], str))

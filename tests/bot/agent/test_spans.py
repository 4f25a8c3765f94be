"""Spans of a run: what is in them, how they hang together, and that nobody's text is, unless it is wanted."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bot.adapters.llm.provider_model import ProviderModel
from bot.adapters.spans import OtelSpans
from bot.agent.tools.calculator import calculator_tool
from bot.config import load_settings
from bot.errors import ConfigError, ModelError
from tests.doubles.conversation import Chat
from tests.doubles.openai_server import OpenAIServer, Scripted, failure, text, tool_call

QUESTION = "what is the sum of two and two, please?"
SPLIT = tool_call("expand", '{"flow": "sequence", "subgoals": ["add two and two", "say it aloud"]}')
ADD = tool_call("calculator", '{"expression": "2 + 2"}')


async def traced(*replies: Scripted, with_texts: bool = False) -> Sequence[ReadableSpan]:
    """The spans of one answer, whose model is asked over HTTP."""
    exporter = InMemorySpanExporter()
    spans = OtelSpans(with_texts=with_texts, exporter=exporter)
    with OpenAIServer() as server:
        server.script(*replies)
        model = ProviderModel("openai:gpt-4o-mini", base_url=server.base_url, api_key="k", retries=0)
        chat = Chat(model=model, tools=[calculator_tool()])
        object.__setattr__(chat.bot._answering._agent, "spans", spans)
        await chat.ask(QUESTION)
        await model.close()
    spans.flush()
    return exporter.get_finished_spans()


def by_name(spans: Sequence[ReadableSpan]) -> dict[str, ReadableSpan]:
    return {each.name: each for each in spans}


async def test_a_run_its_nodes_models_tools_and_recalls() -> None:
    spans = await traced(SPLIT, ADD, text("four"), text("Four!"))
    names = sorted(each.name for each in spans)
    assert names == sorted(
        [
            *("invoke_agent goodbot", "node 0", "node 0.0", "node 0.1", "execute_tool calculator"),
            *(["chat openai:gpt-4o-mini"] * 4),
            *(["recall"] * 3),
        ]
    )
    of = by_name(spans)
    parents = {each.context.span_id: each.name for each in spans if each.context}
    assert {each.name: parents[each.parent.span_id] for each in spans if each.parent and "node" in each.name} == {
        "node 0": "invoke_agent goodbot",
        "node 0.0": "node 0",
        "node 0.1": "node 0",
    }
    run, tool, chat = (
        dict(of[name].attributes or {})
        for name in ("invoke_agent goodbot", "execute_tool calculator", "chat openai:gpt-4o-mini")
    )
    assert run["gen_ai.operation.name"] == "invoke_agent"
    assert (run["goodbot.run.termination"], run["goodbot.run.tokens"]) == ("expand", 4800)
    assert (tool["gen_ai.tool.name"], tool["goodbot.tool.failed"]) == ("calculator", False)
    assert (chat["gen_ai.usage.input_tokens"], chat["gen_ai.usage.output_tokens"]) == (1000, 200)
    assert (chat["gen_ai.request.model"], chat["gen_ai.response.model"]) == ("openai:gpt-4o-mini", "gpt-4o-mini")


@pytest.mark.parametrize("with_texts", [False, True])
async def test_texts_are_in_them_only_if_they_are_wanted(with_texts: bool) -> None:
    spans = await traced(SPLIT, ADD, text("four"), text("Four!"), with_texts=with_texts)
    whole = str([(each.name, dict(each.attributes or {}), each.events) for each in spans])
    for said in (QUESTION, "add two and two"):
        assert (said in whole) is with_texts
    assert "2 + 2" not in whole


async def test_a_failure_is_told_by_its_kind() -> None:
    spans = by_name(await traced(failure(401, "no such key sk-secret")))
    chat = spans["chat openai:gpt-4o-mini"]
    assert dict(chat.attributes or {})["error.type"] == "ModelRejected"
    assert issubclass(ModelError, Exception)
    assert not chat.status.is_ok
    assert "sk-secret" not in str([(each.attributes, each.events, each.status) for each in spans.values()])


def test_without_the_setting_there_are_none(tmp_path: Path) -> None:
    from bot.agent.run import no_spans
    from bot.app.wiring.build import make_spans

    settings = load_settings({}, config_path=None, cwd=tmp_path, data_dir=tmp_path)
    assert make_spans(settings) is no_spans
    with pytest.raises(ConfigError):
        load_settings({"GOODBOT_TRACING_SPANS": "all"}, config_path=None, cwd=tmp_path, data_dir=tmp_path)

"""Tools that are called wrongly, fail, flood, hang or die: each costs one observation, and no answer.

The whole bot in Slack, with a scripted model over the real HTTP client and a real server process.
"""

import json
from pathlib import Path

import pytest

from memory.model import StepKind
from memory.ports import EpisodeFilter
from tests import CHECKOUT
from tests.bot.adapters.tools.test_injection import connected, settings
from tests.doubles.openai_server import OpenAIServer, Scripted, text, tool_call
from tests.doubles.slack import SlackServer
from tests.doubles.whole_bot import slack_bot

pytestmark = pytest.mark.process


def two_calls() -> Scripted:
    """Two calls in one reply: one that works, one that does not."""
    one, other = (
        json.loads(tool_call(name, arguments, call_id=name).body)["choices"][0]["message"]["tool_calls"][0]
        for name, arguments in (("office__echo", '{"text": "hello"}'), ("office__refuse", "{}"))
    )
    body = json.loads(tool_call("x", "{}").body)
    body["choices"][0]["message"]["tool_calls"] = [one, other]
    return Scripted(body=json.dumps(body).encode(), headers={"content-type": "application/json"})


async def test_whatever_tools_do_the_answer_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(CHECKOUT))
    monkeypatch.setenv("CANARY", str(tmp_path / "canary"))
    (tmp_path / "docs").mkdir()
    async with SlackServer() as slack:
        with OpenAIServer() as model:
            more = settings(tmp_path, model)
            more |= {
                "GOODBOT_MCP_SERVERS": more["GOODBOT_MCP_SERVERS"].replace('"injecting"', '"*"'),
                "GOODBOT_MCP_TIMEOUT_S": "2",
            }
            async with slack_bot(slack, tmp_path, more) as bot:
                await connected(bot)
                model.script(
                    tool_call("office__ecko", '{"text": "x"}', call_id="a"),
                    tool_call("office__echo", '{"text": 7}', call_id="b"),
                    two_calls(),
                    tool_call("office__huge", "{}", call_id="d"),
                    tool_call("office__hang", "{}", call_id="e"),
                    tool_call("office__die", "{}", call_id="f"),
                    text("All the same: done."),
                )
                question = slack.person("ana").says(slack.channel("general"), "try everything")
                await bot.session.settled()
                await bot.idle()
                (answer,) = slack.said_by_bot(slack.channel("general"), question.ts)
                (root,) = bot.memory.audit.episodes(bot.session.workspace, EpisodeFilter(roots_only=True, limit=None))
                whole = bot.memory.audit.run(root.workspace, root.run_id).root
    assert answer.text.startswith("All the same: done.")
    seen = [step for step in whole.trajectory if step.kind is StepKind.OBSERVE]
    assert [step.is_error for step in seen] == [True, True, False, True, False, True, True]
    assert [step.is_untrusted for step in seen] == [False, False, True, True, True, True, True]
    told = [step.text for step in seen]
    assert "There is no tool named 'office__ecko'" in told[0]
    assert "7 is not of type 'string'" in told[1]
    assert "there is no such ticket" in told[3]
    assert "took longer than 2 seconds" in told[5]
    assert "office failed" in told[6]
    shown = [each["content"] for each in model.asked[-1].body["messages"] if each["role"] == "tool"]
    assert max(map(len, shown)) < 9_000

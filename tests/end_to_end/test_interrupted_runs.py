"""`kill -9` in the middle of a run: it goes on from its stored steps, and what has effects never happens twice."""

import json
import signal
import sys
from pathlib import Path

import pytest

from tests.doubles.openai_server import OpenAIServer, hang, text, tool_call
from tests.doubles.process import Home

pytestmark = pytest.mark.process

DIES_IN_THE_TOOL = """
import os, signal
from bot.agent.tools import topics
from bot.cli.root import main
change_tool = topics.change_tool
def deadly(change):
    async def dying(*arguments):
        await change(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)
    return change_tool(dying)
topics.change_tool = deadly
main()
"""
"""The program, killed as soon as a fact was changed, before anybody knows of it."""


def model_of(folder: Path, server: OpenAIServer) -> Home:
    return Home(folder, GOODBOT_MODEL="openai:test-model", OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="sk-canary")


def test_a_run_goes_on_from_its_stored_steps(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        home = model_of(tmp_path, server)
        server.script(tool_call("calculator", json.dumps({"expression": "6*7"})), hang())
        with home.chat() as chat:
            chat.say("what is six times seven")
            assert server.waiting.wait(30)
            chat.kill()
        server.script(text("It is 42."))
        assert "[1] It is 42." in home.run("chat").out
        last = server.asked[-1].body["messages"]
        assert len(server.asked) == 3
        assert "42" in next(each["content"] for each in last if each["role"] == "tool")
        assert "calculator → success" in home.run("chat", given="/why\n").out
        assert home.run("rebuild", "--check").code == 0


def test_what_has_effects_and_may_have_happened_is_told_and_not_done_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    dead = home.run(
        "chat", given="change the owner of the deploy to Priya\n1\n", program=(sys.executable, "-c", DIES_IN_THE_TOOL)
    )
    assert dead.code == -signal.SIGKILL
    later = home.run("chat", given="/choose 1\n/memory topics\n")
    assert "I was interrupted while I did this:" in later.out
    assert later.out.count("deploy: owner Priya") == 1
    assert later.out.count("change_fact {") == 1
    assert home.run("rebuild", "--check").code == 0
    again = home.run("chat", given="what is 1 + 1?\n")
    assert "I was interrupted" not in again.out

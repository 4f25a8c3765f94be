"""The real chat process and a language model's wire protocol: the request, the tool call, the lesson, the faults."""

import json
import re
from pathlib import Path

import pytest

from tests.doubles.openai_server import OpenAIServer, Scripted, failure, text, tool_call
from tests.doubles.process import Home

pytestmark = pytest.mark.process


def chat(folder: Path, server: OpenAIServer, *lines: str) -> str:
    """Run one piped chat to its end; the transcript."""
    home = Home(
        folder,
        GOODBOT_MODEL="openai:test-model",
        GOODBOT_MODEL_TIMEOUT_S="5",
        OPENAI_BASE_URL=server.base_url,
        OPENAI_API_KEY="sk-canary",
    )
    done = home.run("chat", given="".join(f"{line}\n" for line in lines))
    assert (done.code, done.err) == (0, "")
    return done.out


def test_a_lesson_reaches_the_next_request(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        server.script(
            tool_call("calculator", json.dumps({"expression": "6*7"})),
            text("It is 42."),
            text("Still 42."),
        )
        transcript = chat(tmp_path, server, "what is six times seven", "👍", "what is six times seven then")
    assert "[1] It is 42." in transcript
    assert "🧠 [1] became a lesson" in transcript
    assert "[2] Still 42." in transcript

    first, second, third = (asked.body for asked in server.asked)
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert first["messages"][1]["content"].rstrip().endswith("<goal>\nwhat is six times seven\n</goal>")
    assert "<lessons>" not in first["messages"][1]["content"]
    assert {"calculator", "clock", "expand", "fail"} <= {tool["function"]["name"] for tool in first["tools"]}

    call, result = second["messages"][2:4]
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]
    assert "42" in result["content"]

    prompt = third["messages"][1]["content"]
    assert prompt.startswith("<lessons>\n# Lessons From Previous Attempt\n")
    assert re.search(r"\n1\. REPEAT: \[#terminal \d+%\] calculator: 'what is six times seven'\n", prompt)
    assert prompt.index("</lessons>") < prompt.index("<goal>")


def test_a_failing_model_ends_in_a_friendly_answer_with_an_id(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        server.script(failure(401, "bad key sk-canary"), text("Better now."))
        transcript = chat(tmp_path, server, "hello there", "hello again")
    found = re.search(r"\[1\] Sorry, .*id: (\w{8})\)", transcript)
    assert found, transcript
    assert "[2] Better now." in transcript
    assert "Traceback" not in transcript
    log = (tmp_path / "goodbot.log").read_text()
    assert found[1] in log
    assert "sk-canary" not in log + transcript
    assert "hello there" not in log


def test_an_unreachable_model_ends_in_a_friendly_answer(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        pass  # closed again: nobody listens on its port
    transcript = chat(tmp_path, server, "hello there")
    assert "[1] Sorry, " in transcript
    assert "Traceback" not in transcript


def test_a_follow_up_is_understood_until_a_new_conversation(tmp_path: Path) -> None:
    def knows(prompt: str) -> Scripted:
        block = prompt.partition("<conversation>\n")[2].partition("\n</conversation>")[0]
        if "<last-message>" in prompt:
            return text("capital of Spain?" if block == "- asker: capital of France?\n- you: Paris." else "?")
        goal = prompt.rpartition("<goal>\n")[2].removesuffix("\n</goal>")
        return text({"capital of France?": "Paris.", "capital of Spain?": "Madrid."}.get(goal, "I do not know."))

    with OpenAIServer(knows) as server:
        transcript = chat(tmp_path, server, "capital of France?", "and of Spain?", "/why", "/new", "and of Spain?")
    assert "[2] Madrid." in transcript
    assert "Understood as “capital of Spain?”" in transcript.replace("*", "")
    assert "[3] I do not know." in transcript

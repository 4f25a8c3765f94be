"""`goodbot web`, and the web beside the bot, as processes."""

import json
import re
import signal
import sys
from pathlib import Path

import httpx2
import pytest

from tests.doubles.process import WORKSPACE, Chat, Home
from tests.doubles.seats import both_platforms, environment

pytestmark = pytest.mark.process

KEY = "a key that nobody guesses"


def command(name: str) -> list[str]:
    return [sys.executable, "-m", "bot", name]


def ask(url: str, key: str = KEY) -> httpx2.Response:
    body = {"q": "where is the spare key?", "scope": {"person": "you", "channel": "terminal"}}
    return httpx2.post(f"{url}/v1/query", json=body, headers={"X-API-Key": key}, timeout=60)


def test_what_is_taught_in_the_terminal_is_found_over_http(tmp_path: Path) -> None:
    home = Home(tmp_path, GOODBOT_API_KEY=KEY, GOODBOT_WEB_PORT="0")
    lines = ["where is the spare key?", "/correct Under the blue pot."]
    assert home.run("chat", given="".join(f"{line}\n" for line in lines)).code == 0
    made = home.run("keys", "make", "widget", "--json")
    widget = str(json.loads(made.out)["key"])
    with Chat(command("web"), home.folder, home.environment({})) as process:
        url = process.wait_for("Serving at").split()[2].rstrip(".")
        assert ask(url, "wrong").status_code == 401
        for key in (KEY, widget):
            assert "Under the blue pot." in ask(url, key).text
        assert httpx2.get(f"{url}/readyz", timeout=60).json()["ready"]
        assert home.run("keys", "revoke", "widget").code == 0
        assert ask(url, widget).status_code == 401
        ended = process.signal(signal.SIGTERM)
    assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err


def test_a_key_for_a_workspace_of_which_nothing_is_stored_is_made_with_a_warning(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert home.run("chat", given="what is 6*7?\n").code == 0
    made = home.run("keys", "make", "widget", "--workspace", "slack:T0", "--json")
    assert made.json()["workspace"] == "slack:T0"
    assert f"nothing is stored of a workspace slack:T0; there are {WORKSPACE}" in made.err
    assert "keys revoke widget --workspace slack:T0" in made.err
    for known in ((), ("--workspace", WORKSPACE)):
        assert home.run("keys", "make", f"w{len(known)}", *known).err == ""


def test_the_web_runs_beside_the_bot(tmp_path: Path) -> None:
    with both_platforms() as seats:
        home = Home(tmp_path, GOODBOT_API_KEY=KEY, GOODBOT_WEB_PORT="0")
        tokens = environment(*seats)
        with Chat(command("run"), home.folder, home.environment(tokens)) as process:
            for seat in seats:
                seat.until_connected()
            process.wait_for_error("serving at")
            (url,) = re.findall(r"serving at (\S+)", process.told())
            parts = httpx2.get(f"{url}/readyz", timeout=60).json()["parts"]
            assert {name for name, part in parts.items() if part["ready"]} == {
                "database",
                "migrations",
                "embedder",
                "slack",
                "discord",
                "scheduler",
            }
            for seat in seats:
                assert "42" in seat.asks("what is 6*7?")
            counted = httpx2.get(f"{url}/metrics", timeout=60).text
            for platform in ("slack", "discord"):
                assert f'goodbot_events_total{{kind="message",platform="{platform}"}} 1.0' in counted
            assert 'goodbot_answers_total{outcome="answered"} 2.0' in counted
            assert re.search(r"^goodbot_recall_seconds_count [1-9]", counted, re.MULTILINE), counted
            assert 'goodbot_model_seconds_count{model="offline"}' in counted
            assert 'goodbot_memory_events_total{kind="created"} 2.0' in counted
            port = url.rpartition(":")[2]
            with Chat(command("run"), home.folder, home.environment({**tokens, "GOODBOT_WEB_PORT": port})) as second:
                second.wait_for_error("the web is not served by this process")
                assert second.signal(signal.SIGTERM).code == 0
            ended = process.signal(signal.SIGTERM)
    assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err


def test_without_a_chat_platform_the_web_and_the_jobs_run_alone(tmp_path: Path) -> None:
    home = Home(tmp_path, GOODBOT_API_KEY=KEY, GOODBOT_WEB_PORT="0")
    with Chat(command("run"), home.folder, home.environment({})) as process:
        process.wait_for_error("serving at")
        (url,) = re.findall(r"serving at (\S+)", process.told())
        ready = httpx2.get(f"{url}/readyz", timeout=60).json()
        assert ready["ready"], ready
        assert all(part["ready"] for part in ready["parts"].values())
        assert {ready["parts"][name]["state"] for name in ("slack", "discord")} == {"not configured"}
        ended = process.signal(signal.SIGTERM)
    assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err


def test_an_address_that_is_taken_is_named_with_the_remedy(tmp_path: Path) -> None:
    home = Home(tmp_path, GOODBOT_API_KEY=KEY, GOODBOT_WEB_PORT="0")
    with Chat(command("web"), home.folder, home.environment({})) as process:
        port = process.wait_for("Serving at").split()[2].rstrip(".").rpartition(":")[2]
        refused = home.run("web", GOODBOT_WEB_PORT=port)
        assert refused.code != 0
        assert "set [web] host and port" in refused.err
        alone = home.run("run", GOODBOT_WEB_PORT=port)
        assert (alone.code, "set [web] host and port" in alone.err) == (refused.code, True), alone.err

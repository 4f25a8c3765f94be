"""The real process with its memory in PostgreSQL, by DATABASE_URL alone."""

import json
from pathlib import Path

import pytest

from tests.doubles.postgres import new_database, server
from tests.doubles.process import Home

pytestmark = pytest.mark.process


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, DATABASE_URL=new_database(), XDG_DATA_HOME=str(tmp_path / "data"))


def test_what_is_taught_in_one_chat_is_known_in_the_next_and_every_check_is_fine(home: Home, tmp_path: Path) -> None:
    first = home.run("chat", given="what is 2 + 2?\n👍\n")
    assert (first.code, first.err) == (0, "")
    assert "became a lesson" in first.out
    second = home.run("chat", given="what is 2 + 2?\n")
    assert "used lesson: “what is 2 + 2?”" in second.out
    checked = home.run("doctor", "--json")
    assert checked.code == 0
    assert [check for check in checked.json() if check["remedy"] or not check["ok"]] == []
    assert home.run("rebuild", "--check").code == 0
    assert [each["goal"] for each in home.run("episodes", "list", "--json").json()] == ["what is 2 + 2?"] * 2
    assert not list(tmp_path.glob("*.db*"))  # no file is made for what a server holds


def test_two_processes_at_once_share_it(home: Home) -> None:
    with home.chat() as ana, home.chat() as bo:
        for name, chat in (("ana", ana), ("bo", bo)):
            chat.say(f"/as {name}", "what is 3 + 4?")
        for chat in (ana, bo):
            chat.wait_for("3 + 4 = 7")
    people = {each["person"] for each in json.loads(home.run("episodes", "list", "--json").out)}
    assert people == {"ana", "bo"}
    assert home.run("rebuild", "--check").code == 0


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://me:hunter2@127.0.0.1:1/bot", "The database bot on 127.0.0.1 cannot be reached."),
        ("postgresql://me:hunter2@127.0.0.1:1/bot", "port 1 failed: Connection refused)."),
        ("postgresql://me:hunter2@127.0.0.1:1/bot?sslmode=no", 'correct DATABASE_URL (invalid sslmode value: "no").'),
        ("postgresql://127.0.0.1:1", "The database of this user's name on 127.0.0.1 cannot be reached."),
        ("", "There is no database nowhere on"),
    ],
)
def test_a_server_that_cannot_be_used_is_told_without_the_password(home: Home, url: str, words: str) -> None:
    told = home.run("stats", DATABASE_URL=url or server() % "nowhere")
    assert told.code == 1
    assert words in told.err
    assert "hunter2" not in told.out + told.err
    assert "Traceback" not in told.err

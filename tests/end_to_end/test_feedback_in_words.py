"""Feedback in words in the real `goodbot chat`: learned, asked about by number, taken back, and `kill -9`."""

from pathlib import Path

import pytest

from memory.ports import EpisodeFilter
from tests.doubles.process import WORKSPACE, Home

pytestmark = pytest.mark.process

QUESTION, RIGHT = "where is the all-hands?", "it's room 5"
NOTED = f"Noted: for “{QUESTION}” the answer is “{RIGHT}”. Saved as your lesson"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_correction_is_the_next_answer_until_it_is_taken_back(home: Home) -> None:
    done = home.run("chat", given=f"{QUESTION}\nNo, {RIGHT}\n{QUESTION}\n/undo\n{QUESTION}\n")
    assert (done.code, done.err) == (0, "")
    _, learned, rest = done.out.partition(NOTED)
    assert learned
    assert f"[2] {RIGHT}" in rest
    assert f"Forgotten: your correction for “{QUESTION}”." in rest
    assert "[3] I don't know that." in rest
    assert home.run("rebuild", "--check").code == 0


def test_a_doubt_is_settled_and_a_correction_taken_back_by_number(home: Home) -> None:
    done = home.run("chat", given=f"{QUESTION}\nNo, it's open\n1\n/undo\nnope\n1\n/ratings\n")
    asked, _, rest = done.out.partition("you: 1\n")
    assert "Was that a correction?" in asked
    assert "    1  Yes\n    2  No" in asked
    assert "the answer is “it's open”" in rest
    assert "You have not rated any answer." in rest.rpartition("/ratings")[2]


def test_what_was_no_feedback_is_answered(home: Home) -> None:
    done = home.run("chat", given=f"{QUESTION}\nNo, it's open\n2\n")
    assert "[2] I don't know that." in done.out.partition("you: 2\n")[2]


def test_a_correction_counts_once_whenever_the_process_is_killed(home: Home) -> None:
    with home.chat() as chat:
        chat.ask(QUESTION, "I don't know that.")
        chat.say(f"No, {RIGHT}")
        chat.kill()
    later = home.run("chat", given="/choose 1\n/ratings\n")
    assert later.code == 0
    with home.memory() as memory:
        lessons = [each for each in memory.audit.episodes(WORKSPACE, EpisodeFilter()) if each.output == RIGHT]
        assert len(lessons) <= 1
        assert memory.audit.check() == []

"""Asking back in the real `goodbot chat`: by number, by command after a restart, by somebody else, and `kill -9`."""

import re
from pathlib import Path

import pytest

from memory.model import ASK, Verdict
from memory.ports import EpisodeFilter
from tests.doubles.process import WORKSPACE, Home

pytestmark = pytest.mark.process

TAUGHT_FOR = "when does the canteen open?"
TAUGHT = f"{TAUGHT_FOR}\n/correct The canteen opens at eight.\n"
PARAPHRASE, ANSWER = "when canteen open sundays", "The canteen opens at eight."
ASKED = "Did you mean this?"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home where it was taught the one thing."""
    home = Home(tmp_path)
    assert home.run("chat", given=TAUGHT).code == 0
    return home


def test_a_number_chooses_and_what_was_chosen_is_known_from_then_on(home: Home) -> None:
    done = home.run("chat", given=f"{PARAPHRASE}\n/why\n1\n/why\n{PARAPHRASE}\n/quit\n")
    assert (done.code, done.err) == (0, "")
    question, _, rest = done.out.partition("you: 1\n")
    assert ASKED in question
    assert f"1. “{ANSWER}” (for “{TAUGHT_FOR}”)\n    2  None of these\n" in question
    assert "used lesson" not in question
    assert re.search(r"\d+% match, offered\n", question)
    assert f"[2] {ANSWER}" in rest
    assert "**Chosen** by you" in rest
    assert f"[3] {ANSWER}" in rest
    assert home.run("rebuild", "--check").code == 0
    stats = home.run("stats", "--json").json()[WORKSPACE]
    assert (stats["asked"], stats["asked.tapped"]) == (1, 1)


@pytest.mark.parametrize("typed", ["/choose 1", "1"])
def test_after_a_restart_the_command_and_a_number_choose(home: Home, typed: str) -> None:
    assert ASKED in home.run("chat", given=f"{PARAPHRASE}\n").out
    later = home.run("chat", given=f"{typed}\n")
    assert f"[1] {ANSWER}" in later.out


def test_a_number_that_is_not_offered_is_no_question(home: Home) -> None:
    done = home.run("chat", given=f"{PARAPHRASE}\n7\n1\n")
    assert "there is no choice 7 here; type a number from 1 to 2" in done.out
    assert f"[2] {ANSWER}" in done.out.partition("you: 7\n")[2]


def test_a_number_chooses_nothing_once_something_else_was_asked(home: Home) -> None:
    done = home.run("chat", given=f"{PARAPHRASE}\nwhat is 2+2?\n1\n")
    assert ASKED in done.out
    assert done.out.rpartition("you: 1\n")[2].startswith("There is nothing to choose that way")


def test_none_of_these_and_somebody_elses_choice(home: Home) -> None:
    done = home.run("chat", given=f"{PARAPHRASE}\n/as ben\n1\n2\n/as you\n2\n{PARAPHRASE}\n")
    _, ben, rest = done.out.partition("ben: 1\n")
    assert ben
    assert "The question was somebody else's" in rest
    assert rest.count("Noted: none of these.") == 2
    assert "I don't know that." in rest.rpartition(f"you: {PARAPHRASE}")[2]


def test_a_choice_that_was_taken_in_is_answered_after_a_kill(home: Home) -> None:
    with home.chat() as chat:
        chat.ask(PARAPHRASE, "None of these")
        chat.say("1")
        chat.kill()
    with home.memory() as memory:
        (question,) = memory.audit.episodes(WORKSPACE, EpisodeFilter(limit=1))
        with memory.store.read() as tx:
            taken = tx.deliveries.taps(WORKSPACE, question.run_id) if question.action == ASK else []
    later = home.run("chat", given="/ratings\n")
    assert (later.code, later.err) == (0, "")
    with home.memory() as memory:
        assert memory.audit.check() == []
        answers = memory.audit.episodes(WORKSPACE, EpisodeFilter(verdict=Verdict.SUCCESS, text=ANSWER))
        chosen = [each for each in answers if each.goal == PARAPHRASE]
    # What was stored is answered and counted once, however far the killed process had come.
    assert len(chosen) <= 1
    assert len(chosen) == 1 or not taken


def test_what_has_effects_waits_through_a_restart_for_its_asker_alone_and_runs_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    asked = home.run("chat", given="change the owner of the deploy to Priya\n").out
    assert 'change_fact {\n  "new_value": "Priya",' in asked.replace("\n      ", "\n  ").replace("\n    }", "\n}")
    assert "1  Do it" in asked
    assert "4  Don't" in asked
    later = home.run("chat", given="/as ben\n/choose 1\n/as you\n/choose 1\n/choose 1\n/why\n").out
    assert "That is for whoever asked" in later
    assert len(re.findall(r"^\[\d+\] Noted for you alone: deploy, owner: Priya\.", later, re.MULTILINE)) == 1
    assert "There is nothing to choose that way" in later
    assert home.run("rebuild", "--check").code == 0

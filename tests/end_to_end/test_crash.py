"""Processes that freeze or fall: they end themselves, the next start knows why, and nobody waits for ever."""

import re
import signal
import stat
import sys
import time
from pathlib import Path

import pytest

from memory.model import Progress
from tests.doubles.openai_server import OpenAIServer, hang, text
from tests.doubles.process import WORKSPACE, Chat, Finished, Home
from tests.doubles.seats import both_platforms, environment

pytestmark = [pytest.mark.process, pytest.mark.slow]

DEADLY = (sys.executable, "-m", "tests.doubles.deadly_bot")
LIMIT = {"GOODBOT_LIMITS_FROZEN_AFTER_S": "1"}
QUESTION = "a deadly question"
NOTE = "I had to stop again and again while working on this message"


def life(home: Home, how: str, *lines: str) -> Finished:
    """One process that is asked these questions, and how it ended."""
    return home.run("chat", program=DEADLY, DEADLY=how, given="".join(f"{line}\n" for line in lines), **LIMIT)


def blame(home: Home) -> tuple[int, int, Progress]:
    """Crashes and kills of the deadly question, and how far it is."""
    with home.memory() as memory, memory.store.read() as tx:
        (found,) = [each for each in tx.deliveries.messages_of(WORKSPACE, "", "you", 10) if each.text == QUESTION]
    return found.crashes, found.kills, found.progress


def reports(home: Home) -> list[Path]:
    return sorted(home.folder.glob("goodbot.db.*.life"))


def test_a_message_that_freezes_the_process_twice_is_set_aside_and_its_asker_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    first = life(home, "freeze", "what is 1 + 1?", QUESTION, "never read")
    assert first.code == 1
    assert "[1] 1 + 1 = 2" in first.out
    (report,) = reports(home)
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert "deadly_bot.py" in report.read_text()
    assert QUESTION not in report.read_text()

    # A kill is no crash of the message's.
    assert life(home, "kill").code == -signal.SIGKILL
    assert blame(home) == (1, 0, Progress.ACCEPTED)
    assert life(home, "freeze").code == 1
    assert blame(home) == (1, 1, Progress.ACCEPTED)

    third = life(home, "freeze", "what is 2 + 2?")
    assert (third.code, third.err) == (0, "")
    assert third.out.count(NOTE) == 1
    assert "] 2 + 2 = 4" in third.out
    assert blame(home) == (2, 1, Progress.SET_ASIDE)
    assert reports(home) == []
    again = life(home, "freeze", "what is 3 + 3?")
    assert (again.code, again.out.count(NOTE)) == (0, 0)

    told = home.run("doctor", "--json")
    assert QUESTION not in told.out
    (finding,) = [each for each in told.json() if each["code"] == "GB010"]
    assert finding["ok"]
    assert re.search(r"^1 message .*: \S+ in terminal:local terminal, 20\d\d-.* UTC ", finding["what"])
    assert "goodbot.db.crash" in finding["remedy"]
    assert stat.S_IMODE((tmp_path / "goodbot.db.crash").stat().st_mode) == 0o600


def test_a_fatal_signal_leaves_the_same_report(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert life(home, "fault", QUESTION).code == -signal.SIGSEGV
    assert "Segmentation fault" in reports(home)[0].read_text()
    assert life(home, "").code == 0
    assert blame(home) == (0, 0, Progress.DELIVERED)


def test_a_thread_that_never_returns_costs_one_answer_and_then_the_process_not_its_memory(tmp_path: Path) -> None:
    home = Home(tmp_path)
    quick = {"GOODBOT_AGENT_MAX_SECONDS": "1", "GOODBOT_LIMITS_FROZEN_AFTER_S": "1"}
    with home.chat(program=DEADLY, DEADLY="stick", **quick) as chat:
        chat.ask(QUESTION, "I reached my limit of 1 seconds")
        ended = chat.wait()
    assert ended.code == 1
    assert "in recall" in reports(home)[0].read_text()
    assert blame(home) == (0, 0, Progress.DELIVERED)
    assert life(home, "").code == 0


def test_a_chat_that_was_stopped_with_ctrl_z_goes_on(tmp_path: Path) -> None:
    with Home(tmp_path).chat(GOODBOT_LIMITS_FROZEN_AFTER_S="0.5") as chat:
        chat.ask("what is 1 + 1?", "1 + 1 = 2")
        chat.send(signal.SIGTSTP)
        until_stopped(chat.pid)
        time.sleep(1)  # longer than the limit: what must not be counted is time itself
        chat.send(signal.SIGCONT)
        chat.ask("what is 2 + 2?", "2 + 2 = 4")
        assert chat.end().code == 0


def until_stopped(pid: int) -> None:
    for _ in range(1000):
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T":
            return
        time.sleep(0.01)
    pytest.fail("the process did not stop")


def test_of_two_platforms_only_the_guilty_message_is_set_aside(tmp_path: Path) -> None:
    """The innocent one was in work, too, when the process froze; alone it is answered."""
    program = [*DEADLY, "run"]
    with OpenAIServer() as model, both_platforms() as seats:
        home = Home(tmp_path, GOODBOT_MODEL="openai:test", OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY="k")
        there = home.environment({**environment(*seats), **LIMIT, "DEADLY": "freeze"})
        at_slack, at_discord = seats
        model.script(hang(), text("Because of Rayleigh."))
        with Chat(program, home.folder, there) as process:
            for seat in seats:
                seat.until_connected()
            innocent = at_slack.says("why is the sky blue")
            assert model.waiting.wait(60)
            guilty = at_discord.says(QUESTION)
            assert process.wait().code == 1
        with Chat(program, home.folder, there) as process:
            assert process.wait().code == 1
        assert at_slack.answers_to(innocent) == []
        with Chat(program, home.folder, there) as process:
            for seat, asked in ((at_slack, innocent), (at_discord, guilty)):
                seat.until_answered(asked)
            assert process.signal(signal.SIGTERM).code == 0
        assert at_slack.answers_to(innocent) == ["Because of Rayleigh."]
        (said,) = at_discord.answers_to(guilty)
        assert NOTE in said
    with home.memory() as memory:
        assert len(memory.recovering.set_aside()) == 1
        assert memory.recording.unfinished() == []

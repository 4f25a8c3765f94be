"""Ended from outside while the model is thinking: nothing is half-written, and the next start answers once."""

import signal
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory.model import Progress
from memory.ports import EpisodeFilter
from tests.doubles.openai_server import OpenAIServer, hang, text
from tests.doubles.process import WORKSPACE, Home, read_by

pytestmark = pytest.mark.process

QUESTION, ANSWER = "why is the sky blue", "Because of Rayleigh."
_CODES = {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: 0, signal.SIGINT: 130}

INTERRUPTED_IMPORT = """
import sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "bot.cli.root":
            raise KeyboardInterrupt
sys.modules.pop("bot.cli.root", None)
sys.meta_path.insert(0, Interrupting())
from bot.__main__ import main
main()
"""
"""The program, interrupted before its command line is imported."""


def home_of(folder: Path, server: OpenAIServer) -> Home:
    folder.mkdir()
    return Home(folder, GOODBOT_MODEL="openai:test", OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="k")


def for_each(check: Callable[[signal.Signals], None], numbers: Iterable[signal.Signals]) -> None:
    """Check side by side; the first failure is raised."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(check, numbers))


def end_while_thinking(folder: Path, number: signal.Signals) -> None:
    with OpenAIServer() as server:
        home = home_of(folder, server)
        server.script(hang(), text(ANSWER))
        with home.chat() as chat:
            chat.say(QUESTION, "never read")
            assert server.waiting.wait(60), chat.told()
            ended = chat.signal(number)
        assert (ended.code, ended.err.strip()) == (_CODES[number], "")
        assert ended.out.splitlines()[1:] == [f"you: {QUESTION}"]
        with home.memory() as memory:
            (left,) = memory.recording.unfinished()
            assert (left.incoming.text, left.incoming.progress) == (QUESTION, Progress.ACCEPTED)
            assert memory.audit.episodes(WORKSPACE, EpisodeFilter()) == []
            assert memory.audit.check() == []
        again = home.run("chat")
        assert (again.code, again.err) == (0, "")
        assert again.out.splitlines()[1:] == [f"[1] {ANSWER}"]
        assert len(server.asked) == 2
        with home.memory() as memory:
            assert memory.recording.unfinished() == []
            assert [each.goal for each in memory.audit.episodes(WORKSPACE, EpisodeFilter())] == [QUESTION]


def test_a_message_that_was_being_answered_is_answered_once_by_the_next_start(tmp_path: Path) -> None:
    for_each(lambda number: end_while_thinking(tmp_path / number.name, number), _CODES)


def end_while_idle(folder: Path, number: signal.Signals) -> None:
    folder.mkdir()
    home = Home(folder)
    with home.chat() as chat:
        chat.ask("what is 2 + 2?", "2 + 2 = 4")
        ended = chat.signal(number)
    assert (ended.code, ended.err.strip()) == (_CODES[number], "")
    assert not list(folder.glob("goodbot.db-*")), "the database was not closed"
    with home.memory() as memory:
        assert memory.recording.unfinished() == []
        assert memory.audit.check() == []


def test_an_idle_chat_ends_quietly(tmp_path: Path) -> None:
    for_each(lambda number: end_while_idle(tmp_path / number.name, number), [signal.SIGTERM, signal.SIGINT])


def test_a_screen_that_goes_away_ends_the_chat_and_loses_no_answer(tmp_path: Path) -> None:
    home = Home(tmp_path)
    typed = "what is 2 + 2?\nwhat is 3 + 3?\n"
    done = home.run("chat", given=typed, program=read_by("head", "-n", "1"))
    assert done.out.startswith("-- Goodbot")
    assert "Traceback" not in done.err
    assert home.run("chat").code == 0
    with home.memory() as memory:
        assert memory.recording.unfinished() == []


def test_ctrl_c_while_the_program_is_imported_shows_no_traceback(tmp_path: Path) -> None:
    done = Home(tmp_path).run("--version", program=(sys.executable, "-c", INTERRUPTED_IMPORT))
    assert (done.code, done.out, done.err) == (130, "", "")

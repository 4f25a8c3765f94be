"""A person at a real terminal: the chat under a pseudo-terminal, with its prompt, its keys and its colours."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from memory.ports import EpisodeFilter
from tests.doubles.fork_server import forked_command
from tests.doubles.openai_server import OpenAIServer, hang, tool_call
from tests.doubles.process import GOODBOT, WORKSPACE, Home

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
]

_HANGS_SECONDS = 60
_TERMINAL = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
"""This terminal does not answer when it is asked where its cursor is."""


class Keyboard:
    """The person's side of a pseudo-terminal."""

    def __init__(self, side: int, process: "subprocess.Popen[bytes]") -> None:
        self._side = side
        self.process = process
        self.shown = ""
        self._seen = 0

    def press(self, keys: str) -> None:
        """Press keys at the prompt. While something is written above it, the terminal itself would take them."""
        self.see("› ")
        os.write(self._side, keys.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C while work goes on."""
        os.write(self._side, b"\x03")

    def see(self, part: str) -> None:
        """Wait until something is shown that was not seen before."""
        while (found := self.shown.find(part, self._seen)) < 0:
            ready, _, _ = select.select([self._side], [], [], _HANGS_SECONDS)
            assert ready, f"{part!r} was never shown: {self.shown!r}"
            chunk = self._read()
            assert chunk, f"{part!r} was not shown before the end: {self.shown!r}"
        self._seen = found + len(part)

    def leave(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            pass
        return self.process.wait(_HANGS_SECONDS)

    def _read(self) -> bytes:
        try:
            chunk = os.read(self._side, 65_536)
        except OSError:  # Linux says so when the other end has closed.
            return b""
        self.shown += chunk.decode(errors="replace")
        return chunk


@contextmanager
def at_a_terminal(
    home: Home, settings: Mapping[str, str] | None = None, program: Sequence[str] = ()
) -> Iterator[Keyboard]:
    ours, theirs = os.openpty()
    environment = home.environment({**_TERMINAL, **(settings or {})})
    with subprocess.Popen(
        [*(program or forked_command("bot")), "chat"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=home.folder,
        env=environment,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        try:
            yield Keyboard(ours, process)
        finally:
            process.terminate()
            os.close(ours)


def test_a_person_asks_reacts_and_leaves(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with at_a_terminal(home, program=GOODBOT) as keyboard:  # a new interpreter
        keyboard.see("Memory: ")
        keyboard.press("what is 15% of 80?\r")
        keyboard.see("15% of 80 = 12")
        keyboard.press("👍\r")
        keyboard.see("became a lesson")
        keyboard.press("\x04")
        keyboard.see("Bye.")
        assert keyboard.leave() == 0
        shown = keyboard.shown
    assert "\x1b[" in shown
    for noise in ("Traceback", "WARNING", "Warning", "it/s"):
        assert noise not in shown
    with home.memory() as memory:
        (episode,) = memory.audit.episodes(WORKSPACE, EpisodeFilter())
        assert memory.audit.check() == []
    assert episode.verdicts.personal.value == "success"


def test_ctrl_c_stops_the_answer_first_and_then_leaves(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with OpenAIServer() as server:
        server.script(hang())
        model = {"GOODBOT_MODEL": "openai:test", "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"}
        with at_a_terminal(home, model) as keyboard:
            keyboard.press("why is the sky blue\r")
            assert server.waiting.wait(_HANGS_SECONDS)
            keyboard.interrupt()
            keyboard.see("I was asked to stop")
            keyboard.press("\x03")
            assert keyboard.leave() == 0
            assert "Traceback" not in keyboard.shown
    with home.memory() as memory:
        assert memory.recording.unfinished() == []
        assert memory.audit.check() == []


def test_an_answer_is_seen_while_it_is_written(tmp_path: Path) -> None:
    home, go_on, seen = Home(tmp_path), Event(), 0
    said = "The spare key hangs behind the front desk, on the left, below the clock."

    def between() -> None:
        nonlocal seen
        seen += 1
        if seen == 12:
            go_on.wait(_HANGS_SECONDS)

    with OpenAIServer() as server:
        server.script(tool_call("final_answer", json.dumps({"text": said})))
        server.between = between
        model = {"GOODBOT_MODEL": "openai:test", "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"}
        with at_a_terminal(home, model) as keyboard:
            keyboard.press("where is the spare key of the van\r")
            keyboard.see("behind the")
            assert "[1]" not in keyboard.shown
            go_on.set()
            keyboard.see("[1]")
            keyboard.see("below the clock.")
            keyboard.press("\x04")
            assert keyboard.leave() == 0
            assert "Traceback" not in keyboard.shown

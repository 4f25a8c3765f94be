"""Drives the real `goodbot` process: one database in a folder of its own, commands on it, and chats through pipes."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Condition, Thread
from types import TracebackType
from typing import Any, Self

from memory.adapters.embedding import HashingEmbedder
from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds, utc_now
from memory.services import Memory
from tests import CHECKOUT
from tests.doubles.fork_server import INTERPRETER, Forked, fork

GOODBOT = (sys.executable, "-m", "bot")
WORKSPACE = "terminal:local"


def begun_with(code: str) -> Sequence[str]:
    """`goodbot` in a process that has done something before, for its streams or its limits. It knows `os` and `sys`."""
    then = "import runpy; runpy.run_module('bot', run_name='__main__', alter_sys=True)"
    return (sys.executable, "-c", f"import os, sys\n{code}\n{then}")


def read_by(*reader: str) -> Sequence[str]:
    """`goodbot | READER`, which ends as the reader does."""
    execute = f"os.dup2(read, 0); os.close(write); os.execvp({reader[0]!r}, {list(reader)!r})"
    code = f"read, write = os.pipe()\nif os.fork(): {execute}\nos.dup2(write, 1); os.close(read); os.close(write)"
    return begun_with(code)


def full_after(size: int) -> Sequence[str]:
    """`goodbot` where the disk is full once a file has this many bytes."""
    return begun_with(f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))")


_HANGS_SECONDS = 60
"""A process that takes longer will never end; nothing is measured by it."""
_SIDE_BY_SIDE = 2


@dataclass(frozen=True, kw_only=True)
class Finished:
    """How a process ended and what it wrote."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The output as one JSON value."""
        return json.loads(self.out)


def start(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> "Forked | subprocess.Popen[bytes]":
    """Start a process with pipes for its streams: forked where that is the same, else anew."""
    return fork(command, folder, environment) or subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
        bufsize=0,
    )


def python(code: str, *arguments: str) -> "Forked | subprocess.Popen[bytes]":
    """Start `python -c CODE ...`, which may import the program and the tests."""
    return start([sys.executable, "-c", code, *arguments], CHECKOUT, INTERPRETER)


class Home:
    """A folder with one database and everything `goodbot` needs to work there, cut off from this machine's settings.

    `settings` are environment variables for every process; those given to a call come on top.
    """

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.database = folder / "goodbot.db"
        self.log = folder / "goodbot.log"
        self._settings = settings

    def copy(self, folder: Path) -> "Home":
        """The same memory in another folder, while no process uses it."""
        copied = Home(folder, **self._settings)
        shutil.copyfile(self.database, copied.database)
        return copied

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """The whole environment of a process."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.folder),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(self.folder)),
            **INTERPRETER,
            "DATABASE_URL": f"sqlite:///{self.database}",
            "GOODBOT_LOG_FILE": str(self.log),
            "GOODBOT_EMBEDDER_NAME": "hashing",
            **self._settings,
            **more,
        }

    def run(
        self, *arguments: str, given: str | bytes = b"", program: Sequence[str] = GOODBOT, **settings: str
    ) -> Finished:
        """Run a command to its end."""
        process = start([*program, *arguments], self.folder, self.environment(settings))
        try:
            out, err = process.communicate(given.encode() if isinstance(given, str) else given, _HANGS_SECONDS)
        finally:
            process.kill()
            process.wait()
        return Finished(code=process.returncode, out=out.decode(), err=err.decode())

    def run_all(self, commands: Mapping[str, Sequence[str]], program: Sequence[str] = GOODBOT) -> dict[str, Finished]:
        """Run independent commands side by side, by name."""
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            done = pool.map(lambda command: self.run(*command, program=program), commands.values())
            return dict(zip(commands, done, strict=True))

    def chat(self, *arguments: str, program: Sequence[str] = GOODBOT, **settings: str) -> "Chat":
        """Start a chat that is talked to line by line."""
        return Chat([*program, "chat", *arguments], self.folder, self.environment(settings))

    @contextmanager
    def memory(self, dimension: int = 384) -> Iterator[Memory]:
        """The memory of the same database, in this process."""
        store = SqlStore.open(f"sqlite:///{self.database}")
        try:
            yield Memory(store, HashingEmbedder(dimension), clock=utc_now, new_id=TimeOrderedIds())
        finally:
            store.close()


class Chat:
    """A chat process at the other end of pipes. As a context manager it never outlives its test."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._process = start(command, folder, environment)
        self.screen: list[str] = []
        """Every line written so far, without its end."""
        self._errors: list[bytes] = []
        self._at_end = False
        self._news = Condition()
        self._readers = [Thread(target=self._read_screen), Thread(target=self._read_errors)]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def say(self, *lines: str) -> None:
        """Type lines. A process that is gone does not hear them."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        except BrokenPipeError:
            return

    def wait_for(self, part: str, *, since: int = 0) -> str:
        """The first line with this part, from the line numbered `since` on. Fails when the process ends without it."""
        found = partial(self._find, part, since)
        with self._news:
            in_time = self._news.wait_for(lambda: found() or self._at_end, _HANGS_SECONDS)
            line = found()
        assert line is not None, f"{part!r} {'never came' if in_time else 'did not come'}:\n{self.told()}"
        return line

    def wait_for_error(self, part: str, *, times: int = 1) -> None:
        """Until what it wrote to its error stream has this part so often. Fails when the process ends without it."""
        with self._news:
            self._news.wait_for(lambda: self._errors_with(part) >= times or self._at_end, _HANGS_SECONDS)
        assert self._errors_with(part) >= times, self.told()

    def ask(self, line: str, part: str) -> str:
        """Type a line and wait for a new line with this part."""
        since = len(self.screen)
        self.say(line)
        return self.wait_for(part, since=since)

    def told(self) -> str:
        """The screen and whatever went wrong, to be read by people."""
        return "\n".join([*self.screen, "-- errors --", b"".join(self._errors).decode(errors="replace")])

    def kill(self) -> list[str]:
        """`kill -9`. Returns what was on the screen."""
        self._process.kill()
        self._finish()
        return self.screen

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def signal(self, number: signal.Signals) -> Finished:
        """Send a signal, and wait for the end that it should bring."""
        self.send(number)
        return self.wait()

    def end(self) -> Finished:
        """Close the input and wait for the end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self.wait()

    def wait(self) -> Finished:
        """Wait for the end."""
        self._process.wait(_HANGS_SECONDS)
        self._finish()
        errors = b"".join(self._errors).decode()
        return Finished(code=self._process.returncode, out="".join(f"{line}\n" for line in self.screen), err=errors)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        self.kill()

    def _finish(self) -> None:
        self._process.wait(_HANGS_SECONDS)
        for reader in self._readers:
            reader.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _find(self, part: str, since: int) -> str | None:
        return next((line for line in self.screen[since:] if part in line), None)

    def _read_screen(self) -> None:
        assert self._process.stdout is not None
        left = b""
        while chunk := self._process.stdout.read(65_536):
            *lines, left = (left + chunk).split(b"\n")
            with self._news:
                self.screen += [line.decode() for line in lines]
                self._news.notify_all()
        with self._news:
            # A line that was cut off by a kill was not shown.
            self._at_end = True
            self._news.notify_all()

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while chunk := self._process.stderr.read(65_536):
            with self._news:
                self._errors.append(chunk)
                self._news.notify_all()

    def _errors_with(self, part: str) -> int:
        return b"".join(self._errors).count(part.encode())

"""Real processes that start at once: each is forked from a server that has imported the program already.

Such a process has its own id, memory, streams and files, gets signals and dies like any other. It shares the second or
two of importing, and after the program's last words its memory is given back at once, not object by object. The server
does nothing but fork, so no thread and no open file is inherited.
"""

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from memory.adapters.secrets import FormatFinder
from tests import CHECKOUT
from tests.doubles.lived_once import live_once
from tests.doubles.tables_once import make_tables_once

_PRELOADED = (
    *("bot.app.chat", "bot.app.health_checks", "bot.app.serve", "bot.adapters.terminal.messenger"),
    *("bot.cli.chat", "bot.cli.doctor", "bot.cli.episodes", "bot.cli.faults", "bot.cli.jobs"),
    *("bot.cli.query", "bot.cli.root", "bot.cli.run_tree", "bot.cli.serve", "bot.cli.maintenance"),
    *("bot.cli.handbook", "bot.cli.learning", "bot.cli.review", "bot.cli.transfer"),
    *("bot.adapters.discord.health_checks", "bot.adapters.discord.messenger", "bot.adapters.llm.dialogue"),
    *("bot.adapters.llm.provider_errors", "bot.adapters.llm.offline.model", "bot.adapters.llm.provider_model"),
    *("bot.adapters.slack.health_checks", "bot.adapters.slack.installations.workspaces"),
    "bot.adapters.slack.messenger",
    *("bot.agent.tools.calculator", "bot.agent.tools.clock", "bot.agent.tools.conversation"),
    *("bot.agent.tools.about", "bot.agent.tools.knowledge", "bot.agent.tools.notes", "bot.agent.tools.topics"),
    *("bot.agent.tools.who", "bot.agent.tree", "bot.conversation.goodbot", "bot.conversation.answers.people"),
    *("memory.adapters.embedding", "memory.adapters.secrets", "memory.adapters.sql", "memory.library.lifecycle"),
    *("bot.app.mcp", "bot.cli.mcp", "mcp.server.mcpserver", "mcp.server.stdio", "uvicorn"),
    *("alembic.command", "apscheduler.executors.asyncio", "apscheduler.schedulers.asyncio"),
    *("apscheduler.triggers.interval", "filelock", "jsonschema", "platformdirs", "referencing"),
    *("pydantic_ai.direct", "pydantic_ai.models.openai", "pydantic_ai.providers.openai", "simpleeval"),
    "Stemmer",
)
INTERPRETER = {"LANG": "C.UTF-8", "PYTHONPATH": str(CHECKOUT), "PYTHONWARNINGS": "default"}
"""What tells an interpreter how to begin."""

_LONGEST_REQUEST = 2**17
"""Bytes of a command with its environment, which are one datagram."""
_IMPORTS_S = 60
_READ_AT_THE_START = ("PYTHON", "LANG", "LC_", "TZ")


class Forked:
    """A process that was forked, with what tests use of `subprocess.Popen`."""

    def __init__(self, pid: int, status: BinaryIO, stdin: BinaryIO, stdout: BinaryIO, stderr: BinaryIO) -> None:
        self.pid = pid
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self._status = status
        self._returncode: int | None = None
        self._one_waits = Lock()

    @property
    def returncode(self) -> int:
        """How it ended; minus the number of the signal that ended it."""
        return self.wait()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end. Raises `subprocess.TimeoutExpired`."""
        with self._one_waits:
            if self._returncode is None:
                if not select.select([self._status], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
                self._returncode = int(self._status.readline())
                self._status.close()
            return self._returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self._returncode is None and not select.select([self._status], [], [], 0)[0]:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """`kill -9`."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, given: bytes, timeout: float) -> tuple[bytes, bytes]:
        """Type this, wait for the end, and return what it wrote to its output and to its errors."""
        with self.stdin, self.stdout, self.stderr, ThreadPoolExecutor(3) as pool:
            written = [pool.submit(stream.read) for stream in (self.stdout, self.stderr)]
            pool.submit(self._type, given)
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
            return written[0].result(), written[1].result()

    def _type(self, given: bytes) -> None:
        try:
            with self.stdin:
                while given:
                    given = given[self.stdin.write(given) :]
        except BrokenPipeError:
            return


def fork(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Forked | None:
    """Start `python -m MODULE ...` or `python -c CODE ...`. None where that cannot be done by forking.

    That is every other command, an interpreter with settings of its own, and a system whose libraries cannot be forked.
    """
    given = {name: value for name, value in environment.items() if name.startswith(_READ_AT_THE_START)}
    is_known = command[0] == sys.executable and command[1] in ("-m", "-c")
    if not is_known or given != INTERPRETER or sys.platform != "linux":
        return None
    with _one_starts:
        server = _server()
    return server.fork(command, folder, environment)


def forked_command(module: str, *arguments: str) -> tuple[str, ...]:
    """`python -m MODULE ...` as a command line, for whoever starts programs itself."""
    if sys.platform != "linux":
        return (sys.executable, "-m", module, *arguments)
    with _one_starts:
        server = _server()
    launcher = str(Path(__file__).with_name("forked_command.py"))
    return (sys.executable, "-I", "-S", launcher, server.address, "-m", module, *arguments)


_one_starts = Lock()


@cache
def _server() -> "_Server":
    return _Server()


class _Server:
    """The server of all processes of a run of tests, as one of them sees it: the first that needs it starts it.

    It ends when the run does.
    """

    def __init__(self) -> None:
        run = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
        self.address = f"goodbot-fork-server-{run}"  # a name that is no file
        self._ours, theirs = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2))
        self._one_asks = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        with theirs:
            try:
                theirs.bind(f"\0{self.address}")
            except OSError:  # another process was first
                pass
            else:
                self._process = _started(theirs, run)
        self._ours.connect(f"\0{self.address}")
        self.fork(["", "-c", ""], CHECKOUT, INTERPRETER).communicate(b"", _IMPORTS_S)

    def fork(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Forked:
        pipes = [os.pipe() for _ in range(4)]
        ours = [pipes[0][1], pipes[1][0], pipes[2][0], pipes[3][0]]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1], pipes[3][1]]
        asked = json.dumps([list(command[1:]), str(folder), dict(environment)]).encode()
        stdin, stdout, stderr, status = (
            os.fdopen(number, "wb" if number == ours[0] else "rb", buffering=0) for number in ours
        )
        with self._one_asks:
            try:
                socket.send_fds(self._ours, [asked], theirs)
            finally:
                for number in theirs:
                    os.close(number)  # else nobody would ever see that the server is gone
            pid = status.readline()
        assert pid, f"the server is gone: {self._process.communicate()[1].decode() if self._process else ''}"
        return Forked(int(pid), status, stdin, stdout, stderr)


def _started(asked: socket.socket, run: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", __name__, str(asked.fileno()), str(run)],
        stdin=subprocess.PIPE,  # what a process inherits knows that it is no file
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[asked.fileno()],
        cwd=CHECKOUT,
        env={"PATH": os.environ.get("PATH", os.defpath), "OPENBLAS_NUM_THREADS": "1", **INTERPRETER},
    )


# The server's side ---------------------------------------------------------------------------------------------------


def _serve(asked: socket.socket, run: int) -> list[str]:
    """Fork for every request. Returns in each new process, with its command, and at the end of the run, with none."""
    for module in _PRELOADED:
        import_module(module)
    FormatFinder().find("the first text imports the detectors")
    make_tables_once()
    live_once()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody here asks how a child ended
    run_ends = os.pidfd_open(run)
    while run_ends not in select.select([asked.fileno(), run_ends], [], [])[0]:
        request, streams, _, _ = socket.recv_fds(asked, _LONGEST_REQUEST, 4)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asked.close()
            os.close(run_ends)
            _fork_and_tell(streams)
            return _prepared(*json.loads(request))
        for number in streams:
            os.close(number)
    return []


def _fork_and_tell(streams: Sequence[int]) -> None:
    """Returns in the new process alone; its parent tells its id and how it ended, and is gone."""
    *standard, status = streams
    pid = os.fork()
    for number, stream in enumerate(standard):
        if pid == 0:
            os.dup2(stream, number)
        os.close(stream)
    if pid:
        os.write(status, b"%d\n" % pid)
        _, ended = os.waitpid(pid, 0)
        os.write(status, b"%d\n" % os.waitstatus_to_exitcode(ended))
        os._exit(0)
    os.close(status)


def _prepared(command: list[str], folder: str, environment: Mapping[str, str]) -> list[str]:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    return command


def _run(flag: str, program: str, *arguments: str) -> int:
    """Returns the code that the program ended with. Raises what the program raises."""
    sys.argv = [flag if flag == "-c" else "", *arguments]
    try:
        if flag == "-c":
            exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})
        else:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        return end.code
    return 0


def _leave(code: int) -> None:
    """Freeing all that was imported would cost as much as a whole command."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # as where it was closed
                stream.flush()
    except OSError:
        return
    os._exit(code)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as to_tests:
        command = _serve(to_tests, int(sys.argv[2]))
    if command:
        code = _run(*command)
        threading._shutdown()  # type: ignore[attr-defined]  # what the interpreter itself does next
        atexit._run_exitfuncs()
        _leave(code)
        sys.exit(code)

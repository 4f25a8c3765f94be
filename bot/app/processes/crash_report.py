"""Crash reports: which messages a crashed process was answering and, if possible, the traceback.

Each process has a file beside the database, private to the user and locked while the process lives. It is removed on an
orderly exit, so an unlocked file shows that a process died. It begins with one line for each message being answered,
which costs two small writes per message; a fault appends its traceback.
"""

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from memory.model import AbnormalExit, Incoming

log = logging.getLogger(__name__)

_ENDING = ".life"
_UNNAMED = f"{_ENDING}.new"
_LINE_BYTES = 512


class CrashReport:
    """The report of this process, at `path`. `trace` is the descriptor that a traceback is written to."""

    def __init__(self, path: Path, file: int, trace: int) -> None:
        self.trace = trace
        self.path = path
        self._file = file
        self._lines: list[bool] = []
        """Which lines are in use."""

    @contextmanager
    def record_in_progress(self, message: Incoming) -> Iterator[None]:
        """Record that this message is being answered."""
        number = self._lines.index(False) if False in self._lines else len(self._lines)
        self._lines[number : number + 1] = [True]
        self._write(number, json.dumps([message.scope.workspace, message.event_id]))
        try:
            yield
        finally:
            self._lines[number] = False
            self._write(number, "")

    def _write(self, number: int, text: str) -> None:
        # On the event loop: a few bytes into the page cache cost less than handing them over.
        if len(text) >= _LINE_BYTES:
            text = ""  # Longer than any platform's ids: no message is recorded.
        try:
            os.lseek(self._file, number * _LINE_BYTES, os.SEEK_SET)
            os.write(self._file, f"{text:<{_LINE_BYTES - 1}}\n".encode("ascii"))
        except OSError as error:
            log.warning("could not record messages in progress in %s: %s", self.path, error)

    def close(self) -> None:
        """Remove the report on an orderly exit."""
        self.path.unlink(missing_ok=True)
        os.close(self.trace)
        os.close(self._file)


def open_report(database: Path, process: str) -> CrashReport:
    """A new report for this process, whose run has the id `process`. Raises `OSError`."""
    path = database.with_name(f"{database.name}.{process}{_ENDING}")
    # Locked before it is renamed to its final name, because an unlocked report means a dead process.
    unnamed = path.with_name(f"{database.name}.{process}{_UNNAMED}")
    file = _new_locked(unnamed)
    trace = os.open(unnamed, os.O_WRONLY | os.O_APPEND)
    unnamed.rename(path)
    return CrashReport(path, file, trace)


def _new_locked(path: Path) -> int:
    """A new locked file. Another starting process may remove it before it is locked; it is then created again."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        _lock(file, waits=True)
        if os.fstat(file).st_nlink:
            return file
        os.close(file)


@contextmanager
def abnormal_exits(database: Path) -> Iterator[list[AbnormalExit]]:
    """The abnormal exits recorded by reports, which are removed at the end of the context, if nothing was raised.

    The last one with a traceback is kept for inspection (`last_report`). A report that cannot be read is skipped; one
    that cannot be removed is returned again next time.
    """
    _remove_unnamed(database)
    with ExitStack() as stack:
        found: dict[Path, AbnormalExit] = {}
        for path in _reports_beside(database, _ENDING):
            with _skip_unreadable(path):
                if _lock_dead(path, stack):
                    found[path] = _abnormal_exit(path)
        yield list(found.values())
        for path, ended in found.items():
            with _skip_unreadable(path):
                if ended.is_crash:
                    path.replace(last_report(database))
                    log.error("an earlier process crashed; its traceback is in %s", last_report(database))
                else:
                    path.unlink(missing_ok=True)


def last_report(database: Path) -> Path:
    """The path of the report of the last crash."""
    return database.with_name(f"{database.name}.crash")


def _reports_beside(database: Path, ending: str) -> list[Path]:
    found = (path for path in database.parent.iterdir() if path.name.startswith(f"{database.name}."))
    return sorted(path for path in found if path.name.endswith(ending))


def _remove_unnamed(database: Path) -> None:
    """Remove files of processes that died before their report had its final name. Locked files are in use."""
    for path in _reports_beside(database, _UNNAMED):
        with _skip_unreadable(path), ExitStack() as stack:
            if _lock_dead(path, stack):
                path.unlink(missing_ok=True)


@contextmanager
def _skip_unreadable(path: Path) -> Iterator[None]:
    """Log and skip a file that cannot be read."""
    try:
        yield
    except OSError as error:
        log.warning("could not read the crash report %s: %s", path, error)


def _lock_dead(path: Path, stack: ExitStack) -> bool:
    """Lock the report until the stack ends. False if its process lives, or if another process took it.

    Raises `OSError` if it cannot be opened.
    """
    try:
        file = os.open(path, os.O_RDONLY)
        stack.callback(os.close, file)
        _lock(file)
    except (FileNotFoundError, BlockingIOError):
        return False
    return path.is_file()


def _abnormal_exit(path: Path) -> AbnormalExit:
    # A line that could not be written leaves zero bytes.
    lines = path.read_text(encoding="utf-8", errors="replace").replace("\0", "").splitlines()
    noted = [line for line in lines if line.startswith("[")]
    return AbnormalExit(
        id=path.name.removesuffix(_ENDING).rpartition(".")[2],
        in_work=tuple(pair for line in noted if (pair := _pair(line)) is not None),
        is_crash=any(line.strip() for line in lines if line not in noted),
    )


def _pair(line: str) -> tuple[str, str] | None:
    """Workspace and event id; None for a truncated or damaged line."""
    try:
        workspace, event_id = (str(each) for each in json.loads(line))
        f"{workspace}{event_id}".encode()
    except (ValueError, TypeError, RecursionError):
        return None
    return None if "\0" in workspace + event_id else (workspace, event_id)


if sys.platform == "win32":

    def _lock(file: int, *, waits: bool = False) -> None:
        """Do nothing: on Windows an open file can be neither renamed nor deleted, so no reports are kept."""

else:
    import fcntl

    def _lock(file: int, *, waits: bool = False) -> None:
        """Lock an open file until it is closed. Raises `BlockingIOError` if another process has, unless this waits."""
        fcntl.flock(file, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)

"""The log: a file that rotates, written by a thread so that a slow disk does not block the event loop."""

import atexit
import logging
import sys
from contextlib import suppress
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TextIO

from bot.config import Settings
from memory.adapters.private_files import make_folder, narrow, open_private
from memory.adapters.secrets import FormatFinder
from memory.rules.redaction import Redactor

_BYTES = 5_000_000
_ROTATED = 3
TOLD_OTHERWISE = {"is_told_otherwise": True}
"""`extra` of a record that goes to the file alone, as the command ends with the same words on stderr."""
_LINE = "%(asctime)s %(levelname)s %(name)s %(message)s"


class SecretlessFormatter(logging.Formatter):
    """Formats records, tracebacks included, and removes what looks like a password, token or key."""

    def __init__(self, fmt: str = _LINE) -> None:
        super().__init__(fmt)
        self._redactor = Redactor(FormatFinder())

    def format(self, record: logging.LogRecord) -> str:
        """The line without secrets, and a traceback below it."""
        return _escaped(self._redactor.text(super().format(record)), "\n\t")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base class calls it so
        """The line, which no text in it can break into two. What is escaped might hide that a secret begins there."""
        return _escaped(self._redactor.text(super().formatMessage(record)), "")


def _escaped(text: str, kept: str) -> str:
    """A text in which characters that a terminal would interpret are escaped."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in kept else ascii(each)[1:-1] for each in text)


class LogFile(RotatingFileHandler):
    """A log file that only its user may read. The first write error is reported on stderr, in one line."""

    flushOnClose = False  # noqa: N815 - `logging.shutdown` leaves a file open that cannot be flushed; closing flushes too

    def __init__(self, path: Path, *, delay: bool = False) -> None:
        self._has_failed = False
        super().__init__(
            path, maxBytes=_BYTES, backupCount=_ROTATED, encoding="utf-8", errors="backslashreplace", delay=delay
        )
        self.setFormatter(SecretlessFormatter())
        for number in range(1, _ROTATED + 1):
            narrow(Path(f"{self.baseFilename}.{number}"))

    def _open(self) -> IO[str]:  # type: ignore[override]  # a text file, as the base class opens it
        make_folder(Path(self.baseFilename).parent)
        return open(self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors, opener=open_private)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the base class calls it so
        """Report the first error, for example that the disk is full."""
        if not self._has_failed:
            self._has_failed = True
            _complain(f"lines of the log are lost: {self.baseFilename}: {_reason(sys.exc_info()[1])}")


class ServiceLog(logging.StreamHandler[TextIO]):
    """The log on stderr. Errors of writing it are ignored."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(SecretlessFormatter())
        self.addFilter(lambda record: TOLD_OTHERWISE.keys().isdisjoint(vars(record)))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the base class calls it so
        """Ignore the error."""


def start_log(settings: Settings, *, to_stderr: bool = False) -> None:
    """Write the log to its file, not to the screen. If that is impossible, say so once on stderr.

    Pending records are written when the process exits.
    """
    root = logging.getLogger()
    root.setLevel(logging.WARNING)
    for name in ("bot", "memory"):
        logging.getLogger(name).setLevel(settings.log.level.upper())
    # A service also logs to stderr, which its host collects.
    handlers = [*_file(Path(settings.log.file)), *([ServiceLog()] if to_stderr else [])]
    lines: SimpleQueue[logging.LogRecord] = SimpleQueue()
    listener = QueueListener(lines, *handlers)
    listener.start()
    atexit.register(listener.stop)
    root.addHandler(QueueHandler(lines))


def note_failures(settings: Settings) -> None:
    """Log errors of a command to the log file, which is opened at the first one. Does nothing if a log is active."""
    root = logging.getLogger()
    if not root.hasHandlers():
        root.addHandler(LogFile(Path(settings.log.file), delay=True))


def _file(path: Path) -> list[logging.Handler]:
    try:
        return [LogFile(path)]
    except OSError as error:
        _complain(f"no log is written: {path}: {_reason(error)}")
        return []


def _complain(what: str) -> None:
    with suppress(OSError, ValueError, AttributeError):  # stderr is closed, or there is none
        sys.stderr.write(f"goodbot: {what}\n")


def _reason(error: BaseException | None) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)

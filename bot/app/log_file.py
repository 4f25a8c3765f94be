"""The log: a file that rotates, written by a thread of its own, for a slow disk must not hold the event loop."""

import atexit
import logging
import sys
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from queue import SimpleQueue

from bot.app.log_format import SecretlessFormatter
from bot.config import Settings


def start_log(settings: Settings, *, to_stderr: bool = False) -> None:
    """Write the log to its file; the screen belongs to people. Where that is impossible, say so once on stderr.

    What is not written yet at the end of the process is written then.
    """
    root = logging.getLogger()
    root.setLevel(logging.WARNING)
    for name in ("bot", "memory"):
        logging.getLogger(name).setLevel(settings.log.level.upper())
    # A service has no screen to keep clean, and its host collects what it writes there.
    handlers = [*_file(settings.log.file), *([logging.StreamHandler()] if to_stderr else [])]
    for handler in handlers:
        handler.setFormatter(SecretlessFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    lines: SimpleQueue[logging.LogRecord] = SimpleQueue()
    listener = QueueListener(lines, *handlers)
    listener.start()
    atexit.register(listener.stop)
    root.addHandler(QueueHandler(lines))


def _file(path: str) -> list[logging.Handler]:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return [RotatingFileHandler(path, maxBytes=5_000_000, backupCount=3, encoding="utf-8", delay=False)]
    except OSError as error:
        sys.stderr.write(f"goodbot: no log is written: {path}: {error.strerror}\n")
        return []

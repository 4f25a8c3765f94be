"""A lock among the processes on one database: only one of them finishes the work of a killed process."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.config import Settings
from memory.adapters.private_files import FILE_MODE


@contextmanager
def only_one(settings: Settings, part: str) -> Iterator[bool]:
    """Whether no other process runs this part (`chat`, `slack`, ...) on this database.

    The lock is the operating system's, so it ends with the process however that ends.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(Path(f"{settings.storage.place}.{part}.lock").expanduser(), mode=FILE_MODE)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        yield False
        return
    try:
        yield True
    finally:
        lock.release()

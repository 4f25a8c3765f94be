"""A lock among the processes on one database: one of them has a login, and finishes the work of a killed process."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.config import Settings
from memory.adapters.private_files import FILE_MODE


@contextmanager
def only_one(settings: Settings, part: str) -> Iterator[bool | None]:
    """Whether no other process runs this part (`chat`, `slack`, ...) on this database. None: it cannot be locked.

    The lock is the operating system's, so it ends with the process however that ends.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(Path(f"{settings.storage.beside}.{part}.lock").expanduser(), mode=FILE_MODE)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    except OSError:
        yield None
        return
    try:
        yield True
    finally:
        lock.release()

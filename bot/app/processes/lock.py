"""A lock among the processes on one database, by which one of them has a login and finishes a dead process's work."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.config import Settings
from memory.adapters.private_files import FILE_MODE, make_folder


@contextmanager
def only_one(settings: Settings, part: str) -> Iterator[bool | None]:
    """Whether this is the only process that runs this part (`chat`, `slack`, ...) on this database.

    None if it cannot be locked. The lock is the operating system's, so it ends with the process.
    """
    from filelock import FileLock, Timeout

    path = Path(f"{settings.storage.beside}.{part}.lock").expanduser()
    lock = FileLock(path, mode=FILE_MODE)
    try:
        make_folder(path.parent)  # for this user alone, where no database made it before
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

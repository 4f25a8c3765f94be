"""Files that hold what people said: for the user this process acts as and nobody else, and whole or not at all.

Nothing is ever made with a wider mode and narrowed later: in between, somebody else could open it. Where a system has
no such modes (Windows), they do nothing.
"""

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FILE_MODE = 0o600
FOLDER_MODE = 0o700

_OTHERS = 0o077
_PART = ".goodbot-"
_PART_ENDING = ".part"


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone. One that is there stays as it is.

    Raises `OSError`.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        with suppress(FileExistsError):  # made by another process meanwhile, or no folder
            each.mkdir(mode=FOLDER_MODE)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def make_file(path: Path) -> None:
    """Make an empty file unless there is one, and let nobody else read one that is. Raises `OSError`."""
    # Never opened where it exists: closing a database would give up the locks this process has on it.
    with suppress(FileExistsError):
        os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
    narrow(path)


def open_private(path: str, flags: int) -> int:
    """What `open(..., opener=open_private)` needs to make the file for this user alone."""
    descriptor = os.open(path, flags, FILE_MODE)
    narrow(Path(path))
    return descriptor


def narrow(path: Path) -> None:
    """Take a file of this user's away from others; earlier versions let them read it. What cannot be done is left."""
    with suppress(OSError):
        mode = path.stat().st_mode
        if stat.S_ISREG(mode) and mode & _OTHERS and is_own(path):
            path.chmod(stat.S_IMODE(mode) & ~_OTHERS)


def is_own(path: Path) -> bool:
    """Whether a file or folder is this user's, and so theirs to close."""
    try:
        return os.name != "nt" and path.stat().st_uid == os.geteuid()
    except OSError:
        return False


def is_open_to_others(path: Path) -> bool:
    """Whether another user may read or write a file, or enter a folder.

    False for what is not there, is meant for everybody (`/tmp`), or is neither (`/dev/stdout`).
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    is_meant = bool(mode & stat.S_ISVTX) or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return os.name != "nt" and bool(mode & _OTHERS) and not is_meant


def is_plain_file(path: Path) -> bool:
    """Whether a path names a file, or nothing yet: no pipe, no device, no stream of this process."""
    top = path.absolute().parts[1:3]
    if top[:1] in (("dev",), ("proc",)) and top != ("dev", "shm"):  # files in memory are files
        return False
    try:
        return not path.exists() or path.is_file()
    except OSError:  # a name that is too long
        return True


def write_whole(path: Path, content: bytes) -> None:
    """Put `content` into a file for this user alone. Whenever this ends, the file has the old content or the new.

    A link stays one: what it points to is replaced. Raises `OSError`, for a file too that may not be written.
    """
    with whole_file(path) as part:
        part.write_bytes(content)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """The same for what somebody else writes: a file beside it, which takes its place if nothing is raised."""
    target = Path(os.path.realpath(path))
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    _sweep(target.parent)
    descriptor, name = tempfile.mkstemp(_PART_ENDING, f"{_PART}{os.getpid()}-", target.parent)
    os.close(descriptor)
    part = Path(name)
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sweep(folder: Path) -> None:
    """Remove what killed processes left half-written."""
    if os.name == "nt":  # there is no asking whether a process lives
        return
    for part in folder.glob(f"{_PART}*{_PART_ENDING}"):
        number = part.name.removeprefix(_PART).partition("-")[0]
        with suppress(OSError, ValueError):
            if not is_alive(int(number)):
                part.unlink()


def is_alive(process: int) -> bool:
    """Whether there is a process with this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Make an empty file for this user alone, which `is_locked` until this or the process ends. Raises `OSError`."""
    descriptor = open_private(str(path), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether anybody, in whatever container, is within `locked_file`. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)


if sys.platform == "win32":

    def _lock(descriptor: int) -> bool:
        """Nothing to do: nobody removes a file there that is open."""
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        """Lock an open file until it is closed, unless somebody has."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _sync_folder(folder: Path) -> None:
    """Let the new name survive a power failure. A file system that cannot is not worth failing for."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

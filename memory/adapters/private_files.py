"""Private files: readable by this process's user only, and written completely or not at all.

Files are created with their final mode, not narrowed afterwards: in between, another user could open them. On Windows,
which has no such modes, they do nothing.
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

_OTHERS_MODE = 0o077
_PART = ".goodbot-"
_PART_ENDING = ".part"


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents for this user alone. Existing folders are not changed.

    Raises `OSError`.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        with suppress(FileExistsError):  # made by another process meanwhile, or a file
            each.mkdir(mode=FOLDER_MODE)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def make_file(path: Path) -> None:
    """Make an empty file for this user alone; an existing one is closed to other users. Raises `OSError`."""
    # An existing file is not opened: if it is a database, closing it would release this process's locks on it.
    with suppress(FileExistsError):
        os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
    narrow(path)


def open_private(path: str, flags: int) -> int:
    """An opener for `open(..., opener=open_private)` that makes the file for this user alone."""
    descriptor = os.open(path, flags, FILE_MODE)
    narrow(Path(path))
    return descriptor


def narrow(path: Path) -> None:
    """Remove other users' access to a file of this user, which earlier versions gave. Failures are ignored."""
    with suppress(OSError):
        mode = path.stat().st_mode
        if stat.S_ISREG(mode) and mode & _OTHERS_MODE and is_own(path):
            path.chmod(stat.S_IMODE(mode) & ~_OTHERS_MODE)


def is_own(path: Path) -> bool:
    """Whether this user owns a file or folder. False on Windows."""
    try:
        return os.name != "nt" and path.stat().st_uid == os.geteuid()
    except OSError:
        return False


def is_open_to_others(path: Path) -> bool:
    """Whether another user may read or write a file, or enter a folder.

    False if it does not exist, is meant for everybody (`/tmp`), or is neither a file nor a folder (`/dev/stdout`).
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    is_meant = bool(mode & stat.S_ISVTX) or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return os.name != "nt" and bool(mode & _OTHERS_MODE) and not is_meant


def is_plain_file(path: Path) -> bool:
    """Whether a path is a regular file or does not exist yet, so no pipe, device, or stream of this process."""
    top = path.absolute().parts[1:3]
    if top[:1] in (("dev",), ("proc",)) and top != ("dev", "shm"):  # /dev/shm has regular files
        return False
    try:
        return not path.exists() or path.is_file()
    except OSError:  # a name that is too long
        return True


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file's content atomically: if this is interrupted, the file has the old content or the new one.

    The new file is for this user alone. The target of a link is replaced, not the link. Raises `OSError`, also for a
    file without write permission.
    """
    with whole_file(path) as part:
        part.write_bytes(content)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` for the caller to write, which replaces it as `write_whole` does.

    It is deleted if an exception is raised. Raises `OSError`.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    _remove_leftovers(target.parent)
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


def _remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of killed processes."""
    if os.name == "nt":  # `is_alive` does not work there
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
    """Lock a file, made if missing, so that it `is_locked` until the context or the process ends. Raises `OSError`."""
    descriptor = open_private(str(path), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether a process, in any container, has the file in `locked_file`. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)


if sys.platform == "win32":

    def _lock(descriptor: int) -> bool:
        """Does nothing: on Windows, open files cannot be removed."""
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        """Lock an open file until it is closed. False if it is locked already."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power failure, if the file system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

"""The database file of a SQLite address, private to this user."""

import errno
from pathlib import Path

from memory.adapters.private_files import make_file, make_folder, narrow
from memory.errors import InvalidInput, StoreReadOnly, StoreUnavailable

_ANOTHER = "Set DATABASE_URL to a file in a folder you may write."


def path_of(url: str) -> Path:
    """The file of an address. The path is not unescaped: `%`, `#` and blanks are part of it. Raises `InvalidInput`."""
    rest = url.partition("://")[2]
    name = rest.removeprefix("/")
    if name == rest or name in ("", ":memory:") or "?" in name or "\0" in name:
        raise InvalidInput("DATABASE_URL must name a file and nothing else: sqlite:////absolute/path/goodbot.db.")
    try:
        return Path(name).expanduser().absolute()
    except RuntimeError as exc:
        raise InvalidInput(f"DATABASE_URL names {name}, and there is no such home folder. Name another file.") from exc


def exists(path: Path) -> bool:
    """Whether there is something at the path. Raises `StoreReadOnly` if it cannot be looked for."""
    try:
        return path.exists()
    except OSError as exc:
        raise StoreReadOnly(f"The database {path} cannot be looked for ({exc.strerror}). {_ANOTHER}") from exc


def make_folder_for(path: Path) -> None:
    """Make the folder of the file, if it is missing. Raises `StoreReadOnly`, for a full disk `StoreUnavailable`."""
    try:
        make_folder(path.parent)
    except OSError as exc:
        kind = StoreUnavailable if exc.errno == errno.ENOSPC else StoreReadOnly
        raise kind(f"The folder {path.parent} for the database cannot be created ({exc.strerror}). {_ANOTHER}") from exc


def make_private(path: Path) -> None:
    """Make the file for this user alone, as SQLite would let others read it, and narrow the files beside it.

    SQLite gives new files beside it the mode of the file. Raises `StoreUnavailable`.
    """
    try:
        make_file(path)
    except OSError as exc:
        raise StoreUnavailable(f"The database {path} cannot be created ({exc.strerror}). {_ANOTHER}") from exc
    for ending in ("-wal", "-shm", "-journal"):
        narrow(path.with_name(path.name + ending))

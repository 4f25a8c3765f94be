"""The file that an address of SQLite names, made for this user alone."""

from pathlib import Path

from memory.adapters.private_files import make_file, make_folder, narrow
from memory.errors import InvalidInput, StoreReadOnly, StoreUnavailable


def path_of(url: str) -> Path:
    """The file an address names, taken as it stands: `%`, `#` and blanks are part of the path."""
    rest = url.partition("://")[2]
    name = rest.removeprefix("/")
    if name == rest or name in ("", ":memory:") or "?" in name or "\0" in name:
        raise InvalidInput("DATABASE_URL must name a file and nothing else: sqlite:////absolute/path/goodbot.db.")
    try:
        return Path(name).expanduser().absolute()
    except RuntimeError as exc:
        raise InvalidInput(f"DATABASE_URL names {name}, and there is no such home folder. Name another file.") from exc


def make_folder_for(path: Path) -> None:
    """Make the folder of the file, if it is not there. Raises `StoreReadOnly` and `StoreUnavailable`."""
    try:
        make_folder(path.parent)
    except (PermissionError, FileExistsError, NotADirectoryError) as exc:
        raise StoreReadOnly(
            f"The folder {path.parent} for the database cannot be created ({exc.strerror}). "
            "Set DATABASE_URL to a file in a folder you may write."
        ) from exc
    except OSError as exc:
        raise StoreUnavailable(f"The folder {path.parent} cannot be created ({exc.strerror}).") from exc


def make_private(path: Path) -> None:
    """Make the file before SQLite would: it lets others read what it makes. Its two companions get the file's mode."""
    try:
        make_file(path)
    except OSError as exc:
        raise StoreUnavailable(f"The database {path} cannot be created ({exc.strerror}).") from exc
    for ending in ("-wal", "-shm", "-journal"):
        narrow(path.with_name(path.name + ending))

"""Saves a file without overwriting another."""

from pathlib import Path

from bot.errors import NotPermitted
from memory.adapters.private_files import FILE_MODE, write_whole

_TRIES = 1000


def save(folder: Path, name: str, content: bytes) -> Path:
    """Write a new file that only its owner can read: `lessons-2.json` if `lessons.json` exists. Returns its path.

    `name` is relative to `folder` unless it is absolute or starts with `~`.

    Raises `NotPermitted` if it cannot be written; no partial file is left.
    """
    try:
        path = folder / Path(name).expanduser()
    except RuntimeError as exc:
        raise NotPermitted(
            f"cannot save {name}: there is no such home folder; give another place with /export FILE"
        ) from exc
    for attempt in range(1, _TRIES + 1):
        target = path if attempt == 1 else path.with_name(f"{path.stem}-{attempt}{path.suffix}")
        try:
            target.touch(mode=FILE_MODE, exist_ok=False)
        except FileExistsError:
            continue
        except OSError as exc:
            raise NotPermitted(_refusal(target, exc)) from exc
        try:
            write_whole(target, content)
        except OSError as exc:
            target.unlink(missing_ok=True)
            raise NotPermitted(_refusal(target, exc)) from exc
        return target
    raise NotPermitted(f"cannot save {path}: {_TRIES} files of that name exist already; give another name")


def _refusal(path: Path, exc: OSError) -> str:
    return f"cannot save {path}: {exc.strerror or exc}; give another place with /export FILE"

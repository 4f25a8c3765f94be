"""Files that commands write."""

from pathlib import Path

from bot.config import Settings
from memory.adapters.private_files import is_plain_file, write_whole
from memory.errors import InvalidInput


def require_own(output: Path, settings: Settings) -> None:
    """Raise `InvalidInput` for a file that belongs to the bot: the database and what lies beside it, or the log."""
    where = output.resolve()
    for name in (settings.storage.beside, settings.log.file):
        kept = Path(name).resolve()
        if where.parent == kept.parent and where.name.startswith(kept.name):
            raise InvalidInput(f"cannot write {output}: it belongs to the bot; name another file with --output")


def save(path: Path, text: str) -> None:
    """Write a file whole or not at all. Raises `InvalidInput`."""
    try:
        if is_plain_file(path):
            write_whole(path, text.encode())
        else:
            path.write_bytes(text.encode())
    except OSError as exc:
        raise InvalidInput(f"cannot write {path}: {exc.strerror or exc}; name another file with --output") from exc

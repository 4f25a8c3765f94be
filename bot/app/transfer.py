"""Copying the whole configured memory into another database, or into a backup file."""

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bot.app.wiring.slack_installations import move_installations
from bot.config import Settings
from memory.errors import InvalidInput

if TYPE_CHECKING:
    from memory.adapters.sql.copies.backup import ShowsBackup
    from memory.adapters.sql.copies.move import MovedTable, ShowsMove


def move_memory(settings: Settings, target_url: str, show: "ShowsMove", *, parts: int = 0) -> "list[MovedTable]":
    """Copy everything into another database, with the tokens of Slack workspaces.

    Raises what `memory.adapters.sql.copies.move.move` raises, and `ConfigError` where the tokens cannot be brought.
    """
    from memory.adapters.sql.copies.move import move

    tokens = partial(move_installations, settings, target_url)
    return move(settings.storage.database_url.get_secret_value(), target_url, show, parts=parts, also=tokens)


def planned_move(settings: Settings, target_url: str) -> list[tuple[str, int]]:
    """The tables that a move would copy, with their numbers of rows. Changes nothing."""
    from memory.adapters.sql.copies.move import planned_tables

    return planned_tables(settings.storage.database_url.get_secret_value(), target_url)


def back_up_memory(settings: Settings, file: Path, show: "ShowsBackup") -> int:
    """Copy the memory into a file. Returns its size in bytes.

    Raises what `memory.adapters.sql.copies.backup.back_up` raises, and `InvalidInput` for what is no file.
    """
    from memory.adapters.sql import SqlStore
    from memory.adapters.sql.copies.backup import back_up

    url = settings.storage.database_url.get_secret_value()
    if not url.startswith("sqlite"):
        command = ["pg_dump", "--format=custom", f"--file={file}", settings.storage.without_password]
        raise InvalidInput(f"PostgreSQL makes its backups itself, while it is used: {shlex.join(command)}")
    if file.resolve() == Path(settings.log.file).resolve():
        raise InvalidInput(f"{file} is the bot's log. Name another file.")
    SqlStore.open(url, migrate=False).close()  # says what is wrong with it
    return back_up(Path(settings.storage.place).expanduser(), file, show)

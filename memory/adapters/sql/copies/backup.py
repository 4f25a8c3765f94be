"""Backups of a SQLite database, also while processes write to it."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from memory.adapters.private_files import whole_file
from memory.adapters.sql.transaction.driver import translated_errors
from memory.errors import InvalidInput, NotADatabase

_PAGES = 4_096
"""Pages that are copied between two calls of `show`: 16 MB."""
ShowsBackup = Callable[[int, int], None]
"""Called with the number of copied pages, and of all pages."""


def back_up(database: Path, file: Path, show: ShowsBackup) -> int:
    """Copy the database into a file for this user alone, replacing an earlier backup. Returns its size in bytes.

    The replacement is atomic. Raises `InvalidInput` for a file that is no backup or cannot be written, `NotADatabase`
    for a copy that is damaged, and kinds of `StoreUnavailable`.
    """
    try:
        _require_free(database, file)
        with whole_file(file) as part:
            _copy(database, part, file, show)
            return part.stat().st_size
    except OSError as exc:
        raise InvalidInput(f"The backup {file} cannot be written ({exc.strerror or exc}). Name another file.") from exc


def _require_free(database: Path, file: Path) -> None:
    """Raises `InvalidInput` if the file is the database, a database in use, or no backup."""
    where, kept = file.resolve(), database.resolve()
    if where == kept or where in _files_beside(kept):
        raise InvalidInput("The backup would take the place of the database. Name another file.")
    if any(each.exists() for each in _files_beside(where)):
        raise InvalidInput(f"{file} is a database in use. Name another file.")
    if file.exists() and not _is_backup(file):
        raise InvalidInput(f"{file} is no earlier backup, so it is left alone. Name another file.")


def _files_beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in ("-wal", "-shm", "-journal")]


def _is_backup(file: Path) -> bool:
    """Whether an existing file is a database of ours, or empty."""
    if not file.is_file() or not file.stat().st_size:
        return file.is_file()
    try:
        with closing(_readable(file)) as there:
            return bool(there.execute("SELECT 1 FROM sqlite_schema WHERE name = 'alembic_version'").fetchone())
    except sqlite3.Error:
        return False


def _copy(database: Path, part: Path, file: Path, show: ShowsBackup) -> None:
    with translated_errors(database), closing(_readable(database)) as source:
        # In one transaction, as copying would restart whenever another process writes between two steps.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        with translated_errors(file), closing(sqlite3.connect(part, isolation_level=None)) as target:
            target.execute("PRAGMA journal_mode=OFF")  # what fails is thrown away, and leaves no journal on a full disk
            source.backup(target, pages=_PAGES, progress=lambda _, left, pages: show(pages - left, pages))
            (state,) = target.execute("PRAGMA quick_check(1)").fetchone()
            target.execute("PRAGMA journal_mode=DELETE")  # no files beside it
    if state != "ok":
        raise NotADatabase(f"The database {database} is damaged ({state}), and so is a copy of it. Restore a backup.")


def _readable(database: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)

"""The tables of a new SQLite file are made once in a process of tests: every other new file begins as a copy of it.

Making them takes three times as long as all else that opening does.
"""

import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from memory.adapters.sql import SqlStore
from memory.adapters.sql.engines import schema
from memory.adapters.sql.engines.sqlite import SqliteDatabase
from memory.adapters.sql.engines.sqlite_file import make_folder_for, path_of

_open_really, _make_really = SqliteDatabase.at, schema.create_tables


def make_tables_once() -> None:
    """From now on, in this process and those that are forked from it."""
    _content()
    SqliteDatabase.at = classmethod(_at)  # type: ignore[method-assign,assignment]  # takes and returns the same


def make_tables_anew() -> None:
    """From now on every new file is made as outside of tests."""
    SqliteDatabase.at = _open_really  # type: ignore[method-assign]


@cache
def _content() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "new.db"
        SqlStore.open(f"sqlite:///{path}").close()
        return path.read_bytes()


def _at(_: type[SqliteDatabase], url: str, *, migrate: bool) -> SqliteDatabase:
    if migrate and schema.create_tables is _make_really:  # no test breaks it
        with suppress(OSError):  # which the real one meets as well
            _begin(path_of(url))
    return _open_really(url, migrate=migrate)


def _begin(path: Path) -> None:
    """Make the file if there is none: whole or not at all, as others may open it at the same time."""
    if os.path.lexists(path):
        return
    make_folder_for(path)
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_content())
        os.link(name, path)
    finally:
        Path(name).unlink()

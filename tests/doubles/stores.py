"""Stores for tests: opened fast, and looked into as whoever holds the database could."""

import shutil
import tempfile
from functools import cache
from pathlib import Path
from sqlite3 import Connection

from memory.adapters.sql import SqlStore
from memory.adapters.sql.engines.in_memory import IN_MEMORY
from memory.ports import Store


def open_file(path: Path) -> SqlStore:
    """A store on a file, which is made from one that was migrated before if it is not there."""
    if not path.exists():
        path.write_bytes(_migrated())
    return SqlStore.open(f"sqlite:///{path}")


@cache
def _migrated() -> bytes:
    folder = Path(tempfile.mkdtemp())
    SqlStore.open(f"sqlite:///{folder / 'empty.db'}").close()
    content = (folder / "empty.db").read_bytes()
    shutil.rmtree(folder)
    return content


def copied(store: Store) -> SqlStore:
    """Another database in memory with the same content."""
    copy = SqlStore.in_memory()
    _driver(store).backup(_driver(copy))
    return copy


def content(store: Store) -> bytes:
    """Every byte of a store: of its database in memory, or of the files in its folder."""
    assert isinstance(store, SqlStore)
    where = store._database.where
    if where == IN_MEMORY:
        return _driver(store).serialize()
    assert isinstance(where, Path)
    return b"".join(each.read_bytes() for each in sorted(where.parent.rglob("*")) if each.is_file())


def rows(store: Store) -> list[str]:
    """Every row that is stored, with its table's name before it, but for the marks of changes, which are random."""
    driver = _driver(store)
    tables = [name for (name,) in driver.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    kept = [name for name in tables if name != "lesson_versions"]
    return [f"{name} {row!r}" for name in kept for row in driver.execute(f'SELECT * FROM "{name}"')]


def _driver(store: Store) -> Connection:
    assert isinstance(store, SqlStore)
    driver = store._engine.raw_connection().driver_connection
    assert isinstance(driver, Connection)
    return driver

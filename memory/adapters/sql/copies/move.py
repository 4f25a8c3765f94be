"""Moves all tables from one database into another, which may be of another kind.

The source is read in one snapshot and not changed. The revision of the target's schema marks it as the target of a
move, so nothing else opens it until all tables are compared and equal. A move that broke off is continued: a table's
rows in the target are kept if they are the first ones of the source, and deleted if not. What was forgotten meanwhile
then leaves the target's files, too.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import Connection, Table, delete, text
from sqlalchemy.exc import SQLAlchemyError

from memory.adapters.sql.copies.whole_tables import Content, batches, content_in, content_of, count, split, write
from memory.adapters.sql.engines.partitioning import partition_tables
from memory.adapters.sql.engines.schema import HEAD_REVISION, MOVING
from memory.adapters.sql.store import SqlStore
from memory.adapters.sql.tables.columns import metadata
from memory.adapters.sql.transaction.session import begin
from memory.errors import Conflict, InvalidInput, MoveUnfinished, SchemaMismatch, StoreUnavailable

ShowsMove = Callable[[int, int, str], None]
"""Called with the number of moved rows, of all rows, and the current table."""

_MARK = text("UPDATE alembic_version SET version_num = :revision")
_OTHERS_WRITES = text("PRAGMA data_version")


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedTable:
    """A table that is equal in both databases."""

    name: str
    rows: int
    digest: str
    copied: int
    """Rows that this move has written; the others are from a move that broke off."""


def planned_tables(source_url: str, target_url: str) -> list[tuple[str, int]]:
    """The tables that a move would copy, with their numbers of rows. Nothing is created or changed.

    Raises `InvalidInput` for a target that is the source or is not empty, and kinds of `StoreUnavailable`.
    """
    with closing(SqlStore.open(source_url, migrate=False)) as source:
        try:
            with closing(SqlStore.open(target_url, migrate=False)) as target, target.connected() as connection:
                _require_another(source, target)
                _require_empty(connection)
        except (MoveUnfinished, SchemaMismatch):
            pass  # `move` continues a move that broke off, and makes or upgrades the tables
        with source.connected() as reading, begin(reading, writes=False):
            return [(table.name, count(reading, table)) for table in metadata.sorted_tables]


def move(
    source_url: str, target_url: str, show: ShowsMove, *, parts: int = 0, also: Callable[[], None] = lambda: None
) -> list[MovedTable]:
    """Copy all tables, and compare them. Calling it again continues a move that broke off.

    The target's tables are made in `parts` parts by workspace, unless 0 (`partition_tables`, PostgreSQL only). `also`
    copies data outside the tables before the target may be opened; if it raises, the move has broken off.

    Raises `InvalidInput` for a target that is the source, is not empty, or belongs to the move of another source;
    `Conflict` if the source was written to meanwhile: the snapshot is in the target, and another call, while nothing
    writes, copies the rest; kinds of `StoreUnavailable`.
    """
    with closing(SqlStore.open(source_url, migrate=False)) as source:
        if parts:
            partition_tables(target_url, parts)
        mark = MOVING + sha256(source.address.encode()).hexdigest()[:16]
        with (
            _opened(target_url, source, mark) as (target, is_continued),
            source.connected() as reading,
            target.connected() as writing,
        ):
            with begin(reading, writes=False):
                before = _state(reading)
                moving = _Move(reading, writing, show)
                moved = [moving.bring(table) for table in metadata.sorted_tables]
            with begin(reading, writes=False):
                after = _state(reading)
            if after != before:
                raise Conflict(
                    "The source was written to meanwhile, so not everything is in the target yet. End every process "
                    "of the bot, and give the same command again: it brings what is missing."
                )
            also()
            if is_continued:
                target.erase_free_space()
            _mark(writing, HEAD_REVISION)
            if writing.dialect.name == "postgresql":
                _gather_statistics(writing)
    return moved


def _gather_statistics(connection: Connection) -> None:
    """Gather the planner's statistics now: the server would do so a minute later or more, and assume empty tables.

    Where it cannot, because a table is locked, they are left to the server.
    """
    with suppress(SQLAlchemyError), begin(connection, writes=True):
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        connection.exec_driver_sql(f"ANALYZE {', '.join(metadata.tables)}")


@contextmanager
def _opened(url: str, source: SqlStore, mark: str) -> Iterator[tuple[SqlStore, bool]]:
    """The target, with the revision `mark` of a move in progress, and whether it had that before.

    Raises `InvalidInput` as `move` does.
    """
    try:
        target = SqlStore.open(url)
    except MoveUnfinished as error:
        if error.revision != mark:
            raise InvalidInput(
                "The move of another database into this one broke off. Finish that one, or name an empty one."
            ) from error
        target = SqlStore.open(url, moving=mark)
    with closing(target):
        _require_another(source, target)
        with target.connected() as connection:
            is_continued = _is_marked(connection, mark)
            if not is_continued:
                _require_empty(connection)
                _mark(connection, mark)
        yield target, is_continued


def _require_another(source: SqlStore, target: SqlStore) -> None:
    if target.address == source.address:
        raise InvalidInput("The target is the database that would be moved. Name another, empty one.")


def _require_empty(connection: Connection) -> None:
    with begin(connection, writes=False):
        full = next((table.name for table in metadata.sorted_tables if count(connection, table)), "")
    if full:
        raise InvalidInput(f"The target is not empty: its table {full} has rows. Name a database without any.")


def _is_marked(connection: Connection, mark: str) -> bool:
    with begin(connection, writes=False):
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == mark


def _mark(connection: Connection, revision: str) -> None:
    with begin(connection, writes=True):
        connection.execute(_MARK, {"revision": revision})


def _state(connection: Connection) -> tuple[object, ...]:
    """A value that changes if other connections write between two transactions of this one."""
    known = connection.execute(_OTHERS_WRITES).scalar() if connection.dialect.name == "sqlite" else None
    return (known, *(count(connection, table) for table in metadata.sorted_tables))


class _Move:
    """Copies tables from one connection, whose transaction is the snapshot, to another one."""

    def __init__(self, reading: Connection, writing: Connection, show: ShowsMove) -> None:
        self._reading, self._writing, self._show = reading, writing, show
        self._done = 0
        self._total = sum(count(reading, table) for table in metadata.sorted_tables)

    def bring(self, table: Table) -> MovedTable:
        """Make a table of the target equal to the source's. Raises `StoreUnavailable` if that fails."""
        done, there = self._done, self._target_content(table)
        source, copied = self._copy(table, there)
        if source is None:
            with begin(self._writing, writes=True):
                self._writing.execute(delete(table))  # rows that refer to it go too, and are copied later
            self._done, there = done, self._target_content(table)
            source, copied = self._copy(table, there)
        found = self._target_content(table) if copied else there
        if found != source:
            raise StoreUnavailable(
                f"The table {table.name} is not in the target as it is in the source ({found.rows} rows). Something "
                "else writes there, or a disk is failing; give the same command again."
            )
        return MovedTable(name=table.name, rows=found.rows, digest=found.digest, copied=copied)

    def _target_content(self, table: Table) -> Content:
        with begin(self._writing, writes=False):
            return content_in(self._writing, table)

    def _copy(self, table: Table, there: Content) -> tuple[Content | None, int]:
        """Write the source's rows that follow those in the target. Returns the source's content, and the rows written.

        The content is None if the target's rows are not the first ones of the source.
        """
        content, copied = Content(), 0
        for batch in batches(self._reading, table):
            known, new = split(batch, max(0, there.rows - content.rows))
            content += content_of(known)
            if new and not copied and content != there:
                return None, 0
            if new:
                with begin(self._writing, writes=True):
                    write(self._writing, table, new)
            content, copied, self._done = content + content_of(new), copied + len(new), self._done + len(batch)
            self._show(self._done, self._total, table.name)
        return (content if copied or content == there else None), copied

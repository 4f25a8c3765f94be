"""Everything from one database into another one, which may be of another kind.

Of the source one snapshot is read, and nothing of it is changed. The target says by its schema's revision that a move
into it has begun: nothing else opens it until every table holds the source's rows, which is looked at. What a move that
broke off has left there is gone on with where it is what the source begins with, and thrown away where not.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import Connection, Table, delete, text

from memory.adapters.sql.copies.whole_tables import Content, batches, content_in, content_of, count, split, write
from memory.adapters.sql.engines.partitioning import partition_tables
from memory.adapters.sql.engines.schema import HEAD_REVISION, MOVING
from memory.adapters.sql.store import SqlStore
from memory.adapters.sql.tables.columns import metadata
from memory.adapters.sql.transaction.session import begin
from memory.errors import Conflict, InvalidInput, MoveUnfinished, SchemaMismatch, StoreUnavailable

ShowsMove = Callable[[int, int, str], None]
"""Hears how many rows are done, of how many, and which table is at work."""

_MARK = text("UPDATE alembic_version SET version_num = :revision")
_OTHERS_WRITES = text("PRAGMA data_version")


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedTable:
    """A table that is the same in both databases now."""

    name: str
    rows: int
    digest: str
    copied: int
    """Rows written by this move; the others were there from one that broke off."""


def planned(source_url: str, target_url: str) -> list[tuple[str, int]]:
    """Which tables a move would bring, and how many rows each has now. Nothing is created or changed.

    Raises `InvalidInput` for a target that is the source or is not empty, and kinds of `StoreUnavailable`.
    """
    with closing(SqlStore.open(source_url, migrate=False)) as source:
        try:
            with closing(SqlStore.open(target_url, migrate=False)) as target, target.connected() as connection:
                _require_another(source, target)
                _require_empty(connection)
        except (MoveUnfinished, SchemaMismatch):
            pass  # a move that broke off is gone on with; without tables, or with older ones, it gets them first
        with source.connected() as reading, begin(reading, writes=False):
            return [(table.name, count(reading, table)) for table in metadata.sorted_tables]


def move(
    source_url: str, target_url: str, show: ShowsMove, *, parts: int = 0, also: Callable[[], None] = lambda: None
) -> list[MovedTable]:
    """Copy every table, and compare. What breaks off is gone on with by calling it again.

    The tables of the target are made in so many `parts` by workspace, if any (`partition_tables`, PostgreSQL alone).
    `also` brings what is beside the tables, before anything may open the target: where it raises, the move broke off.

    Raises `InvalidInput` for a target that is the source, is not empty, or belongs to the move of another source;
    `Conflict` where the source was written to meanwhile: everything up to then is in the target, and calling it again,
    while nothing writes, brings the rest; kinds of `StoreUnavailable`.
    """
    with closing(SqlStore.open(source_url, migrate=False)) as source:
        if parts:
            partition_tables(target_url, parts)
        mark = MOVING + sha256(source.address.encode()).hexdigest()[:16]
        with _opened(target_url, source, mark) as target, source.connected() as reading, target.connected() as writing:
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
            if writing.dialect.name == "postgresql":
                _gather_statistics(writing)
            _mark(writing, HEAD_REVISION)
    return moved


def _gather_statistics(connection: Connection) -> None:
    """Let the server plan for what is there: it looks by itself a minute later or more, and took tables for empty."""
    with begin(connection, writes=True):
        connection.exec_driver_sql(f"ANALYZE {', '.join(metadata.tables)}")


@contextmanager
def _opened(url: str, source: SqlStore, mark: str) -> Iterator[SqlStore]:
    """The target, marked as one that a move is under way to."""
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
            if not _is_marked(connection, mark):
                _require_empty(connection)
                _mark(connection, mark)
        yield target


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
    """What is another one after others wrote. Asked of one connection in two transactions."""
    known = connection.execute(_OTHERS_WRITES).scalar() if connection.dialect.name == "sqlite" else None
    return (known, *(count(connection, table) for table in metadata.sorted_tables))


class _Move:
    """Brings tables from one connection, whose transaction is the snapshot, to another one."""

    def __init__(self, reading: Connection, writing: Connection, show: ShowsMove) -> None:
        self._reading, self._writing, self._show = reading, writing, show
        self._done = 0
        self._total = sum(count(reading, table) for table in metadata.sorted_tables)

    def bring(self, table: Table) -> MovedTable:
        """Make a table of the target what it is in the source."""
        done, there = self._done, self._there(table)
        source, copied = self._copy(table, there)
        if source is None:
            with begin(self._writing, writes=True):
                self._writing.execute(delete(table))  # what belongs to its rows goes too, and is brought later
            self._done = done
            source, copied = self._copy(table, Content())
        found = self._there(table) if copied else there
        if found != source:
            raise StoreUnavailable(
                f"The table {table.name} is not in the target as it is in the source ({found.rows} rows). Something "
                "else writes there, or a disk is failing; give the same command again."
            )
        return MovedTable(name=table.name, rows=found.rows, digest=found.digest, copied=copied)

    def _there(self, table: Table) -> Content:
        with begin(self._writing, writes=False):
            return content_in(self._writing, table)

    def _copy(self, table: Table, there: Content) -> tuple[Content | None, int]:
        """Write what comes after the rows that are there: the content of the source, and how much was written.

        No content if those that are there are not the source's first ones.
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

"""The store: transactions on a SQLite file, a database in memory, or PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, Engine, Select, Table, func, select, union

from memory.adapters.sql.engines.database import Database
from memory.adapters.sql.engines.in_memory import IN_MEMORY
from memory.adapters.sql.engines.schema import HEAD_REVISION, require_schema
from memory.adapters.sql.engines.sqlite import SqliteDatabase
from memory.adapters.sql.queries.api_keys import SqlApiKeyTable
from memory.adapters.sql.queries.batches import SqlBatchTable
from memory.adapters.sql.queries.chat_settings import SqlChatSettingTable
from memory.adapters.sql.queries.conversation_leases import SqlConversationLeaseTable
from memory.adapters.sql.queries.deliveries import SqlDeliveryTable
from memory.adapters.sql.queries.episodes import SqlEpisodeTable
from memory.adapters.sql.queries.log import SqlEventLog
from memory.adapters.sql.queries.people import SqlChannelTable, SqlPeopleTable
from memory.adapters.sql.queries.polls import SqlJudgementTable
from memory.adapters.sql.queries.retrievals import SqlRetrievalTable
from memory.adapters.sql.queries.saved_messages import SqlSavedMessageTable
from memory.adapters.sql.queries.steps import SqlShortMemoryTable, SqlStepTable
from memory.adapters.sql.queries.teaching import SqlTeachingTable
from memory.adapters.sql.queries.topics import SqlTopicTable
from memory.adapters.sql.queries.totals import SqlTotalsTable
from memory.adapters.sql.queries.upkeep import SqlUpkeepTable
from memory.adapters.sql.recall import index
from memory.adapters.sql.recall.nearest import EXACT_ROWS, RecallIndex
from memory.adapters.sql.recall.plane_cache import PlaneCache
from memory.adapters.sql.tables.deliveries import incoming, outgoing
from memory.adapters.sql.tables.episodes import episodes, events
from memory.adapters.sql.tables.topics import topics
from memory.adapters.sql.transaction.driver import raise_memory_fault, translated_errors
from memory.adapters.sql.transaction.session import Session
from memory.errors import InvalidInput, StoreUnavailable
from memory.model.upkeep import DamagedRow
from memory.model.validation import require_text
from memory.ports import Transaction

RECALL_BYTES = 256 * 2**20
"""The most memory for copies of the recall index, in bytes: about 160,000 vectors of 384 dimensions."""


def _workspaces_in(table: Table) -> Select[Any]:
    """A query of the table's workspaces that steps through the key, so its time does not depend on the rows."""
    first = select(func.min(table.c.workspace).label("workspace")).cte(recursive=True)
    behind = select(func.min(table.c.workspace)).where(table.c.workspace > first.c.workspace).scalar_subquery()
    every = first.union_all(select(behind).where(first.c.workspace.is_not(None)))
    return select(every.c.workspace).where(every.c.workspace.is_not(None))


_WORKSPACES = union(*(_workspaces_in(table) for table in (episodes, incoming, outgoing, topics, events)))


class SqlStore:
    """A `memory.ports.Store` on SQLite or PostgreSQL. Make one with `SqlStore.open` or `SqlStore.in_memory`."""

    def __init__(self, database: Database, *, recall_bytes: int = RECALL_BYTES, exact_rows: int = EXACT_ROWS) -> None:
        self._database = database
        self._recall_bytes, self._exact_rows = recall_bytes, exact_rows
        self._plane_cache = self._new_plane_cache()
        self._recall = RecallIndex(recall_bytes, self._plane_cache, exact_rows)
        self._is_closed = False

    @classmethod
    def open(cls, url: str, *, migrate: bool = True, moving: str = "") -> "SqlStore":
        """Open the database of an address, and upgrade its schema if needed.

        `sqlite:////absolute/path.db`: the file and its folder are created if missing. The file, also an existing one,
        and a new folder are private to this user. `postgresql://user@host/name`: an existing database. `moving` is the
        revision of an unfinished move into the database that the caller continues (`move`).

        Raises `InvalidInput` for another kind of address, `StoreReadOnly`, `NotADatabase`, `SchemaMismatch` (newer; or
        not the newest and `migrate` is false: nothing is created or changed then) and `StoreUnavailable`.
        """
        store = cls(_database_at(url, migrate=migrate))
        try:
            store._database.require_ready(lambda: None)
            require_schema(store._database, migrate=migrate, moving=moving)
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def in_memory(cls) -> Self:
        """An empty store that keeps nothing on disk and is erased when it is closed.

        Threads share one connection: any transaction, also a reading one, waits for those of other threads, and raises
        `RuntimeError` inside another one of the same thread.
        """
        return cls(SqliteDatabase(IN_MEMORY))

    @property
    def address(self) -> str:
        """The database's unique address, without user and password."""
        return self._database.address

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """A connection for whole tables (`copies`); the caller begins transactions, and rows are not checked."""
        self._database.require_ready(self._replaced)
        with translated_errors(self._database.where), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with self._session(writes=True) as (session, recall):
            yield _transaction(session, recall)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self._session(writes=False) as (session, recall):
            yield _transaction(session, recall)

    def workspaces(self) -> list[str]:
        with self._session(writes=False) as (session, _):
            return sorted(row.workspace for row in session.rows(_WORKSPACES))

    def schema(self) -> str:
        if self._database.where != IN_MEMORY:
            self._database.require_ready(self._replaced)
            require_schema(self._database, migrate=False)
        return HEAD_REVISION

    def erase_free_space(self) -> None:
        """As `Store.erase_free_space`. Takes time in proportion to the database; waits up to 10 s for other processes.

        Raises `StoreUnavailable` if they do not finish; some erased content may then be left.
        """
        with self._session(writes=True) as (session, _):
            swept, valid = index.sweep(session)
        self._recall.erased(swept)
        if self._plane_cache is not None:
            try:
                self._plane_cache.erase(valid)
            except OSError as exc:
                raise StoreUnavailable(
                    f"A file beside {self._database.where} keeps erased rows ({exc.strerror}). Try again."
                ) from exc
        self._database.erase_free_space()

    def drop_erased(self) -> None:
        with self._session(writes=False) as (session, recall):
            recall.drop_erased(session)

    def damage(self, *, limit: int) -> list[DamagedRow]:
        return self._database.damage(limit=limit)

    def close(self) -> None:
        self._is_closed = True
        if self._plane_cache is not None:
            self._plane_cache.close()
        self._database.close()
        self._recall = RecallIndex(self._recall_bytes)

    def _new_plane_cache(self) -> PlaneCache | None:
        """The plane cache beside a file. None for PostgreSQL and databases in memory, which are searched in copies."""
        where = self._database.where
        return PlaneCache(where, self._plain_session) if isinstance(where, Path) and where != IN_MEMORY else None

    @property
    def _engine(self) -> Engine:
        return self._database.engine

    @contextmanager
    def _plain_session(self, writes: bool) -> Iterator[Session]:
        with self._session(writes=writes) as (session, _):
            yield session

    @contextmanager
    def _session(self, *, writes: bool) -> Iterator[tuple[Session, RecallIndex]]:
        """One transaction with the recall index of its file. Committed at the end, rolled back on any exception."""
        where = self._database.where
        with self._database.transaction_slot(writes=writes):
            if self._is_closed:
                raise StoreUnavailable(f"The store on {where} is closed; open it again.")
            self._database.require_ready(self._replaced)
            recall = self._recall  # before connecting, so that copies and rows are of the same file
            erasures_seen = recall.lessons.erasures_seen
            try:
                connection, transaction = self._database.begin(writes=writes)
            except Exception as exc:
                raise_memory_fault(exc, where)
                raise
            try:
                session = Session(connection, where, writes=writes, erasures_seen=erasures_seen)
                try:
                    yield session, recall
                finally:
                    session.end()
                try:
                    self._database.commit(connection, transaction)
                except Exception as exc:
                    raise_memory_fault(exc, where)
                    raise
            finally:
                self._database.release(connection)

    def _replaced(self) -> None:
        """The file was replaced by another one: drop everything that was kept of it."""
        if self._plane_cache is not None:
            self._plane_cache.stop()
        self._plane_cache = self._new_plane_cache()
        self._recall = RecallIndex(self._recall_bytes, self._plane_cache, self._exact_rows)
        require_schema(self._database, migrate=False)


def _database_at(url: str, *, migrate: bool) -> Database:
    # The address may hold a password, so no message repeats it.
    scheme, separator, _ = require_text(url, "the address of the database").partition("://")
    if not separator or not scheme.replace("+", "").isalnum():
        raise InvalidInput("DATABASE_URL is not an address. Use sqlite:////absolute/path/goodbot.db.")
    if scheme in ("sqlite", "sqlite+pysqlite"):
        return SqliteDatabase.at(url, migrate=migrate)
    if scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        from memory.adapters.sql.engines.postgres import PostgresDatabase  # its driver is an extra

        return PostgresDatabase.at(url)
    raise InvalidInput(
        f"DATABASE_URL names a {scheme} database; SQLite and PostgreSQL are supported. "
        "Use sqlite:////absolute/path/goodbot.db or postgresql://user@host/name."
    )


def _transaction(session: Session, recall: RecallIndex) -> Transaction:
    return Transaction(
        episodes=SqlEpisodeTable(session, recall),
        log=SqlEventLog(session),
        teaching=SqlTeachingTable(session),
        channels=SqlChannelTable(session),
        settings=SqlChatSettingTable(session),
        people=SqlPeopleTable(session),
        deliveries=SqlDeliveryTable(session),
        conversation_leases=SqlConversationLeaseTable(session),
        retrievals=SqlRetrievalTable(session),
        judgements=SqlJudgementTable(session),
        topics=SqlTopicTable(session),
        steps=SqlStepTable(session),
        short=SqlShortMemoryTable(session),
        upkeep=SqlUpkeepTable(session),
        api_keys=SqlApiKeyTable(session),
        saved=SqlSavedMessageTable(session),
        batches=SqlBatchTable(session),
        totals=SqlTotalsTable(session),
    )

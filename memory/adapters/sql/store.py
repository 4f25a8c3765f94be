"""The store on one SQLite database: a file that threads and processes share, or this process's memory."""

import shlex
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from threading import Lock, RLock, get_ident
from typing import Any, Self

from sqlalchemy import Connection, Select, Table, func, select, union

from memory.adapters.private_files import make_file, make_folder, narrow
from memory.adapters.sql import index
from memory.adapters.sql.api_keys import SqlApiKeyTable
from memory.adapters.sql.batches import SqlBatchTable
from memory.adapters.sql.channels import SqlChannelTable
from memory.adapters.sql.chat_settings import SqlChatSettingTable
from memory.adapters.sql.damage import find
from memory.adapters.sql.deliveries import SqlDeliveryTable
from memory.adapters.sql.delivery_tables import incoming, outgoing
from memory.adapters.sql.engine import begin, open_engine
from memory.adapters.sql.episodes import SqlEpisodeTable
from memory.adapters.sql.faults import may_write, read_only, translated
from memory.adapters.sql.in_memory import IN_MEMORY, open_in_memory
from memory.adapters.sql.judgements import SqlJudgementTable
from memory.adapters.sql.log import SqlEventLog
from memory.adapters.sql.nearest import EXACT_ROWS, RecallIndex
from memory.adapters.sql.people import SqlPeopleTable
from memory.adapters.sql.plane_shelf import PlaneShelf
from memory.adapters.sql.retrievals import SqlRetrievalTable
from memory.adapters.sql.saved import SqlSavedMessageTable
from memory.adapters.sql.schema import HEAD_REVISION, require_schema
from memory.adapters.sql.session import Session
from memory.adapters.sql.steps import SqlShortMemoryTable, SqlStepTable
from memory.adapters.sql.tables import episodes
from memory.adapters.sql.teaching import SqlTeachingTable
from memory.adapters.sql.topic_tables import topics
from memory.adapters.sql.topics import SqlTopicTable
from memory.adapters.sql.totals import SqlTotalsTable
from memory.adapters.sql.upkeep import SqlUpkeepTable
from memory.errors import InvalidInput, NotADatabase, SchemaMismatch, StoreReadOnly, StoreUnavailable
from memory.model.upkeep import DamagedRow
from memory.ports import Transaction

RECALL_BYTES = 256 * 2**20
"""How much memory the copies of the recall index may take: about 160,000 vectors of 384 dimensions."""


def _workspaces_in(table: Table) -> Select[Any]:
    """Each workspace once, from one to the next in the table's key: however many rows there are."""
    first = select(func.min(table.c.workspace).label("workspace")).cte(recursive=True)
    behind = select(func.min(table.c.workspace)).where(table.c.workspace > first.c.workspace).scalar_subquery()
    every = first.union_all(select(behind).where(first.c.workspace.is_not(None)))
    return select(every.c.workspace).where(every.c.workspace.is_not(None))


_WORKSPACES = union(*(_workspaces_in(table) for table in (episodes, incoming, outgoing, topics)))


class SqlStore:
    """`memory.ports.Store` on SQLite. Make one with `SqlStore.open` or `SqlStore.in_memory`."""

    def __init__(self, path: Path, *, recall_bytes: int = RECALL_BYTES, exact_rows: int = EXACT_ROWS) -> None:
        self._path = path
        self._is_in_memory = path == IN_MEMORY
        self._engine = open_in_memory() if self._is_in_memory else open_engine(path)
        self._file: tuple[int, int] | None = None
        self._recall_bytes, self._exact_rows = recall_bytes, exact_rows
        self._shelf = self._new_shelf()
        self._recall = RecallIndex(recall_bytes, self._shelf, exact_rows)
        self._file_lock = RLock()
        self._one_at_a_time = Lock()
        self._busy_thread: int | None = None
        self._is_closed = False

    @classmethod
    def open(cls, url: str, *, migrate: bool = True, moving: str = "") -> "SqlStore":
        """Open `sqlite:////absolute/path.db`, creating the file and its folder, and upgrade its schema if need be.

        Only this user may read the file, one of an earlier version too, and the folder if it is made here. `moving`
        names the unfinished move into it, of whoever goes on with that (`move`).

        Raises `InvalidInput` for another kind of address, `StoreReadOnly`, `NotADatabase`, `SchemaMismatch` (newer; or
        not the newest and `migrate` is false: nothing is created or changed then) and `StoreUnavailable`.
        """
        path = _path_of(url)
        if path.exists():
            _require_file(path)
        elif migrate:
            _make_folder(path)
        else:
            raise SchemaMismatch(f"There is no database at {path} yet. Run `goodbot migrate` to create it.")
        if not may_write(path):
            raise read_only(path)
        _make_private(path)
        store = cls(path)
        try:
            require_schema(store._engine, path, migrate=migrate, moving=moving)
            store._file = _identity(path)
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def in_memory(cls) -> Self:
        """An empty store that leaves nothing on disk and is gone when it is closed.

        Its threads share one connection: a transaction waits for those of other threads, a reading one too, and inside
        another of the same thread it raises `RuntimeError`.
        """
        return cls(IN_MEMORY)

    @property
    def address(self) -> str:
        """What tells this database from every other one; no password is in it."""
        return str(self._path.resolve())

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """A connection for what works on whole tables; `engine.begin` begins its transactions. No rule is kept here."""
        self._check_file()
        with translated(self._path), self._engine.connect() as connection:
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
        if not self._is_in_memory:
            self._check_file()
            require_schema(self._engine, self._path, migrate=False)
        return HEAD_REVISION

    def erase_free_space(self) -> None:
        """As the port says. Takes time in proportion to the file; waits up to 10 s for readers in other processes.

        Raises `StoreUnavailable` if they do not finish: some bytes may then still be in the log file.
        """
        with self._session(writes=True) as (session, _):
            swept = index.sweep(session)
        if self._shelf is not None:
            try:
                self._shelf.erase(swept)
            except OSError as exc:
                raise StoreUnavailable(
                    f"A file beside {self._path} keeps erased rows ({exc.strerror}). Try again."
                ) from exc
        # `secure_delete` overwrites what is deleted, but not the copies that stay where a full page was split: of
        # 1,300 rows deleted from a table of 4,000, up to seven were still in the file. So all is written anew.
        # Straight on the driver's connection, because neither may run inside a transaction.
        with self._alone(), translated(self._path), closing(self._engine.raw_connection()) as connection:
            connection.execute("VACUUM")
            is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:
            raise StoreUnavailable(
                f"Another process is still reading {self._path}, so its log file keeps erased text. Try again."
            )

    def damage(self, *, limit: int) -> list[DamagedRow]:
        if self._is_in_memory:
            return []  # nobody else can change it
        with translated(self._path):
            return [
                DamagedRow(
                    what=str(each),
                    remedy=f"restore a backup, or take the row out: {_shell(self._path, each.statement)}; then run "
                    "`goodbot rebuild`",
                )
                for each in find(self._path, limit=limit)
            ]

    def close(self) -> None:
        self._is_closed = True
        if self._shelf is not None:
            self._shelf.close()
        self._engine.dispose()
        self._recall = RecallIndex(self._recall_bytes)

    def _new_shelf(self) -> PlaneShelf | None:
        return None if self._is_in_memory else PlaneShelf(self._path, self._plain_session)

    @contextmanager
    def _plain_session(self, writes: bool) -> Iterator[Session]:
        with self._session(writes=writes) as (session, _):
            yield session

    @contextmanager
    def _session(self, *, writes: bool) -> Iterator[tuple[Session, RecallIndex]]:
        """One transaction, and the copies that go with its file: committed at the end, rolled back by any exception."""
        with self._alone() if writes or self._is_in_memory else nullcontext():
            self._check_file()
            recall = self._recall  # before connecting: copies of one file never meet another one's rows
            with translated(self._path):
                connection = self._engine.connect()
            try:
                with translated(self._path):
                    transaction = begin(connection, writes=writes)
                session = Session(connection, self._path, writes=writes)
                try:
                    yield session, recall
                finally:
                    session.end()
                with translated(self._path):
                    transaction.commit()
            finally:
                connection.close()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """In turn. SQLite has one writer at a time, and a connection one transaction.

        Waiting here is fair, waiting there is polling. Raises `RuntimeError` inside another turn of the same thread.
        """
        if self._busy_thread == get_ident():
            raise RuntimeError("a transaction inside another one of the same thread would wait for ever")
        with self._one_at_a_time:
            self._busy_thread = get_ident()
            try:
                yield
            finally:
                self._busy_thread = None

    def _check_file(self) -> None:
        """Notice that the file was removed or replaced, which an open connection does not."""
        if self._is_closed:
            raise StoreUnavailable(f"The store on {self._path} is closed; open it again.")
        if self._is_in_memory:
            return
        file = _identity(self._path)
        if file == self._file:
            return
        with self._file_lock:
            if file != self._file:
                self._engine.dispose()
                if self._shelf is not None:
                    self._shelf.stop()
                self._shelf = self._new_shelf()
                self._recall = RecallIndex(self._recall_bytes, self._shelf, self._exact_rows)
                require_schema(self._engine, self._path, migrate=False)
                self._file = file


def _transaction(session: Session, recall: RecallIndex) -> Transaction:
    return Transaction(
        episodes=SqlEpisodeTable(session, recall),
        log=SqlEventLog(session),
        teaching=SqlTeachingTable(session),
        channels=SqlChannelTable(session),
        settings=SqlChatSettingTable(session),
        people=SqlPeopleTable(session),
        deliveries=SqlDeliveryTable(session),
        retrievals=SqlRetrievalTable(session),
        judgements=SqlJudgementTable(session),
        world=SqlTopicTable(session),
        steps=SqlStepTable(session),
        short=SqlShortMemoryTable(session),
        upkeep=SqlUpkeepTable(session),
        api_keys=SqlApiKeyTable(session),
        saved=SqlSavedMessageTable(session),
        batches=SqlBatchTable(session),
        totals=SqlTotalsTable(session),
    )


def _path_of(url: str) -> Path:
    """The file an address names, taken as it stands: `%`, `#` and blanks are part of the path."""
    # The address may hold a password, so no message repeats it.
    scheme, separator, rest = url.partition("://")
    if not separator or not scheme.replace("+", "").isalnum():
        raise InvalidInput("DATABASE_URL is not an address. Use sqlite:////absolute/path/goodbot.db.")
    if scheme not in ("sqlite", "sqlite+pysqlite"):
        raise InvalidInput(
            f"DATABASE_URL names a {scheme} database; only SQLite is supported for now. "
            "Use sqlite:////absolute/path/goodbot.db."
        )
    name = rest.removeprefix("/")
    if name == rest or name in ("", ":memory:") or "?" in name or "\0" in name:
        raise InvalidInput("DATABASE_URL must name a file and nothing else: sqlite:////absolute/path/goodbot.db.")
    try:
        return Path(name).expanduser().absolute()
    except RuntimeError as exc:
        raise InvalidInput(f"DATABASE_URL names {name}, and there is no such home folder. Name another file.") from exc


def _require_file(path: Path) -> None:
    if not path.is_file():
        raise NotADatabase(f"{path} is not a file. Set DATABASE_URL to a database file.")


def _make_folder(path: Path) -> None:
    try:
        make_folder(path.parent)
    except (PermissionError, FileExistsError, NotADirectoryError) as exc:
        raise StoreReadOnly(
            f"The folder {path.parent} for the database cannot be created ({exc.strerror}). "
            "Set DATABASE_URL to a file in a folder you may write."
        ) from exc
    except OSError as exc:
        raise StoreUnavailable(f"The folder {path.parent} cannot be created ({exc.strerror}).") from exc


def _make_private(path: Path) -> None:
    """Make the file before SQLite would: it lets others read what it makes. Its two companions get the file's mode."""
    try:
        make_file(path)
    except OSError as exc:
        raise StoreUnavailable(f"The database {path} cannot be created ({exc.strerror}).") from exc
    for ending in ("-wal", "-shm", "-journal"):
        narrow(path.with_name(path.name + ending))


def _shell(path: Path, statement: str) -> str:
    return shlex.join(["sqlite3", str(path), statement])


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as exc:
        raise StoreUnavailable(
            f"The database {path} is gone ({exc.strerror}). Put it back, or restart to begin with an empty one."
        ) from exc
    return (found.st_dev, found.st_ino)

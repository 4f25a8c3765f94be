"""SQLite: a file that threads and processes share, or this process's memory."""

import shlex
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from threading import Condition, Lock, RLock, get_ident
from weakref import WeakSet

from sqlalchemy import Connection, Engine, RootTransaction, text
from sqlalchemy.exc import SQLAlchemyError, TimeoutError

from memory.adapters.sql.engines.database import RECOUNT
from memory.adapters.sql.engines.in_memory import IN_MEMORY, open_in_memory
from memory.adapters.sql.engines.planner import advise_planner
from memory.adapters.sql.engines.sqlite_engine import open_engine
from memory.adapters.sql.engines.sqlite_file import make_folder_for, make_private, path_of
from memory.adapters.sql.transaction.damage import find
from memory.adapters.sql.transaction.driver import may_write, read_only, translated
from memory.adapters.sql.transaction.session import begin
from memory.errors import NotADatabase, SchemaMismatch, StoreUnavailable
from memory.model.upkeep import DamagedRow

MOST_OPEN = 15
"""How many transactions a process has in one file at once. Each has the file open twice, and keeps pages of it."""
MOST_IDLE = 5
"""How many connections stay open for the next transactions."""
_WAIT_SECONDS = 30
"""How long to wait for one of this process's transactions to end."""


class SqliteDatabase:
    """`memory.adapters.sql.engines.database.Database` on SQLite."""

    another = "another file"
    tables = text("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")

    def __init__(self, path: Path) -> None:
        self.where = path
        self._is_in_memory = path == IN_MEMORY
        self.engine = open_in_memory() if self._is_in_memory else open_engine(path)
        self._file: tuple[int, int] | None = None
        self._file_lock = RLock()
        self._connections = _Connections(self.engine, most_idle=0 if self._is_in_memory else MOST_IDLE)
        self._one_at_a_time = Lock()
        self._busy_thread: int | None = None

    @classmethod
    def at(cls, url: str, *, migrate: bool) -> "SqliteDatabase":
        """The file that an address names, made private, and made at all if `migrate`. See `SqlStore.open`."""
        path = path_of(url)
        if path.exists():
            if not path.is_file():
                raise NotADatabase(f"{path} is not a file. Set DATABASE_URL to a database file.")
        elif migrate:
            make_folder_for(path)
        else:
            raise SchemaMismatch(f"There is no database at {path} yet. Run `goodbot migrate` to create it.")
        if not may_write(path):
            raise read_only(path)
        make_private(path)
        return cls(path)

    @property
    def address(self) -> str:
        return str(self.where.resolve())

    def require_ready(self, replaced: Callable[[], None]) -> None:
        """Notice that the file was removed or replaced, which an open connection does not."""
        if self._is_in_memory:
            return
        file = _identity(self.where)
        if file == self._file:
            return
        with self._file_lock:
            if file != self._file:
                self._connections.forget()
                replaced()
                self._file = file

    def turn(self, *, writes: bool) -> AbstractContextManager[None]:
        # Readers of a file wait for nobody. The one connection of a database in memory has one transaction at a time.
        return self._alone() if writes or self._is_in_memory else nullcontext()

    def begin(self, *, writes: bool) -> tuple[Connection, RootTransaction]:
        connection = self._connections.take()
        try:
            return connection, begin(connection, writes=writes)
        except BaseException:
            self._connections.give_back(connection, is_sound=False)
            raise

    def release(self, connection: Connection) -> None:
        self._connections.give_back(connection)

    def commit(self, connection: Connection, transaction: RootTransaction) -> None:
        transaction.commit()

    @contextmanager
    def upgrading(self) -> Iterator[Connection]:
        with self.engine.connect() as connection:
            # Off while tables are rebuilt, and checked at the end. SQLite ignores this inside a transaction.
            _execute(connection, "PRAGMA foreign_keys=OFF")
            try:
                with begin(connection, writes=True):
                    yield connection
                    self._require_whole(connection)
                    advise_planner(connection)
            finally:
                _execute(connection, "PRAGMA foreign_keys=ON")

    def erase_free_space(self) -> None:
        # `secure_delete` overwrites what is deleted, but not the copies that stay where a full page was split: of
        # 1,300 rows deleted from a table of 4,000, up to seven were still in the file. So all is written anew.
        # Straight on the driver's connection, because neither may run inside a transaction.
        with self._alone(), translated(self.where), closing(self.engine.raw_connection()) as connection:
            connection.execute("VACUUM")
            is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:
            raise StoreUnavailable(
                f"Another process is still reading {self.where}, so its log file keeps erased text. Try again."
            )

    def damage(self, *, limit: int) -> list[DamagedRow]:
        if self._is_in_memory:
            return []  # nobody else can change it
        # A connection of its own, because here a text may be none.
        address = f"{self.where.absolute().as_uri()}?mode=ro"
        with translated(self.where), closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = _text

            def query(statement: str) -> Iterable[Sequence[object]]:
                return connection.execute(statement)

            return [
                DamagedRow(
                    what=str(each),
                    remedy=f"restore a backup, or take the row out: {self._shell(each.statement)}{RECOUNT}",
                )
                for each in find(query, self.engine.dialect, limit=limit)
            ]

    def close(self) -> None:
        self._connections.close()
        self.engine.dispose()

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

    def _require_whole(self, connection: Connection) -> None:
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise NotADatabase(
                f"The database {self.where} is damaged: a row of {broken[0]} refers to nothing. Restore a backup."
            )

    def _shell(self, statement: str) -> str:
        return shlex.join(["sqlite3", str(self.where), f"PRAGMA foreign_keys=ON; {statement}"])


def _execute(connection: Connection, statement: str) -> None:
    """Run a statement outside any transaction."""
    driver = connection.connection.driver_connection
    if driver is not None:
        driver.execute(statement)


def _text(content: bytes) -> str:
    return content.decode(errors="surrogateescape")


class _Connections:
    """An engine's connections for transactions, which are used again. Safe for threads.

    To have one from SQLAlchemy's pool, and to give it back, takes longer than a transaction with few statements.
    """

    def __init__(self, engine: Engine, *, most_idle: int = MOST_IDLE) -> None:
        self._engine, self._most_idle = engine, most_idle
        self._change = Condition()
        # Weak, because an interrupted thread may lose one: it counts no more then, and SQLAlchemy closes it.
        self._open = WeakSet[Connection]()
        self._idle: list[Connection] = []
        self._opening = 0

    def take(self) -> Connection:
        """A connection without a transaction. Raises the errors of SQLAlchemy and the driver."""
        with self._change:
            if not self._idle and not self._change.wait_for(self._is_free, _WAIT_SECONDS):
                raise TimeoutError("every connection is in use")  # as SQLAlchemy's own pools do
            if self._idle:
                return self._idle.pop()
            those_of_now = self._open  # before connecting: the file may be replaced meanwhile
            self._opening += 1
        connection = None
        try:
            connection = self._engine.connect()
        finally:
            with self._change:
                self._opening -= 1
                if connection is None:
                    self._change.notify()
                else:
                    those_of_now.add(connection)
        return connection

    def give_back(self, connection: Connection, *, is_sound: bool = True) -> None:
        """After its transaction, which is rolled back if it did not end. What is not sound is closed."""
        is_kept = False
        try:
            is_clean = is_sound and _cleaned(connection)
            with self._change:
                is_kept = is_clean and connection in self._open and len(self._idle) < self._most_idle
                if is_kept:
                    self._idle.append(connection)
                    self._change.notify()
        finally:
            if not is_kept:
                self._close(connection)

    def forget(self) -> None:
        """Use none of those again that are open now: those in transactions are closed when they are given back."""
        with self._change:
            idle, self._idle, self._open = self._idle, [], WeakSet()
            self._change.notify_all()
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Keep none any more."""
        self._most_idle = 0
        self.forget()

    def _close(self, connection: Connection) -> None:
        try:
            connection.close()
        finally:
            with self._change:
                self._open.discard(connection)
                self._change.notify()

    def _is_free(self) -> bool:
        return bool(self._idle) or len(self._open) + self._opening < MOST_OPEN


def _cleaned(connection: Connection) -> bool:
    """Whether it is without a transaction, once one that did not end was rolled back."""
    try:
        if connection.get_transaction() is not None:
            connection.rollback()
        driver = None if connection.invalidated else connection.connection.driver_connection
    except SQLAlchemyError:
        return False
    return driver is not None and not driver.in_transaction  # after a COMMIT that failed, only the driver knows


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as exc:
        raise StoreUnavailable(
            f"The database {path} is gone ({exc.strerror}). Put it back, or restart to begin with an empty one."
        ) from exc
    return (found.st_dev, found.st_ino)

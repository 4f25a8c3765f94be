"""SQLite databases: a file that threads and processes share, or memory of this process."""

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
from memory.adapters.sql.engines.sqlite_file import exists, make_folder_for, make_private, path_of
from memory.adapters.sql.transaction.damage import find_damage
from memory.adapters.sql.transaction.driver import may_write, read_only, translated_errors
from memory.adapters.sql.transaction.session import begin
from memory.errors import NotADatabase, SchemaMismatch, StoreUnavailable
from memory.model.upkeep import DamagedRow

MOST_OPEN = 15
"""The most concurrent transactions of a process in one file. Each opens two files and has a page cache."""
MOST_IDLE = 5
"""How many idle connections are kept open."""
_WAIT_SECONDS = 30
"""How long to wait for one of this process's transactions to end."""


class SqliteDatabase:
    """A SQLite `memory.adapters.sql.engines.database.Database`."""

    another = "another file"
    tables = text("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    columns = text(
        "SELECT made.name, info.name FROM sqlite_master made, pragma_table_info(made.name) info "
        "WHERE made.type = 'table' AND made.name NOT LIKE 'sqlite_%'"
    )
    triggers = text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")

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
        """The database of an address. Its file is made private, and created if `migrate`. See `SqlStore.open`."""
        path = path_of(url)
        if exists(path):
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
        """As `Database.require_ready`: open connections do not notice that the file was removed or replaced."""
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

    def transaction_slot(self, *, writes: bool) -> AbstractContextManager[None]:
        # Readers of a file never wait. A database in memory has one connection, so one transaction at a time.
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
            # Off while tables are rebuilt, and checked at the end. SQLite ignores this pragma inside a transaction.
            _execute(connection, "PRAGMA foreign_keys=OFF")
            try:
                with begin(connection, writes=True):
                    yield connection
                    self._require_whole(connection)
                    advise_planner(connection)
            finally:
                _execute(connection, "PRAGMA foreign_keys=ON")

    def erase_free_space(self) -> None:
        # `secure_delete` overwrites deleted rows, but not copies left by page splits: of 1,300 rows deleted from a
        # table of 4,000, up to seven were still in the file. So the file is rewritten.
        # On the driver's connection, because neither statement may run inside a transaction.
        with self._alone(), translated_errors(self.where), closing(self.engine.raw_connection()) as connection:
            connection.execute("VACUUM")
            is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:
            raise StoreUnavailable(
                f"Another process is still reading {self.where}, so its log file keeps erased text. Try again."
            )

    def damage(self, *, limit: int) -> list[DamagedRow]:
        if self._is_in_memory:
            return []  # no other program can change it
        # Its own connection, because texts may be invalid UTF-8 here.
        address = f"{self.where.absolute().as_uri()}?mode=ro"
        with translated_errors(self.where), closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = _lenient_text

            def query(statement: str) -> Iterable[Sequence[object]]:
                return connection.execute(statement)

            return [
                DamagedRow(
                    what=str(each),
                    remedy=f"restore a backup, or take the row out: {self._shell(each.statement)}{RECOUNT}",
                )
                for each in find_damage(query, self.engine.dialect, limit=limit)
            ]

    def close(self) -> None:
        self._connections.close()
        self.engine.dispose()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One thread at a time: SQLite has one writer at a time, and a connection one transaction.

        Threads wait here and not in SQLite, which polls. Raises `RuntimeError` if this thread holds the lock already.
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


def _lenient_text(content: bytes) -> str:
    return content.decode(errors="surrogateescape")


class _Connections:
    """A pool of an engine's connections. Safe for threads.

    SQLAlchemy's own pools take longer per connection than a transaction with few statements.
    """

    def __init__(self, engine: Engine, *, most_idle: int = MOST_IDLE) -> None:
        self._engine, self._most_idle = engine, most_idle
        self._change = Condition()
        # Weak, because an interrupted thread may lose one: then it is not counted, and SQLAlchemy closes it.
        self._open = WeakSet[Connection]()
        self._idle: list[Connection] = []
        self._opening = 0

    def take(self) -> Connection:
        """A connection without a transaction. Waits `_WAIT_SECONDS` at most; raises SQLAlchemy's or driver errors."""
        with self._change:
            if not self._idle and not self._change.wait_for(self._is_free, _WAIT_SECONDS):
                raise TimeoutError("every connection is in use")  # as SQLAlchemy's own pools do
            if self._idle:
                return self._idle.pop()
            opened_before = self._open  # before connecting, as the file may be replaced meanwhile
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
                    opened_before.add(connection)
        return connection

    def give_back(self, connection: Connection, *, is_sound: bool = True) -> None:
        """Take back a connection. An open transaction is rolled back; a connection that is not sound is closed."""
        is_kept = False
        try:
            is_clean = is_sound and _is_reusable(connection)
            with self._change:
                is_kept = is_clean and connection in self._open and len(self._idle) < self._most_idle
                if is_kept:
                    self._idle.append(connection)
                    self._change.notify()
        finally:
            if not is_kept:
                self._close(connection)

    def forget(self) -> None:
        """Close all idle connections, and those in use when they are given back."""
        with self._change:
            idle, self._idle, self._open = self._idle, [], WeakSet()
            self._change.notify_all()
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Close all connections, now or when they are given back, and keep none any more."""
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


def _is_reusable(connection: Connection) -> bool:
    """Roll back an open transaction. Whether the connection can be used again."""
    try:
        if connection.get_transaction() is not None:
            connection.rollback()
        driver = None if connection.invalidated else connection.connection.driver_connection
    except SQLAlchemyError:
        return False
    return driver is not None and not driver.in_transaction  # SQLAlchemy does not know after a failed COMMIT


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as exc:
        raise StoreUnavailable(
            f"The database {path} is gone ({exc.strerror}). Put it back, or restart to begin with an empty one."
        ) from exc
    return (found.st_dev, found.st_ino)

"""SQLite: a file that threads and processes share, or this process's memory."""

import shlex
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from threading import Lock, RLock, get_ident

from sqlalchemy import Connection, RootTransaction, text

from memory.adapters.private_files import make_file, make_folder, narrow
from memory.adapters.sql.engines.database import RECOUNT
from memory.adapters.sql.engines.in_memory import IN_MEMORY, open_in_memory
from memory.adapters.sql.engines.planner import advise_planner
from memory.adapters.sql.engines.sqlite_engine import open_engine
from memory.adapters.sql.transaction.damage import find
from memory.adapters.sql.transaction.driver import may_write, read_only, translated
from memory.adapters.sql.transaction.session import begin
from memory.errors import InvalidInput, NotADatabase, SchemaMismatch, StoreReadOnly, StoreUnavailable
from memory.model.upkeep import DamagedRow


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
        self._one_at_a_time = Lock()
        self._busy_thread: int | None = None

    @classmethod
    def at(cls, url: str, *, migrate: bool) -> "SqliteDatabase":
        """The file that an address names, made private, and made at all if `migrate`. See `SqlStore.open`."""
        path = _path_of(url)
        if path.exists():
            if not path.is_file():
                raise NotADatabase(f"{path} is not a file. Set DATABASE_URL to a database file.")
        elif migrate:
            _make_folder(path)
        else:
            raise SchemaMismatch(f"There is no database at {path} yet. Run `goodbot migrate` to create it.")
        if not may_write(path):
            raise read_only(path)
        _make_private(path)
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
                self.engine.dispose()
                replaced()
                self._file = file

    @contextmanager
    def turn(self, *, writes: bool) -> Iterator[None]:
        # Readers of a file wait for nobody. The one connection of a database in memory has one transaction at a time.
        with self._alone() if writes or self._is_in_memory else nullcontext():
            yield

    def begin(self, *, writes: bool) -> tuple[Connection, RootTransaction]:
        connection = self.engine.connect()
        try:
            return connection, begin(connection, writes=writes)
        except BaseException:
            connection.close()
            raise

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


def _path_of(url: str) -> Path:
    """The file an address names, taken as it stands: `%`, `#` and blanks are part of the path."""
    rest = url.partition("://")[2]
    name = rest.removeprefix("/")
    if name == rest or name in ("", ":memory:") or "?" in name or "\0" in name:
        raise InvalidInput("DATABASE_URL must name a file and nothing else: sqlite:////absolute/path/goodbot.db.")
    try:
        return Path(name).expanduser().absolute()
    except RuntimeError as exc:
        raise InvalidInput(f"DATABASE_URL names {name}, and there is no such home folder. Name another file.") from exc


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


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as exc:
        raise StoreUnavailable(
            f"The database {path} is gone ({exc.strerror}). Put it back, or restart to begin with an empty one."
        ) from exc
    return (found.st_dev, found.st_ino)

"""PostgreSQL databases, which processes on many machines share.

The store needs serial writing transactions. SQLite lets one process write at a time; here, one transaction at a time
writes in each workspace. It takes an advisory lock, by the workspace's name, before its first statement that names the
workspace, and holds it until it commits. So the order of a workspace's numbers is the order of commits, and no
transaction has to be repeated because of another one.
"""

import logging
import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from threading import local
from typing import Protocol

from sqlalchemy import URL, Connection, Engine, RootTransaction, create_engine, event, make_url, text
from sqlalchemy.dialects.sqlite.dml import OnConflictClause
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import ConnectionPoolEntry

from memory.adapters.sql.engines.database import RECOUNT
from memory.adapters.sql.tables.columns import metadata
from memory.adapters.sql.transaction.damage import find_damage
from memory.adapters.sql.transaction.driver import as_memory_error, translated_errors
from memory.adapters.sql.transaction.session import begin
from memory.errors import Conflict, InvalidInput, StoreUnavailable
from memory.model.upkeep import DamagedRow

log = logging.getLogger(__name__)

LOCK_SECONDS = 10
"""How long to wait for another transaction's lock, as with SQLite."""
STATEMENT_SECONDS = 60
"""How long one statement may take."""
CONNECT_SECONDS = 5
RECONNECT_SECONDS = 10
"""How long a transaction tries to reconnect to a server that went away."""
_SILENT_MS = 15_000
"""How long a server may not answer until its connection counts as lost."""
_RETRY_SECONDS = 0.2
_CONNECTIONS = 20

_LOCKED = "workspaces whose lock is held"
_WORKSPACE = re.compile(r"(w|workspace)[_\d]*")
"""Names of parameters that hold a workspace, ours and those that SQLAlchemy makes for literal values."""
_NO_WORKSPACE = ""
"""The lock's name for statements without a workspace: leases, jobs, sweeps of all workspaces."""
_LOWERING = ("pg_unicode_fast", "und-x-icu", "pg_c_utf8")
"""Collations that lower-case letters of all alphabets, best first; a server may lack some."""

_MAY_CLEAN_SAMPLES = (
    "SELECT pg_has_role(datdba, 'USAGE') OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) "
    "FROM pg_database WHERE datname = current_database()"
)
_OWN_IT = "only who owns the database may clean them (ALTER DATABASE ... OWNER TO ...)"

# The statements use SQLAlchemy's upsert for SQLite, which PostgreSQL's compiler accepts if it has this attribute.
OnConflictClause.constraint_target = None  # type: ignore[attr-defined]  # not known to the class


class _Driver(Protocol):
    """A connection or a cursor of the driver."""

    autocommit: bool

    def execute(self, query: str, params: Sequence[object] = ...) -> Iterable[tuple[object, ...]]: ...


class PostgresDatabase:
    """A PostgreSQL `memory.adapters.sql.engines.database.Database`."""

    another = "another database"
    tables = text("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    columns = text(
        "SELECT relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid "
        "WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') "
        "AND attnum > 0 AND NOT attisdropped"
    )
    triggers = text(
        "SELECT tgname, coalesce(obj_description(tgfoid, 'pg_proc'), '') "
        "FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
        "WHERE relnamespace = current_schema()::regnamespace AND NOT tgisinternal AND tgenabled <> 'D'"
    )

    def __init__(self, url: URL) -> None:
        self.engine = open_engine(url)
        name = url.database or url.username or "of this user's name"
        self.where = f"{name} on {url.query.get('host') or url.host or 'this machine'}"
        self.address = url.set(username=None, password=None).render_as_string()
        self._was_reached = False
        self._this_thread = local()

    @classmethod
    def at(cls, url: str) -> "PostgresDatabase":
        """The database of an address. Raises `InvalidInput`."""
        try:
            address = make_url(url)
        except (ArgumentError, ValueError) as exc:
            raise InvalidInput(
                "DATABASE_URL is not an address. Use postgresql://user:password@host:5432/name; "
                "write special characters of the password in percent form."
            ) from exc
        try:
            return cls(address.set(drivername="postgresql+psycopg"))
        except (ImportError, NoSuchModuleError) as exc:
            raise InvalidInput(
                "DATABASE_URL names a PostgreSQL database; run pip install 'goodbot[postgres]'."
            ) from exc

    def require_ready(self, replaced: Callable[[], None]) -> None:
        """Does nothing: a server's database is not replaced while the bot runs."""

    @contextmanager
    def transaction_slot(self, *, writes: bool) -> Iterator[None]:
        # Transactions have their own connections. A nested writing one of the same thread would wait for itself.
        if not writes:
            yield
            return
        if getattr(self._this_thread, "writes", False):
            raise RuntimeError("a transaction inside another one of the same thread would wait for ever")
        self._this_thread.writes = True
        try:
            yield
        finally:
            self._this_thread.writes = False

    def begin(self, *, writes: bool) -> tuple[Connection, RootTransaction]:
        """As `Database.begin`. Retries if the server went away, which is safe before the first statement."""
        deadline = time.monotonic() + (RECONNECT_SECONDS if self._was_reached else 0)
        while True:
            try:
                begun = self._begun(writes=writes)
            except DBAPIError as exc:
                if not getattr(as_memory_error(exc, self.where), "retryable", False) or time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_SECONDS)
            else:
                self._was_reached = True
                return begun

    def _begun(self, *, writes: bool) -> tuple[Connection, RootTransaction]:
        connection = self.engine.connect()
        try:
            connection.info.pop(_LOCKED, None)
            transaction = begin(connection, writes=writes)
            if writes:
                connection.info[_LOCKED] = set()
        except BaseException:
            connection.close()
            raise
        return connection, transaction

    def commit(self, connection: Connection, transaction: RootTransaction) -> None:
        driver = connection.connection.driver_connection
        if driver is not None and driver.info.transaction_status.name == "INERROR":
            # The server would treat COMMIT as ROLLBACK without an error.
            raise Conflict(
                f"The database {self.where} refused a statement, and more was asked of it. Nothing was changed."
            )
        transaction.commit()

    def release(self, connection: Connection) -> None:
        connection.close()

    @contextmanager
    def upgrading(self) -> Iterator[Connection]:
        connection, transaction = self.begin(writes=True)
        with connection, transaction:
            connection.info.pop(_LOCKED)
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": lock_key("the schema")})
            yield connection

    def erase_free_space(self) -> None:
        # Deleted rows stay in the table's file until it is rewritten. VACUUM may not run inside a transaction.
        names = ", ".join(f'"{table.name}"' for table in metadata.sorted_tables)
        with translated_errors(self.where), self.engine.connect() as connection:
            driver = connection.connection.driver_connection
            if driver is None:
                raise StoreUnavailable(f"The database {self.where} cannot be reached. Try again in a moment.")
            driver.execute("SET statement_timeout = 0")
            try:
                driver.execute(f"VACUUM (FULL, ANALYZE) {names}")
                # Samples of the columns that queries are planned by have been replaced, but stay in their table's file.
                if next(iter(driver.execute(_MAY_CLEAN_SAMPLES)))[0]:
                    driver.execute("VACUUM (FULL) pg_catalog.pg_statistic")
                else:  # which the server would skip without an error
                    log.warning("forgotten words may stay in samples of columns of %s: %s", self.where, _OWN_IT)
            finally:
                driver.execute(f"SET statement_timeout = '{STATEMENT_SECONDS}s'")

    def damage(self, *, limit: int) -> list[DamagedRow]:
        with translated_errors(self.where):
            connection, transaction = self.begin(writes=False)
            with connection, transaction:

                def query(statement: str) -> Iterator[Sequence[object]]:
                    yield from connection.exec_driver_sql(statement, execution_options={"yield_per": 1000})

                return [
                    DamagedRow(
                        what=str(each),
                        remedy=f"restore a backup, or take the row out: {_shell(each.statement)}{RECOUNT}",
                    )
                    for each in find_damage(query, self.engine.dialect, limit=limit)
                ]

    def close(self) -> None:
        self.engine.dispose()


def open_engine(url: URL, *, checks_connections: bool = False) -> Engine:
    """An engine for one database, with a pool of connections. It connects when first used.

    With `checks_connections`, each connection is tested before it is used, for callers that do not try again.
    """
    silence = {"tcp_user_timeout": str(_SILENT_MS), "keepalives_idle": "10", "keepalives_interval": "5"}
    engine = create_engine(
        url,
        connect_args={"connect_timeout": str(CONNECT_SECONDS), "application_name": "goodbot", **silence},
        hide_parameters=True,  # people's messages are parameters and must not be logged
        pool_size=_CONNECTIONS // 2,
        max_overflow=_CONNECTIONS // 2,
        pool_timeout=LOCK_SECONDS,
        pool_use_lifo=True,
        pool_pre_ping=checks_connections,
        execution_options={"preserve_rowcount": True},  # also for inserts: it tells whether the row existed
    )
    event.listen(engine, "connect", _connected)
    event.listen(engine, "first_connect", _find_collation(engine))
    event.listen(engine, "before_cursor_execute", _lock_first)
    return engine


def _connected(connection: _Driver, _: ConnectionPoolEntry) -> None:
    # The driver begins no transactions by itself, as with SQLite.
    connection.autocommit = True
    connection.execute(
        f"SET lock_timeout = '{LOCK_SECONDS}s'; SET statement_timeout = '{STATEMENT_SECONDS}s'; "
        f"SET idle_in_transaction_session_timeout = '{STATEMENT_SECONDS}s'; SET timezone = 'UTC'; SET jit = off"
    )


def _find_collation(engine: Engine) -> Callable[[_Driver, ConnectionPoolEntry], None]:
    """A listener that stores the name of the server's best collation of `_LOWERING` in the dialect."""

    def learn(connection: _Driver, _: ConnectionPoolEntry) -> None:
        rows = connection.execute("SELECT collname FROM pg_collation WHERE collname = ANY(%s)", [list(_LOWERING)])
        known = {name for (name,) in rows}
        best = next((name for name in _LOWERING if name in known), None)
        if best is not None:
            engine.dialect.lowering_collation = best  # type: ignore[attr-defined]  # ours (`dialect.py`)

    return learn


def _lock_first(
    connection: Connection,
    cursor: _Driver,
    statement: str,
    parameters: Mapping[str, object] | Sequence[Mapping[str, object]],
    *_: object,
) -> None:
    """Take the locks of the workspaces that a statement of a writing transaction names, before it runs."""
    held = connection.info.get(_LOCKED)
    if held is None:
        return
    named = _workspaces_in(parameters) or ({_NO_WORKSPACE} if parameters else set())
    for workspace in sorted(named - held):
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [lock_key(workspace)])
        held.add(workspace)


def _workspaces_in(parameters: Mapping[str, object] | Sequence[Mapping[str, object]]) -> set[str]:
    """The workspaces that a statement's parameters name."""
    rows = [parameters] if isinstance(parameters, Mapping) else parameters
    return {str(value) for row in rows for name, value in row.items() if _WORKSPACE.fullmatch(name)}


def _shell(statement: str) -> str:
    return shlex.join(["psql", "$DATABASE_URL", "-c", statement]).replace("'$DATABASE_URL'", '"$DATABASE_URL"')


def lock_key(name: str) -> int:
    """The key of an advisory lock: a signed 64-bit hash of its name, the same in all processes."""
    return int.from_bytes(blake2b(f"goodbot/{name}".encode(), digest_size=8).digest(), signed=True)

"""The session of one transaction, which executes statements."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar
from weakref import WeakSet

from sqlalchemy import ColumnElement, Connection, FromClause, RootTransaction, Row, Select, and_, bindparam
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.dml import ReturningInsert
from sqlalchemy.sql.schema import Table

from memory.adapters.row_validation import chunks, require_storable
from memory.adapters.sql.tables.dialect import Insert, insert
from memory.adapters.sql.tables.episodes import counters
from memory.adapters.sql.transaction.damage import Damage, damage_error, in_rows, of_row
from memory.adapters.sql.transaction.driver import (
    Maker,
    Parameters,
    PreparedStatement,
    Where,
    is_driver_error,
    prepare,
    raise_memory_fault,
    translated_errors,
)
from memory.errors import Conflict, NotFound, StoreUnavailable

T = TypeVar("T")

ID_LIMIT = 10_000
"""The most ids of one statement; SQLite allows 32,766 parameters."""

_LONGEST_LIST = 64
"""The most items of a list for which a statement is prepared."""
_run_before: WeakSet[Executable] = WeakSet()

_BEGINNINGS = {
    ("sqlite", False): "BEGIN",
    ("sqlite", True): "BEGIN IMMEDIATE",
    # Reading: one snapshot for all statements. Writing: each statement sees what was committed before (`postgres.py`).
    ("postgresql", False): "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    ("postgresql", True): "BEGIN ISOLATION LEVEL READ COMMITTED",
}


def begin(connection: Connection, *, writes: bool) -> RootTransaction:
    """Begin a transaction. A writing one takes SQLite's write lock at once.

    Not done by a listener of SQLAlchemy's `begin` event, which would slow down each statement.
    """
    transaction = connection.begin()
    sql = _BEGINNINGS[connection.dialect.name, writes]
    if connection.dialect.name == "sqlite":
        on_driver(connection, sql, ())
    else:
        connection.exec_driver_sql(sql)
    return transaction


def on_driver(connection: Connection, sql: str, values: Any) -> Any:  # noqa: ANN401 - the driver's
    """Execute a statement on the driver, with one row of parameters or a list of rows; returns the cursor.

    SQLAlchemy's `before_cursor_execute` listeners are called. A lost connection is not used again.
    """
    cursor, is_many = connection.connection.cursor(), isinstance(values, list)
    try:
        for listener in connection.dispatch.before_cursor_execute:
            listener(connection, cursor, sql, values, None, is_many)
        (cursor.executemany if is_many else cursor.execute)(sql, values)
    except connection.dialect.loaded_dbapi.Error as exc:
        if connection.dialect.is_disconnect(exc, connection.connection, None):
            connection.invalidate(exc)
        raise
    return cursor


def _found_on_driver(connection: Connection, sql: str, values: Any, *, is_first: bool = False) -> list[Any]:  # noqa: ANN401 - the driver's
    """The rows of a query on the driver, or only the first.

    The cursor is closed at once: an exception that passed here keeps it alive by its traceback, and an open cursor with
    rows left keeps SQLite's read snapshot, which blocks `erase_free_space`.
    """
    cursor = on_driver(connection, sql, values)
    try:
        return cursor.fetchmany(1) if is_first else cursor.fetchall()  # type: ignore[no-any-return]  # the driver's
    finally:
        cursor.close()


@cache
def put_statement(table: Table) -> Insert:
    """Insert a row, or update the one with the same key in place, so that rows that refer to it stay."""
    statement = insert(table)
    keys = list(table.primary_key)
    rest = {column.name: statement.excluded[column.name] for column in table.columns if column not in set(keys)}
    return statement.on_conflict_do_update(index_elements=keys, set_=rest)


@cache
def add_statement(table: Table) -> Executable:
    """Insert a row unless its key or a unique index has one; the row count tells."""
    return insert(table).on_conflict_do_nothing()


def matching(table: FromClause, *names: str) -> ColumnElement[bool]:
    """The condition that a row's workspace and these columns equal the parameters of the same names."""
    return and_(*(table.c[name] == bindparam(name) for name in ("workspace", *names)))


def among(table: FromClause, name: str) -> ColumnElement[bool]:
    """The condition that a row is of the `workspace` and has one of the `ids` in this column (`Session.each`)."""
    return and_(table.c.workspace == bindparam("workspace"), table.c[name].in_(bindparam("ids", expanding=True)))


def row_of(table: Table, value: object) -> dict[str, Any]:
    """An object as a row: each column has the object's attribute of that name. Raises as `require_storable` does."""
    require_storable(value)
    names, values_of = _reader(table)
    return dict(zip(names, values_of(value), strict=True))


@cache
def _reader(table: Table) -> tuple[Sequence[str], Maker]:
    """The names of a table's columns, and a getter of their values. Cached, as they take longer than reading."""
    names = [column.name for column in table.columns]
    return names, attrgetter(*names)


def _advance_statement() -> ReturningInsert[tuple[int]]:
    statement = insert(counters).values(value=bindparam("steps"))
    return statement.on_conflict_do_update(
        index_elements=[counters.c.workspace, counters.c.name],
        set_={"value": counters.c.value + statement.excluded.value},
    ).returning(counters.c.value)


_ADVANCE = _advance_statement()


class SqlTable:
    """Base of the tables of one transaction."""

    def __init__(self, session: "Session") -> None:
        self._session = session


class Session:
    """Executes the statements of one transaction, and translates errors."""

    def __init__(self, connection: Connection, where: Where, *, writes: bool, erasures_seen: int = 0) -> None:
        self._connection = connection
        self._where = where
        self._writes = writes
        self.erasures_seen = erasures_seen
        """How many erasures the process may have seen before the transaction began (`LessonCache`)."""
        self.is_sqlite = connection.dialect.name == "sqlite"
        """Whether this is SQLite: statements may call Python functions, and a failed one leaves the transaction as it
        was. Neither holds for PostgreSQL."""
        self._is_open = True
        self.indexed: set[str] = set()
        """Workspaces whose recall index this transaction has changed, committed or not."""
        self._marks: dict[str, int] = {}
        self._has_changed = False
        self._cursors: list[Any] = []
        """Cursors that may have rows left, which keep the connection's read snapshot."""

    def note_mark(self, workspace: str, mark: int | None) -> None:
        """Store a workspace's mark (`lesson_versions`), as this transaction has just read it; None is ignored.

        Ignored in writing transactions of PostgreSQL too, as their next statement sees what others committed meanwhile.
        """
        if mark is not None and (self.is_sqlite or not self._writes):
            self._marks[workspace] = mark

    def mark_of(self, workspace: str) -> int | None:
        """The workspace's mark, if it was noted and this transaction has changed nothing."""
        return None if self._has_changed else self._marks.get(workspace)

    def end(self) -> None:
        """End the session: close all cursors, and allow no more statements."""
        self._is_open = False
        for cursor in self._cursors:
            cursor.close()

    def rows(self, statement: Executable, parameters: Parameters | None = None) -> Sequence[Row[Any]]:
        """The rows of a query."""
        return self._found(statement, parameters)

    def row(self, statement: Executable, parameters: Parameters | None = None) -> Row[Any] | None:
        """The first row of a query, or None."""
        return next(iter(self._found(statement, parameters, is_first=True)), None)

    def driver_rows(self, statement: Executable, parameters: dict[str, Any]) -> Sequence[Any]:
        """The rows of a query with little overhead, as the driver's values: in SQLite a Boolean may be 0 or 1."""
        self._require_open()
        try:
            dialect = self._connection.dialect
            if prepared := prepare(statement, dialect, tuple(parameters)):
                return _found_on_driver(self._connection, prepared.sql, prepared.values(parameters))
        except Exception as exc:
            raise_memory_fault(exc, self._where)
            raise
        return self.rows(statement, parameters)

    def each_driver_row(self, statement: Executable, parameters: dict[str, Any]) -> Iterator[Any]:
        """`driver_rows` one by one: SQLite searches only as far as rows are taken."""
        self._require_open()
        try:
            dialect = self._connection.dialect
            if self.is_sqlite and (prepared := prepare(statement, dialect, tuple(parameters))):
                cursor = on_driver(self._connection, prepared.sql, prepared.values(parameters))
                self._cursors.append(cursor)
                try:
                    yield from iter(cursor.fetchone, None)
                finally:
                    if self._is_open:  # else `end` has closed it, and the connection may be closed too
                        cursor.close()
                return
        except Exception as exc:
            raise_memory_fault(exc, self._where)
            raise
        yield from self.rows(statement, parameters)

    def _found(self, statement: Executable, given: Parameters | None, *, is_first: bool = False) -> Sequence[Row[Any]]:
        self._require_open()
        try:
            if isinstance(given, dict) and (prepared := self._prepared(statement, given)):
                rows = _found_on_driver(self._connection, prepared.sql, prepared.values(given), is_first=is_first)
                return self._read(statement, given, lambda: prepared.rows(rows))
            found = self._connection.execute(statement, given)
            if is_first:
                return self._read(statement, given, lambda: [row for row in [found.first()] if row is not None])
            return self._read(statement, given, found.all)
        except Exception as exc:
            raise_memory_fault(exc, self._where)
            raise

    def _prepared(self, statement: Executable, given: Parameters | None) -> PreparedStatement | None:
        """The prepared statement, from its second execution on. None if SQLAlchemy is to execute it.

        Statements that are built for one use are left to SQLAlchemy, which caches by structure.
        """
        if not given:
            return None
        if statement not in _run_before:
            _run_before.add(statement)
            return None
        if not isinstance(given, dict):
            return prepare(statement, self._connection.dialect, tuple(given[0]))
        sizes = [(name, len(value)) for name, value in given.items() if type(value) is list]
        if max([size for _, size in sizes], default=0) > _LONGEST_LIST:
            return None
        rounded = tuple([(name, 1 << (size - 1).bit_length() if size else 0) for name, size in sizes])
        return prepare(statement, self._connection.dialect, tuple(given), rounded)

    def all(self, kind: Callable[..., T], statement: Executable, /, **parameters: object) -> list[T]:
        """The rows of a query as objects: `kind` called with each row's columns."""
        return [kind(**dict(zip(row._fields, row, strict=True))) for row in self.rows(statement, parameters)]

    def first(self, kind: Callable[..., T], statement: Executable, /, **parameters: object) -> T | None:
        """The first row of a query as an object, or None."""
        row = self.row(statement, parameters)
        return None if row is None else kind(**dict(zip(row._fields, row, strict=True)))

    def batches(self, statement: str, parameters: Sequence[object], size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query in SQLite's SQL, as the driver's values, at most `size` at a time."""
        self._require_open()
        with translated_errors(self._where):
            cursor = self._connection.connection.cursor()
            self._cursors.append(cursor)
            cursor.execute(statement, parameters)
            while rows := cursor.fetchmany(size):
                yield list(rows)

    def execute(self, statement: str, parameters: Sequence[object]) -> None:
        """Execute a change in SQLite's SQL. Raises `RuntimeError` in a reading transaction."""
        self.require_writing()
        with translated_errors(self._where):
            self._connection.connection.cursor().execute(statement, parameters)

    def each(self, statement: Executable, workspace: str, ids: Iterable[str]) -> Iterator[Row[Any]]:
        """The rows of a query for these ids (`among`), in one statement for every `ID_LIMIT` of them."""
        for some in chunks(dict.fromkeys(ids), ID_LIMIT):
            yield from self.rows(statement, {"workspace": workspace, "ids": some})

    def grouped(
        self, by: str, kind: Callable[..., T], statement: Executable, workspace: str, ids: Iterable[str]
    ) -> dict[str, list[T]]:
        """The rows of `each` as objects, grouped by the values of the column `by`."""
        found: dict[str, list[T]] = {}
        for row in self.each(statement, workspace, ids):
            found.setdefault(row._mapping[by], []).append(kind(**row._mapping))
        return found

    def put(self, table: Table, *values: object) -> None:
        """Insert objects as rows, or update the rows with the same keys."""
        self.run(put_statement(table), [row_of(table, each) for each in values])

    @contextmanager
    def readable(self) -> Iterator[None]:
        """A context that raises `NotADatabase` for errors from invalid values of rows."""
        try:
            yield
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as exc:
            raise damage_error(self._where, ()) from exc

    def _read(self, statement: Executable, parameters: Parameters | None, rows: Callable[[], T]) -> T:
        """The result of `rows`. If a row is damaged, runs the statement again to name it in a `NotADatabase`."""
        try:
            return rows()
        except Exception as exc:
            if is_driver_error(exc):
                raise
            raise damage_error(self._where, self._damage(statement, parameters)) from exc

    def damage(self, table: Table, statement: Select[Any], parameters: dict[str, Any]) -> str:
        """The damage of the first row of a query for all columns of a table; empty if it is sound."""
        self._require_open()
        with translated_errors(self._where):
            cursor = self._connection.execute(statement, parameters).cursor
            row = cursor.fetchone() if cursor is not None else None
        found = of_row(table, row, self._connection.dialect) if row is not None else []
        return f"in the database {self._where}, {found[0]}" if found else ""

    def _damage(self, statement: Executable, parameters: Parameters | None) -> Iterator[Damage]:
        if not isinstance(statement, Select):
            return iter(())
        again = self._connection.execute(statement, parameters).cursor
        columns, dialect = list(statement.selected_columns), self._connection.dialect
        return in_rows(columns, again.fetchall() if again is not None else (), dialect)

    @contextmanager
    def needing(self, what: str) -> Iterator[None]:
        """A context that raises `NotFound`, which names what to store first, if a row would refer to nothing.

        The transaction can go on as before.
        """
        point = nullcontext() if self.is_sqlite else self._connection.begin_nested()
        try:
            with point:
                yield
        except Conflict as exc:
            raise NotFound(f"There is no {what} first.") from exc

    def run(self, statement: Executable, parameters: Parameters | None = None) -> int:
        """Execute a change; returns the number of changed rows. An empty list of rows changes nothing.

        Raises `RuntimeError` in a reading transaction.
        """
        self.require_writing()
        if isinstance(parameters, Sequence) and not parameters:
            return 0
        try:
            if parameters and (prepared := self._prepared(statement, parameters)):
                run = on_driver if self.is_sqlite else Connection.exec_driver_sql
                return int(run(self._connection, prepared.sql, prepared.values(parameters)).rowcount)
            return self._connection.execute(statement, parameters).rowcount
        except Exception as exc:
            raise_memory_fault(exc, self._where)
            raise

    def changed(self, statement: Executable, parameters: dict[str, Any]) -> Row[Any] | None:
        """Execute a change of one row with RETURNING; None if no row was changed.

        Raises `RuntimeError` in a reading transaction.
        """
        self.require_writing()
        return self.row(statement, parameters)

    def advance(self, workspace: str, counter: str, steps: int = 1) -> int:
        """Raise a workspace's counter by `steps` and return it: the last of `steps` new numbers.

        A workspace has one writer at a time, so the order of numbers is the order of commits.
        """
        self.require_writing()
        row = self.row(_ADVANCE, {"workspace": workspace, "name": counter, "steps": steps})
        if row is None:
            raise StoreUnavailable(f"The database {self._where} did not count; run `goodbot doctor`.")
        return int(row[0])

    def require_writing(self) -> None:
        """Raises `RuntimeError` in a reading transaction."""
        self._require_open()
        if not self._writes:
            raise RuntimeError("a reading transaction cannot write; use store.write()")
        self._has_changed = True

    def _require_open(self) -> None:
        if not self._is_open:
            raise StoreUnavailable("This transaction has ended; begin another one with store.read() or store.write().")

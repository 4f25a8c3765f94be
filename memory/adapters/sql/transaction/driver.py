"""Prepares statements for the database driver, so that repeated ones skip SQLAlchemy, and translates errors.

Errors become those of `memory.errors`, which say what was tried, on which database, and what to do.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Dialect, Row, TextClause
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.exc import SQLAlchemyError, StatementError
from sqlalchemy.types import TupleType

from memory.errors import Conflict, InvalidInput, MemoryFault, NotADatabase, StoreFull, StoreReadOnly, StoreUnavailable

Parameters = dict[str, Any] | Sequence[dict[str, Any]]
Maker = Callable[[Any], Any]

_MOST_BY_ROW = 8
"""Fewer rows of parameters are converted row by row, more column by column, which takes longer to set up."""

Where = Path | str
"""The name of a database in messages: the file of SQLite, or host and name without user and password."""

_NEEDED_BYTES = 2**16
"""Free bytes that SQLite needs to open a database: its shared-memory file, and a little more."""

_PRIMARY_CODE = 0xFF
"""The mask of the primary result code in an extended one (sqlite.org/rescode.html)."""

_NUMERIC = 1700
"""PostgreSQL's number of the type whose values SQLAlchemy makes floats of where a column is of floats."""

_SHOWN = 200
"""The most characters of a PostgreSQL error that messages repeat."""


class PreparedStatement(NamedTuple):
    """A compiled statement, with the converters of its parameters and results."""

    sql: str
    is_positional: bool
    names: Sequence[str]
    """The parameters' names, in the driver's order."""
    given: Sequence[tuple[int, Maker]]
    """Converters to the driver's values, by position in `names`; other values are passed unchanged."""
    constants: dict[str, Any]
    lists: Mapping[str, Sequence[str]]
    """The parameter names of each list's items."""
    columns: SimpleResultMetaData
    places: dict[Any, int]
    """The position of each result column, by name."""
    found: Sequence[Any] | None
    """A converter from the driver's value for each result column, or None; None if no column needs one."""

    def values(self, given: Parameters) -> Any:  # noqa: ANN401 - what this driver takes
        """The driver's parameters. A list with fewer items than names repeats its last one, which changes no `IN`."""
        if not isinstance(given, dict):
            return list(map(self.values, given)) if len(given) < _MOST_BY_ROW else self._of_rows(given)
        every = {**self.constants, **given} if self.constants else given
        for name, names in self.lists.items():
            own = given[name]
            every = {**every, **dict.fromkeys(names, own[-1] if own else None), **dict(zip(names, own, strict=False))}
        made = list(map(every.__getitem__, self.names))
        for place, make in self.given:
            made[place] = make(made[place])
        return tuple(made) if self.is_positional else dict(zip(self.names, made, strict=True))

    def _of_rows(self, given: Sequence[Mapping[str, Any]]) -> list[Any]:
        """`values` of many rows, column by column, which halves the time."""
        columns: list[Iterable[Any]] = [
            repeat(self.constants[name]) if name in self.constants else [row[name] for row in given]
            for name in self.names
        ]
        for place, make in self.given:
            columns[place] = map(make, columns[place])
        made = islice(zip(*columns, strict=False), len(given))
        return list(made) if self.is_positional else [dict(zip(self.names, row, strict=True)) for row in made]

    def rows(self, found: Iterable[Sequence[Any]]) -> Sequence[Row[Any]]:
        """The driver's rows as SQLAlchemy's."""
        return [Row(self.columns, self.found, self.places, row) for row in found]


@lru_cache(maxsize=1024)
def prepare(
    statement: Any,  # noqa: ANN401 - of any kind
    dialect: Dialect,
    names: tuple[str, ...],
    sizes: tuple[tuple[str, int], ...] = (),
) -> PreparedStatement | None:
    """Compile a statement for parameters of these `names`, with the `sizes` of those that are lists.

    None if its SQL text depends on the parameters in other ways. SQLAlchemy would process it at each execution.
    """
    compiled = statement.compile(dialect=dialect, column_keys=list(names))
    binds = {name: each for each, name in compiled.bind_names.items()}
    lists = {name for name, each in binds.items() if each.expanding and name in names}
    in_words = {compiled.bind_names[each] for each in compiled.literal_execute_params}
    is_of_rows = any(isinstance(each.type, TupleType) for each in binds.values())
    if compiled.escaped_bind_names or is_of_rows or in_words & set(names) or not lists <= dict(sizes).keys():
        return None
    sample = {name: [""] * size for name, size in sizes if name in lists}
    state = compiled.construct_expanded_state({**compiled.params, **sample})
    origins = {each: name for name, several in state.parameter_expansion.items() for each in several}
    order = [(name, origins.get(name, name)) for name in state.positiontup or state.parameters]
    sql = state.statement
    parts = sql.split("?")
    if dialect.name == "sqlite" and len(parts) == len(order) + 1:
        # Numbered placeholders pass repeated values once, which halves the time of long statements.
        places = {name: n for n, name in enumerate(dict.fromkeys(order), 1)}
        sql = parts[0] + "".join([f"?{places[name]}{part}" for name, part in zip(order, parts[1:], strict=True)])
        order = list(places)
    of_binds = {name: each.type.dialect_impl(dialect).bind_processor(dialect) for name, each in binds.items()}
    constants = {name: state.parameters[name] for name, origin in order if origin not in names}
    columns = [] if isinstance(statement, TextClause) else list(getattr(statement, "exported_columns", ()))
    keys = [column.key for column in columns]
    of_results = [column.type.dialect_impl(dialect).result_processor(dialect, _NUMERIC) for column in columns]
    return PreparedStatement(
        sql=sql,
        is_positional=compiled.positional,
        names=[name for name, _ in order],
        given=[(place, make) for place, (_, origin) in enumerate(order) if (make := of_binds[origin]) is not None],
        constants=constants,
        lists={name: state.parameter_expansion[name] for name in lists},
        columns=SimpleResultMetaData(keys),
        places={key: place for place, key in enumerate(keys)},
        found=of_results if any(of_results) else None,
    )


def is_driver_error(exc: BaseException) -> bool:
    """Whether SQLAlchemy or a database driver raised it. The driver of PostgreSQL may not be installed."""
    return isinstance(exc, SQLAlchemyError | sqlite3.Error) or type(exc).__module__.partition(".")[0] == "psycopg"


@contextmanager
def translated_errors(where: Where) -> Iterator[None]:
    """A context that raises `memory.errors` instead of SQLAlchemy's and the driver's errors."""
    try:
        yield
    except Exception as exc:
        raise_memory_fault(exc, where)
        raise


def raise_memory_fault(exc: Exception, where: Where) -> None:
    """Raise the error of `memory.errors` for a caught database error; returns for other exceptions.

    Cheaper than `translated_errors` where many statements run.
    """
    if isinstance(exc, UnicodeEncodeError):
        place = f"character {exc.start + 1} of {len(exc.object)}"
        raise InvalidInput(f"A text is not UTF-8 ({place}) and cannot be looked up. Type it again.") from exc
    if isinstance(exc, OverflowError):
        raise InvalidInput(f"A number cannot be looked up in the database: {exc}.") from exc
    if is_driver_error(exc):
        raise as_memory_error(exc, where) from exc


def as_memory_error(exc: Exception, where: Where) -> Exception:
    """The error to raise instead of a database error."""
    original = exc.orig if isinstance(exc, StatementError) else exc
    if isinstance(original, sqlite3.Error) and "binding parameter" in str(original):
        return InvalidInput(f"A value cannot be looked up in the database ({original}). Give a text or a number.")
    if isinstance(original, sqlite3.Error) and isinstance(where, Path):
        return _sqlite_fault(original, where)
    if isinstance(original, Exception) and is_driver_error(original) and not isinstance(original, SQLAlchemyError):
        return _postgres_fault(original, where)
    if isinstance(original, Exception) and original is not exc:
        return original  # raised by a converter of parameters
    return StoreUnavailable(f"The database {where} did not answer ({type(exc).__name__}). Try again in a moment.")


def _sqlite_fault(error: sqlite3.Error, path: Path) -> MemoryFault:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY_CODE
    match code:
        case sqlite3.SQLITE_NOTADB:
            return NotADatabase(
                f"{path} is not a Goodbot database. Set DATABASE_URL to another file, or move this one."
            )
        case sqlite3.SQLITE_CORRUPT:
            return NotADatabase(f"The database {path} is damaged ({error}). Restore it from a backup.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return read_only(path)
        case sqlite3.SQLITE_CANTOPEN:
            return StoreUnavailable(
                f"The database {path} cannot be opened. Check that it is a file this user may read."
            )
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR if _is_full(path, code):
            return StoreFull(f"The disk of the database {path} is full. Free some space and try again.")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreUnavailable(f"The database {path} is locked by another process. Try again in a moment.")
        case sqlite3.SQLITE_IOERR:
            return StoreUnavailable(f"The disk of the database {path} failed ({error}). Check the disk and try again.")
        case sqlite3.SQLITE_CONSTRAINT:
            return Conflict(f"The database {path} refused a contradicting write ({error}). Nothing was changed.")
        case sqlite3.SQLITE_TOOBIG:
            return InvalidInput("The text is too large for the database. Shorten it and try again.")
        case _:
            reason = str(error).partition(" with text ")[0]  # of a text that is no UTF-8, which may be a person's
            return StoreUnavailable(f"The database {path} failed ({reason}). Run `goodbot doctor`.")


def _is_full(path: Path, code: int) -> bool:
    """Whether the disk is full. SQLite has a code for that, but for files beside the database gives an I/O error."""
    with suppress(OSError):
        return code == sqlite3.SQLITE_FULL or shutil.disk_usage(path.parent).free < _NEEDED_BYTES
    return False


def read_only(path: Path) -> StoreReadOnly:
    """The error for a file or folder that cannot be written."""
    return StoreReadOnly(
        f"The database {path} cannot be written: the file or its folder is read-only for this user. "
        "Change the permissions, or set DATABASE_URL to a file in a folder you may write."
    )


def may_write(path: Path) -> bool:
    """Whether this process's effective user may write the file and its folder (SQLite keeps two files beside it)."""
    effective = os.access in os.supports_effective_ids
    return all(os.access(each, os.W_OK, effective_ids=effective) for each in (path.parent, path) if each.exists())


def _postgres_fault(error: Exception, where: Where) -> MemoryFault:
    """The error by SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html); empty if there was no server."""
    code = getattr(error, "sqlstate", None) or ""
    return _input_fault(code, error) or _access_fault(code, error, where) or _other_fault(code, error, where)


def _input_fault(code: str, error: Exception) -> MemoryFault | None:
    """The error for a caller's value that cannot be stored or looked up; None for other codes."""
    if code == "22003":
        return InvalidInput("A number is too large for the database. Give a smaller one.")
    if code == "54000":
        return InvalidInput("A name or an id is too long for the database. Shorten it and try again.")
    if code in ("22021", "22P05") or (not code and "NUL" in str(error)):
        return InvalidInput("A text has a character that the database cannot look up (NUL). Type it again.")
    return None


def _access_fault(code: str, error: Exception, where: Where) -> MemoryFault | None:
    """The error for a wrong address or account, missing rights, or a damaged database; None for other codes."""
    match code or _connection_error_code(str(error)):
        case "28000" | "28P01":
            return NotADatabase(f"The database {where} refused the user or the password. Correct DATABASE_URL.")
        case "3D000":
            return NotADatabase(f"There is no database {where}. Create it (`createdb`), or correct DATABASE_URL.")
        case "42501":
            return StoreReadOnly(f"The user of DATABASE_URL may not do this in {where} ({_first_line(error)}).")
        case "XX001" | "XX002":
            return NotADatabase(f"The database {where} is damaged ({_first_line(error)}). Restore it from a backup.")
        case _:
            return None


def _connection_error_code(words: str) -> str:
    """The SQLSTATE of an error of connecting, by its text, as the driver gives no code."""
    if "FATAL" not in words:
        return ""
    if "database" in words and "does not exist" in words:
        return "3D000"
    return "28000" if any(each in words for each in ("authentication failed", "pg_hba.conf", 'role "')) else ""


def _other_fault(code: str, error: Exception, where: Where) -> MemoryFault:
    """The error for all other codes; most of them are temporary."""
    match code:
        case "25006":
            return StoreUnavailable(f"The server of {where} takes no writes: it is a standby. Try again in a moment.")
        case "53100":
            return StoreFull(f"The disk of the database {where} is full. Free some space and try again.")
        case "53300":
            return StoreUnavailable(f"The server of {where} has no connection left. Raise its max_connections.")
        case "57014":
            return StoreUnavailable(f"The database {where} took too long and was interrupted. Try again in a moment.")
        case "55P03" | "40001" | "40P01":
            return StoreUnavailable(f"The database {where} is locked by another process. Try again in a moment.")
        case _ if code.startswith("23"):
            return Conflict(f"The database {where} refused a contradicting write ({code}). Nothing was changed.")
        case "" | "57P01" | "57P02" | "57P03" | "08000" | "08003" | "08006":
            reason = _first_line(error).removeprefix("connection failed: ").removeprefix("connection is bad: ")
            return StoreUnavailable(
                f"The database {where} cannot be reached. Try again in a moment, or correct DATABASE_URL ({reason})."
            )
        case _:
            return StoreUnavailable(f"The database {where} failed ({_first_line(error)}). Run `goodbot doctor`.")


def _first_line(error: Exception) -> str:
    """The first line of an error, shortened; further lines may quote people's messages."""
    return str(error).partition("\n")[0][:_SHOWN]

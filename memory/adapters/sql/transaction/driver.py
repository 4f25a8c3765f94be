"""A database's driver: statements in its words, which run again without SQLAlchemy looking at them in several ways.

And its errors in the words of `memory.errors`: what was tried, on which database, and what to do.
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

_FEW = 8
"""Rows that are made one by one; it takes as long to begin with columns."""

Where = Path | str
"""What messages call a database: the file of SQLite, or host and name without user and password."""

_ROOM = 2**16
"""Bytes that SQLite needs beside the database before it can do anything: its shared memory, and a little more."""

_PRIMARY = 0xFF
"""The low byte of an extended result code is the plain one (sqlite.org/rescode.html)."""

_SHOWN = 200
"""Characters of PostgreSQL's words that are repeated."""


class Prepared(NamedTuple):
    """A statement in the words of a driver, and what makes its values of ours, and ours of its."""

    words: str
    is_positional: bool
    names: Sequence[str]
    """Of each value."""
    given: Sequence[tuple[int, Maker]]
    """Of the values where the driver takes another, what makes it of ours."""
    constants: dict[str, Any]
    lists: Mapping[str, Sequence[str]]
    """Of each list that is given, the names of its values."""
    columns: SimpleResultMetaData
    places: dict[Any, int]
    """Of the columns, by name."""
    found: Sequence[Any] | None
    """What makes of the driver's value ours, column by column; None where all are the same."""

    def values(self, given: Parameters) -> Any:  # noqa: ANN401 - what this driver takes
        """The driver's values. A list of fewer than its names has its last one again, which changes no `IN`."""
        if not isinstance(given, dict):
            return list(map(self.values, given)) if len(given) < _FEW else self._of_rows(given)
        every = {**self.constants, **given} if self.constants else given
        for name, names in self.lists.items():
            own = given[name]
            every = {**every, **dict.fromkeys(names, own[-1] if own else None), **dict(zip(names, own, strict=False))}
        made = list(map(every.__getitem__, self.names))
        for place, make in self.given:
            made[place] = make(made[place])
        return tuple(made) if self.is_positional else dict(zip(self.names, made, strict=True))

    def _of_rows(self, given: Sequence[Mapping[str, Any]]) -> list[Any]:
        """The same of many rows, column by column: in half of the time."""
        columns: list[Iterable[Any]] = [
            repeat(self.constants[name]) if name in self.constants else [row[name] for row in given]
            for name in self.names
        ]
        for place, make in self.given:
            columns[place] = map(make, columns[place])
        made = islice(zip(*columns, strict=False), len(given))
        return list(made) if self.is_positional else [dict(zip(self.names, row, strict=True)) for row in made]

    def rows(self, found: Iterable[Sequence[Any]]) -> Sequence[Row[Any]]:
        """The driver's rows as SQLAlchemy would give them."""
        return [Row(self.columns, self.found, self.places, row) for row in found]


@lru_cache(maxsize=1024)
def prepare(
    statement: Any,  # noqa: ANN401 - of any kind
    dialect: Dialect,
    names: tuple[str, ...],
    sizes: tuple[tuple[str, int], ...] = (),
) -> Prepared | None:
    """A statement that is given these values, of which some are lists of so many; None where its words depend on more.

    SQLAlchemy would look at all of it in several ways whenever it runs.
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
    words = state.statement
    parts = words.split("?")
    if dialect.name == "sqlite" and len(parts) == len(order) + 1:
        # Numbers instead, so that a value that is meant several times is given once: half of the time of a long one.
        places = {name: n for n, name in enumerate(dict.fromkeys(order), 1)}
        words = parts[0] + "".join([f"?{places[name]}{part}" for name, part in zip(order, parts[1:], strict=True)])
        order = list(places)
    of_binds = {name: each.type.dialect_impl(dialect).bind_processor(dialect) for name, each in binds.items()}
    constants = {name: state.parameters[name] for name, origin in order if origin not in names}
    columns = [] if isinstance(statement, TextClause) else list(getattr(statement, "exported_columns", ()))
    keys = [column.key for column in columns]
    of_results = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns]
    return Prepared(
        words=words,
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
    """Whether SQLAlchemy or a database driver raised it. PostgreSQL's may not be installed."""
    return isinstance(exc, SQLAlchemyError | sqlite3.Error) or type(exc).__module__.partition(".")[0] == "psycopg"


@contextmanager
def translated(where: Where) -> Iterator[None]:
    """Raise the package's errors for those of the database library. Other exceptions pass."""
    try:
        yield
    except Exception as exc:
        raise_ours(exc, where)
        raise


def raise_ours(exc: Exception, where: Where) -> None:
    """The same for an exception that was caught: where many statements run, a context each takes some of the time."""
    if isinstance(exc, UnicodeEncodeError):
        place = f"character {exc.start + 1} of {len(exc.object)}"
        raise InvalidInput(f"A text is not UTF-8 ({place}) and cannot be looked up. Type it again.") from exc
    if isinstance(exc, OverflowError):
        raise InvalidInput(f"A number cannot be looked up in the database: {exc}.") from exc
    if is_driver_error(exc):
        raise fault(exc, where) from exc


def fault(exc: Exception, where: Where) -> Exception:
    """The error to raise instead."""
    original = exc.orig if isinstance(exc, StatementError) else exc
    if isinstance(original, sqlite3.Error) and isinstance(where, Path):
        return _sqlite_fault(original, where)
    if isinstance(original, Exception) and is_driver_error(original) and not isinstance(original, SQLAlchemyError):
        return _postgres_fault(original, where)
    if isinstance(original, Exception) and original is not exc:
        return original  # a wrong value, found while the statement was prepared
    return StoreUnavailable(f"The database {where} did not answer ({type(exc).__name__}). Try again in a moment.")


def _sqlite_fault(error: sqlite3.Error, path: Path) -> MemoryFault:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY
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
            return StoreUnavailable(f"The database {path} failed ({error}). Run `goodbot doctor`.")


def _is_full(path: Path, code: int) -> bool:
    """Whether the disk is full. SQLite says so of the database; of the files beside it, only that they failed."""
    with suppress(OSError):
        return code == sqlite3.SQLITE_FULL or shutil.disk_usage(path.parent).free < _ROOM
    return False


def read_only(path: Path) -> StoreReadOnly:
    """The error for a file or folder that refuses writes."""
    return StoreReadOnly(
        f"The database {path} cannot be written: the file or its folder is read-only for this user. "
        "Change the permissions, or set DATABASE_URL to a file in a folder you may write."
    )


def may_write(path: Path) -> bool:
    """Whether the user this process acts as may write the file and its folder (SQLite keeps two files beside it)."""
    effective = os.access in os.supports_effective_ids
    return all(os.access(each, os.W_OK, effective_ids=effective) for each in (path.parent, path) if each.exists())


def _postgres_fault(error: Exception, where: Where) -> MemoryFault:
    """By the code of five characters (postgresql.org/docs/current/errcodes-appendix.html), empty without the server."""
    code = getattr(error, "sqlstate", None) or ""
    return _of_input(code, error) or _of_access(code, error, where) or _of_now(code, error, where)


def _of_input(code: str, error: Exception) -> MemoryFault | None:
    """What the caller gave cannot be kept or looked up."""
    if code == "22003":
        return InvalidInput("A number is too large for the database. Give a smaller one.")
    if code == "54000":
        return InvalidInput("A name or an id is too long for the database. Shorten it and try again.")
    if code in ("22021", "22P05") or (not code and "NUL" in str(error)):
        return InvalidInput("A text has a character that the database cannot look up (NUL). Type it again.")
    return None


def _of_access(code: str, error: Exception, where: Where) -> MemoryFault | None:
    """The address, the account or the database itself has to be changed."""
    match code or _refusal(str(error)):
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


def _refusal(words: str) -> str:
    """The code of an error of connecting, which comes without one."""
    if "FATAL" not in words:
        return ""
    if "database" in words and "does not exist" in words:
        return "3D000"
    return "28000" if any(each in words for each in ("authentication failed", "pg_hba.conf", 'role "')) else ""


def _of_now(code: str, error: Exception, where: Where) -> MemoryFault:
    """It may be otherwise in a moment."""
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
            return StoreUnavailable(f"The database {where} cannot be reached. Try again in a moment.")
        case _:
            return StoreUnavailable(f"The database {where} failed ({_first_line(error)}). Run `goodbot doctor`.")


def _first_line(error: Exception) -> str:
    """What the server said first; what follows may repeat somebody's words."""
    return str(error).partition("\n")[0][:_SHOWN]

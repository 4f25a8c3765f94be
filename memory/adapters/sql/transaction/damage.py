"""Finds damaged rows, which another program or a failing disk changed, and says how to remove them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Boolean, Column, Dialect, Float, Integer, LargeBinary, Table
from sqlalchemy.types import TypeDecorator, TypeEngine

from memory.adapters.row_validation import require_storable
from memory.adapters.sql.tables.columns import READ_AS, metadata
from memory.adapters.sql.transaction.driver import Where
from memory.errors import NotADatabase

FAULTS = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""Exceptions that reading an invalid stored value may raise."""
_SHOWN = 80
"""Characters of a key or an error that are shown; keys may hold names that people chose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A stored value that is invalid for its column, or a row that is invalid for its table."""

    table: str
    key: tuple[tuple[str, object], ...]
    """The columns of the row's primary key with their values, as far as the query selected them."""
    column: str
    """The damaged column; empty if the row as a whole is invalid."""
    reason: str

    def __str__(self) -> str:
        where = ", ".join(f"{name} {str(value)[:_SHOWN]!r}" for name, value in self.key)
        fault = f"has a damaged {self.column}" if self.column else "makes no sense"
        return f"the row of {self.table} with {where or 'no key'} {fault} ({self.reason})"

    @property
    def statement(self) -> str:
        """The SQL that deletes the row; rows that refer to it are deleted by foreign keys."""
        keyed = " AND ".join(f"{name} = {_literal(value)}" for name, value in self.key)
        return f"DELETE FROM {self.table} WHERE {keyed};"  # noqa: S608 - for a person to read


def damage_error(where: Where, found: Iterable[Damage]) -> NotADatabase:
    """The error for a database with damaged rows; it names the first of them."""
    first = next(iter(found), None)
    return NotADatabase(
        f"In the database {where}, {first or 'a row cannot be read'}. Restore a backup, or run `goodbot doctor`, which "
        "tells how to take the row out."
    )


def find_damage(query: Callable[[str], Iterable[Sequence[object]]], dialect: Dialect, *, limit: int) -> list[Damage]:
    """At most `limit` damaged rows, table by table. `query` runs a statement on the driver. Reads all tables.

    A row is sound if its values fit their columns, and the object it is read as (`READ_AS`) could be stored again.
    """
    return list(islice(_everywhere(query, dialect), limit))


def _everywhere(query: Callable[[str], Iterable[Sequence[object]]], dialect: Dialect) -> Iterator[Damage]:
    for table in metadata.sorted_tables:
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        for row in query(f'SELECT {names} FROM "{table.name}"'):  # noqa: S608 - names of our own tables
            yield from of_row(table, row, dialect)


def of_row(table: Table, row: Sequence[object], dialect: Dialect) -> list[Damage]:
    """The damage in one row, given as the driver's values of all columns of its table."""
    columns, read = list(table.columns), table.info.get(READ_AS)
    found = list(in_rows(columns, [row], dialect))
    return found or (_row_damage(table, dict(zip(columns, row, strict=True)), read, dialect) if read else [])


def _row_damage(
    table: Table, row: Mapping[Column[Any], object], read: Callable[..., object], dialect: Dialect
) -> list[Damage]:
    """The damage of a row whose single values fit their columns."""
    try:
        require_storable(read(**{column.name: _value(column, stored, dialect) for column, stored in row.items()}))
    except FAULTS as error:
        key = tuple((column.name, stored) for column, stored in row.items() if column.primary_key)
        return [Damage(table=table.name, key=key, column="", reason=_error_text(error))]
    return []


def in_rows(columns: Sequence[Any], rows: Iterable[Sequence[object]], dialect: Dialect) -> Iterator[Damage]:
    """The damaged values in rows, given as the driver's values of these columns."""
    known = [(place, column) for place, column in enumerate(columns) if isinstance(column, Column)]
    for row in rows:
        for place, column in known:
            if reason := _reason(column, row[place], dialect):
                table = column.table
                key = ((each.name, row[at]) for at, each in known if each.primary_key and each.table is table)
                name = table.name if isinstance(table, Table) else str(table)
                yield Damage(table=name, key=tuple(key), column=column.name, reason=reason)


def _reason(column: Column[Any], value: object, dialect: Dialect) -> str:
    """Why the value is invalid for this column; empty if it is valid."""
    if value is None:
        return "" if column.nullable else "nothing where something must be"
    if value == "" and column.name == "workspace":
        return "nothing where something must be"
    kinds = _kinds(column.type)
    if not isinstance(value, kinds):
        return f"{type(value).__name__} instead of {kinds[0].__name__}"
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return "bytes that are no UTF-8 text"
    try:
        _value(column, value, dialect)
    except FAULTS as error:
        return _error_text(error)
    return ""


def _value(column: Column[Any], stored: object, dialect: Dialect) -> object:
    """The Python value that the column's type reads from a stored value."""
    kind = column.type
    if isinstance(kind, TypeDecorator):
        return kind.process_result_value(stored, dialect)
    return bool(stored) if isinstance(kind, Boolean) and stored is not None else stored


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_SHOWN]


def _kinds(kind: TypeEngine[Any]) -> tuple[type, ...]:
    """The Python types that the driver returns for this column type."""
    stored = kind.impl_instance if isinstance(kind, TypeDecorator) else kind
    if isinstance(stored, Integer | Boolean):
        return (int,)
    if isinstance(stored, Float):
        return (float, int)
    return (bytes,) if isinstance(stored, LargeBinary) else (str,)


def _literal(value: object) -> str:
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    text = str(value)
    quoted = text.replace("'", "''")
    return f"'{quoted}'"

"""Rows that cannot be read: another program changed them, or the disk did. Which they are, and what to do."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Boolean, Column, Dialect, Float, Integer, LargeBinary, Table
from sqlalchemy.types import TypeDecorator, TypeEngine

from memory.adapters.row_validation import storable
from memory.adapters.sql.tables.columns import READ_AS, metadata
from memory.adapters.sql.transaction.driver import Where
from memory.errors import NotADatabase

FAULTS = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""What may be raised where a value is read that no column of ours can hold."""
_SHOWN = 80
"""Characters of a key that are shown; keys hold names that people chose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """One value that is not what its column holds, or a row that is not what its table holds."""

    table: str
    key: tuple[tuple[str, object], ...]
    """The columns of the row's key and what is in them; fewer where only these were asked for."""
    column: str
    """Empty where no single value is at fault."""
    reason: str

    def __str__(self) -> str:
        where = ", ".join(f"{name} {str(value)[:_SHOWN]!r}" for name, value in self.key)
        fault = f"has a damaged {self.column}" if self.column else "makes no sense"
        return f"the row of {self.table} with {where or 'no key'} {fault} ({self.reason})"

    @property
    def statement(self) -> str:
        """What takes the row out, with all that belongs to it."""
        keyed = " AND ".join(f"{name} = {_literal(value)}" for name, value in self.key)
        return f"DELETE FROM {self.table} WHERE {keyed};"  # noqa: S608 - for a person to read


def damaged(where: Where, found: Iterable[Damage]) -> NotADatabase:
    """The error for a database with a row that cannot be read."""
    first = next(iter(found), None)
    return NotADatabase(
        f"In the database {where}, {first or 'a row cannot be read'}. Restore a backup, or run `goodbot doctor`, which "
        "tells how to take the row out."
    )


def find(query: Callable[[str], Iterable[Sequence[object]]], dialect: Dialect, *, limit: int) -> list[Damage]:
    """The damaged rows of a database, table by table, by what the driver finds for a query. Reads all of it.

    A row is whole if what it is read as (`READ_AS`) is something that the store would take again.
    """
    return list(islice(_everywhere(query, dialect), limit))


def _everywhere(query: Callable[[str], Iterable[Sequence[object]]], dialect: Dialect) -> Iterator[Damage]:
    for table in metadata.sorted_tables:
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        for row in query(f'SELECT {names} FROM "{table.name}"'):  # noqa: S608 - names of our own tables
            yield from of_row(table, row, dialect)


def of_row(table: Table, row: Sequence[object], dialect: Dialect) -> list[Damage]:
    """The damage of a row as the driver has it, with all columns of its table."""
    columns, read = list(table.columns), table.info.get(READ_AS)
    found = list(in_rows(columns, [row], dialect))
    return found or (_row_damage(table, dict(zip(columns, row, strict=True)), read, dialect) if read else [])


def _row_damage(
    table: Table, row: Mapping[Column[Any], object], read: Callable[..., object], dialect: Dialect
) -> list[Damage]:
    """The damage of a row whose values are each what their column holds."""
    try:
        storable(read(**{column.name: _value(column, stored, dialect) for column, stored in row.items()}))
    except FAULTS as error:
        key = tuple((column.name, stored) for column, stored in row.items() if column.primary_key)
        return [Damage(table=table.name, key=key, column="", reason=_error_text(error))]
    return []


def in_rows(columns: Sequence[Any], rows: Iterable[Sequence[object]], dialect: Dialect) -> Iterator[Damage]:
    """The damage in rows as the driver gives them, one value for each of these columns."""
    known = [(place, column) for place, column in enumerate(columns) if isinstance(column, Column)]
    for row in rows:
        for place, column in known:
            if reason := _reason(column, row[place], dialect):
                table = column.table
                key = ((each.name, row[at]) for at, each in known if each.primary_key and each.table is table)
                name = table.name if isinstance(table, Table) else str(table)
                yield Damage(table=name, key=tuple(key), column=column.name, reason=reason)


def _reason(column: Column[Any], value: object, dialect: Dialect) -> str:
    """Why the value cannot be in this column; empty if it can."""
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
    """What the column makes of a stored value."""
    kind = column.type
    if isinstance(kind, TypeDecorator):
        return kind.process_result_value(stored, dialect)
    return bool(stored) if isinstance(kind, Boolean) and stored is not None else stored


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_SHOWN]


def _kinds(kind: TypeEngine[Any]) -> tuple[type, ...]:
    """What the driver gives for a value of this type."""
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

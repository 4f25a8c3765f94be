"""Whole tables: their rows as any database stores them, and a digest by which two tables are compared.

Nothing is made of the values here: times stay numbers, JSON stays text, vectors stay bytes.
"""

import marshal
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Table, func, select, type_coerce
from sqlalchemy.types import TypeDecorator

BATCH = 5_000
"""Rows that are read, and written in one transaction, at once."""

_BITS = 128
_FORMAT = 2
"""Equal values have equal bytes in it; later ones write down which of them are one object."""

Stored = tuple[Any, ...]
"""A row, one value for each column."""


@dataclass(frozen=True, slots=True)
class Content:
    """How many rows there are, and a digest of them that does not depend on their order."""

    rows: int = 0
    total: int = 0

    def __add__(self, other: "Content") -> "Content":
        return Content(self.rows + other.rows, (self.total + other.total) % 2**_BITS)

    @property
    def digest(self) -> str:
        """32 hexadecimal digits."""
        return f"{self.total:0{_BITS // 4}x}"


def content_of(rows: Iterable[Stored]) -> Content:
    """The content that these rows are."""
    count = total = 0
    for row in rows:
        digest = blake2b(marshal.dumps(row, _FORMAT), digest_size=_BITS // 8).digest()
        total += int.from_bytes(digest)
        count += 1
    return Content(count, total % 2**_BITS)


def count(connection: Connection, table: Table) -> int:
    """How many rows there are."""
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def batches(connection: Connection, table: Table) -> Iterator[list[Stored]]:
    """Every row in the order of the key, `BATCH` at a time; the database sends them as they are taken."""
    columns = [_as_stored(column) for column in table.columns]
    wanted = select(*columns).order_by(*table.primary_key.columns)
    found = connection.execute(wanted, execution_options={"stream_results": True, "yield_per": BATCH})
    for some in found.partitions(BATCH):
        yield [tuple(row) for row in some]


def write(connection: Connection, table: Table, rows: Sequence[Stored]) -> None:
    """Insert rows as `batches` gives them."""
    # In the driver's words: putting the statement together for every row would take longer than writing it.
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    marks = ", ".join([mark] * len(table.columns))
    statement = f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})'  # noqa: S608 - names of our own tables
    if rows:
        connection.exec_driver_sql(statement, list(rows))


def content_in(connection: Connection, table: Table) -> Content:
    """The content of a whole table."""
    return sum(map(content_of, batches(connection, table)), Content())


def split(batch: Sequence[Stored], at: int) -> tuple[list[Stored], list[Stored]]:
    """The first `at` rows, and the others."""
    rest = iter(batch)
    return list(islice(rest, at)), list(rest)


def _as_stored(column: Column[Any]) -> ColumnElement[Any]:
    kind = column.type
    return type_coerce(column, kind.impl_instance if isinstance(kind, TypeDecorator) else kind).label(column.name)

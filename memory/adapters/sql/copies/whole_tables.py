"""Reads and writes whole tables, with a digest that compares tables of different databases.

Values are the stored ones, not converted: times are numbers, JSON is text, vectors are bytes.
"""

import marshal
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Table

BATCH = 5_000
"""Rows that are read at once, and written in one transaction."""

_BITS = 128
_FORMAT = 2
"""The version of marshal's format, in which equal values have equal bytes; later versions encode object identity."""

Stored = tuple[Any, ...]
"""A row as the driver's values, one for each column."""


@dataclass(frozen=True, slots=True)
class Content:
    """The number of rows, and a digest that does not depend on their order: the sum of all rows' digests."""

    rows: int = 0
    total: int = 0

    def __add__(self, other: "Content") -> "Content":
        return Content(self.rows + other.rows, (self.total + other.total) % 2**_BITS)

    @property
    def digest(self) -> str:
        """The digest as 32 hexadecimal digits."""
        return f"{self.total:0{_BITS // 4}x}"


def content_of(rows: Iterable[Stored]) -> Content:
    """The content of these rows."""
    count = total = 0
    for row in rows:
        digest = blake2b(marshal.dumps(row, _FORMAT), digest_size=_BITS // 8).digest()
        total += int.from_bytes(digest)
        count += 1
    return Content(count, total % 2**_BITS)


def count(connection: Connection, table: Table) -> int:
    """The number of a table's rows."""
    return int(connection.exec_driver_sql(f'SELECT count(*) FROM "{table.name}"').scalar_one())  # noqa: S608 - our own tables


def batches(connection: Connection, table: Table) -> Iterator[list[Stored]]:
    """All rows of a table by primary key, `BATCH` at a time, streamed from the database."""
    # As plain SQL, as in `write`: SQLAlchemy's own statements take half as long again.
    names, key = _names(table.columns), _names(table.primary_key.columns)
    wanted = f'SELECT {names} FROM "{table.name}" ORDER BY {key}'  # noqa: S608 - names of our own tables
    found = connection.exec_driver_sql(wanted, execution_options={"stream_results": True, "yield_per": BATCH})
    truths = [place for place, column in enumerate(table.columns) if isinstance(column.type, Boolean)]
    is_sqlite = connection.dialect.name == "sqlite"
    for some in found.partitions(BATCH):
        rows = [tuple(row) for row in some]
        yield _with_truths(rows, truths) if is_sqlite and truths else rows


def _names(columns: Iterable[Column[Any]]) -> str:
    return ", ".join(f'"{column.name}"' for column in columns)


def _with_truths(rows: Iterable[Stored], places: Sequence[int]) -> list[Stored]:
    """Rows with Booleans at these positions, for which SQLite has numbers."""
    made = list(map(list[Any], rows))
    for row in made:
        for place in places:
            row[place] = row[place] if row[place] is None else bool(row[place])
    return list(map(tuple, made))


def write(connection: Connection, table: Table, rows: Sequence[Stored]) -> None:
    """Insert rows as `batches` returns them."""
    # As plain SQL: compiling the statement for each row would take longer than writing it.
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    marks = ", ".join([mark] * len(table.columns))
    statement = f'INSERT INTO "{table.name}" ({_names(table.columns)}) VALUES ({marks})'  # noqa: S608 - names of our own tables
    if rows:
        connection.exec_driver_sql(statement, list(rows))


def content_in(connection: Connection, table: Table) -> Content:
    """The content of a whole table."""
    return sum(map(content_of, batches(connection, table)), Content())


def split(batch: Sequence[Stored], at: int) -> tuple[list[Stored], list[Stored]]:
    """The first `at` rows, and the others."""
    rest = iter(batch)
    return list(islice(rest, at)), list(rest)

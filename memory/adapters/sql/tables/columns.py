"""The metadata of all tables, and the kinds of tables, columns, keys and indexes that they share."""

from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKeyConstraint,
    Index,
    MetaData,
    Table,
    TextClause,
    event,
)
from sqlalchemy.schema import SchemaItem
from sqlalchemy.util import OrderedSet

from memory.adapters.sql.tables.dialect import NUMBER, PROSE, SHORT
from memory.adapters.sql.tables.types import EnumText, UtcDateTime

E = TypeVar("E", bound=Enum)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

READ_AS = "read as"
"""The key in `Table.info` of the callable that makes an object of a row's columns, for `damage`.

For tables without it, only single columns are checked.
"""


@event.listens_for(Table, "before_create")
def _order_indexes(table: Table, _connection: Connection, **_: Any) -> None:  # noqa: ANN401 - what SQLAlchemy gives
    """Create indexes in a fixed order, partial ones last: of two equally good ones, SQLite takes the newer one."""
    table.indexes = OrderedSet(sorted(table.indexes, key=lambda index: (_holds_some_rows(index), str(index.name))))


def _holds_some_rows(index: Index) -> bool:
    return index.dialect_options["sqlite"]["where"] is not None


def keyed(name: str, *parts: SchemaItem, read_as: Callable[..., object] | None = None) -> Table:
    """A table that SQLite stores by its primary key, without row ids: for rows without long texts."""
    info = {} if read_as is None else {READ_AS: read_as}
    return Table(name, metadata, *parts, sqlite_with_rowid=False, info=info)


# Columns, which are not nullable.


def text_keys(*names: str) -> list[Column[str]]:
    """Short texts that are the primary key, in this order."""
    return [Column(name, SHORT, primary_key=True) for name in names]


def short_texts(*names: str) -> list[Column[str]]:
    """Short texts: names, ids, words."""
    return [Column(name, SHORT, nullable=False) for name in names]


def long_texts(*names: str) -> list[Column[str]]:
    """Texts of any length."""
    return [Column(name, PROSE, nullable=False) for name in names]


def enums(kind: type[E], *names: str) -> list[Column[E]]:
    """Members of an enumeration."""
    return [Column(name, EnumText(kind), nullable=False) for name in names]


def booleans(*names: str) -> list[Column[bool]]:
    """True or false."""
    return [Column(name, Boolean, nullable=False) for name in names]


def integers(*names: str) -> list[Column[int]]:
    """64-bit integers."""
    return [Column(name, NUMBER, nullable=False) for name in names]


def floats(*names: str) -> list[Column[float]]:
    """64-bit floats."""
    return [Column(name, Float(53), nullable=False) for name in names]


def timestamps(*names: str) -> list[Column[datetime]]:
    """Times (`UtcDateTime`)."""
    return [Column(name, UtcDateTime, nullable=False) for name in names]


# Constraints and indexes.


def of_episode(column: str = "episode_id", *, name: str | None = None) -> ForeignKeyConstraint:
    """The foreign key that deletes a row with its episode. `name` is needed for a second one of a table."""
    target = ["episodes.workspace", "episodes.id"]
    return ForeignKeyConstraint(["workspace", column], target, name=name, ondelete="CASCADE")


def partial_index(name: str, *columns: str, where: TextClause, unique: bool = False) -> Index:
    """An index of only those rows for which a condition holds. SQLite uses it only for exactly the same expression."""
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)

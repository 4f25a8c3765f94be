"""The metadata of all tables, and shared kinds of columns, which are not nullable."""

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Connection, Float, ForeignKeyConstraint, Index, MetaData, Table, event
from sqlalchemy.util import OrderedSet

from memory.adapters.sql.tables.dialect import NUMBER, PROSE, SHORT
from memory.adapters.sql.tables.types import UtcDateTime

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


def short(*names: str) -> list[Column[str]]:
    """Short texts: names, ids, words."""
    return [Column(name, SHORT, nullable=False) for name in names]


def prose(*names: str) -> list[Column[str]]:
    """Texts of any length."""
    return [Column(name, PROSE, nullable=False) for name in names]


def number(*names: str) -> list[Column[int]]:
    """64-bit integers."""
    return [Column(name, NUMBER, nullable=False) for name in names]


def real(*names: str) -> list[Column[float]]:
    """64-bit floats."""
    return [Column(name, Float(53), nullable=False) for name in names]


def moment(*names: str) -> list[Column[datetime]]:
    """Times (`UtcDateTime`)."""
    return [Column(name, UtcDateTime, nullable=False) for name in names]


def of_episode() -> ForeignKeyConstraint:
    """The foreign key that deletes a row with its episode."""
    return ForeignKeyConstraint(["workspace", "episode_id"], ["episodes.workspace", "episodes.id"], ondelete="CASCADE")

"""What every table is made of: the metadata they share, and the columns that most of them are of. None may be empty."""

from datetime import datetime

from sqlalchemy import Column, Float, ForeignKeyConstraint, MetaData

from memory.adapters.sql.dialect import NUMBER, PROSE, SHORT
from memory.adapters.sql.types import UtcDateTime

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
"""Where a table says (`Table.info`) what each of its rows is read as, for whoever reads a whole database: `damage`.

Tables that do not say so hold nothing but their columns.
"""


def short(*names: str) -> list[Column[str]]:
    """Names, ids, words."""
    return [Column(name, SHORT, nullable=False) for name in names]


def prose(*names: str) -> list[Column[str]]:
    """What somebody wrote, of any length."""
    return [Column(name, PROSE, nullable=False) for name in names]


def number(*names: str) -> list[Column[int]]:
    """Whole numbers."""
    return [Column(name, NUMBER, nullable=False) for name in names]


def real(*names: str) -> list[Column[float]]:
    """Numbers to the last digit of a float64."""
    return [Column(name, Float(53), nullable=False) for name in names]


def moment(*names: str) -> list[Column[datetime]]:
    """Times."""
    return [Column(name, UtcDateTime, nullable=False) for name in names]


def of_episode() -> ForeignKeyConstraint:
    """The row goes with its episode."""
    return ForeignKeyConstraint(["workspace", "episode_id"], ["episodes.workspace", "episodes.id"], ondelete="CASCADE")

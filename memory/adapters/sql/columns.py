"""What every table is made of: the metadata they share, and the columns that most of them are of. None may be empty."""

from sqlalchemy import Column, Float, Integer, MetaData, String, Text

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def short(name: str) -> Column[str]:
    """A name, an id, a word."""
    return Column(name, String, nullable=False)


def prose(name: str) -> Column[str]:
    """What somebody wrote, of any length."""
    return Column(name, Text, nullable=False)


def number(name: str) -> Column[int]:
    """A whole number."""
    return Column(name, Integer, nullable=False)


def real(name: str) -> Column[float]:
    """A number to the last digit of a float64."""
    return Column(name, Float(53), nullable=False)

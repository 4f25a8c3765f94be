"""The tables of jobs, leases and rules."""

from sqlalchemy import Column, Index, PrimaryKeyConstraint, String, Table, Text

from memory.adapters.sql.tables import metadata
from memory.adapters.sql.types import Moment, TextTuple, Word
from memory.model import Verdict


def _name(name: str) -> Column[str]:
    return Column(name, String, nullable=False)


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


leases = Table(
    "leases",
    metadata,
    _name("name"),
    _name("owner"),
    Column("until", Moment, nullable=False),
    PrimaryKeyConstraint("name"),
    sqlite_with_rowid=False,
)

job_runs = Table(
    "job_runs",
    metadata,
    _name("name"),
    Column("started_at", Moment, nullable=False),
    Column("finished_at", Moment, nullable=False),
    _text("summary"),
    _text("error"),
    PrimaryKeyConstraint("name"),
    sqlite_with_rowid=False,
)

rules = Table(
    "rules",
    metadata,
    _name("workspace"),
    _name("id"),
    _name("partition"),
    Column("verdict", Word(Verdict), nullable=False),
    Column("lesson_ids", TextTuple, nullable=False),
    PrimaryKeyConstraint("workspace", "id"),
    Index(None, "workspace", "partition"),
    sqlite_with_rowid=False,
)

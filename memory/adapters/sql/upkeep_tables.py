"""The tables of jobs, leases, rules and erasures."""

from sqlalchemy import Column, PrimaryKeyConstraint, Table

from memory.adapters.sql.columns import metadata, moment, prose, short
from memory.adapters.sql.types import TextTuple, Word
from memory.model import Verdict

leases = Table(
    "leases",
    metadata,
    *short("name", "owner"),
    *moment("until"),
    PrimaryKeyConstraint("name"),
    sqlite_with_rowid=False,
)

job_runs = Table(
    "job_runs",
    metadata,
    *short("name"),
    *moment("started_at", "finished_at"),
    *prose("summary", "error"),
    PrimaryKeyConstraint("name"),
    sqlite_with_rowid=False,
)

rules = Table(
    "rules",
    metadata,
    *short("workspace", "id", "partition"),
    Column("verdict", Word(Verdict), nullable=False),
    Column("lesson_ids", TextTuple, nullable=False),
    PrimaryKeyConstraint("workspace", "id"),
    sqlite_with_rowid=False,
)

# What was begun and has to be brought to its end, by whichever process comes next.
erasures = Table(
    "erasures",
    metadata,
    *short("workspace", "id", "person"),
    PrimaryKeyConstraint("workspace", "id"),
    sqlite_with_rowid=False,
)

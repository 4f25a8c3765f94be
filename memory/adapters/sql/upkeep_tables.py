"""The tables of jobs, leases, rules and erasures."""

from sqlalchemy import Column, PrimaryKeyConstraint, Table

from memory.adapters.sql.columns import metadata, prose, short
from memory.adapters.sql.types import Moment, TextTuple, Word
from memory.model import Verdict

leases = Table(
    "leases",
    metadata,
    short("name"),
    short("owner"),
    Column("until", Moment, nullable=False),
    PrimaryKeyConstraint("name"),
    sqlite_with_rowid=False,
)

job_runs = Table(
    "job_runs",
    metadata,
    short("name"),
    Column("started_at", Moment, nullable=False),
    Column("finished_at", Moment, nullable=False),
    prose("summary"),
    prose("error"),
    PrimaryKeyConstraint("name"),
    sqlite_with_rowid=False,
)

rules = Table(
    "rules",
    metadata,
    short("workspace"),
    short("id"),
    short("partition"),
    Column("verdict", Word(Verdict), nullable=False),
    Column("lesson_ids", TextTuple, nullable=False),
    PrimaryKeyConstraint("workspace", "id"),
    sqlite_with_rowid=False,
)

# What was begun and has to be brought to its end, by whichever process comes next.
erasures = Table(
    "erasures",
    metadata,
    short("workspace"),
    short("id"),
    short("person"),
    PrimaryKeyConstraint("workspace", "id"),
    sqlite_with_rowid=False,
)

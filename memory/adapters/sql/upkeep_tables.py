"""The tables of jobs, leases, rules and erasures."""

from sqlalchemy import Column, PrimaryKeyConstraint, Table

from memory.adapters.sql.columns import READ_AS, metadata, moment, prose, short
from memory.adapters.sql.types import EnumText, text_tuple
from memory.model import Verdict
from memory.model.upkeep import Erasure, JobRun, Lease, Rule

leases = Table(
    "leases",
    metadata,
    *short("name", "owner"),
    *moment("until"),
    PrimaryKeyConstraint("name"),
    sqlite_with_rowid=False,
    info={READ_AS: Lease},
)

job_runs = Table(
    "job_runs",
    metadata,
    *short("name"),
    *moment("started_at", "finished_at"),
    *prose("summary", "error"),
    PrimaryKeyConstraint("name"),
    sqlite_with_rowid=False,
    info={READ_AS: JobRun},
)

rules = Table(
    "rules",
    metadata,
    *short("workspace", "id", "partition"),
    Column("verdict", EnumText(Verdict), nullable=False),
    Column("lesson_ids", text_tuple, nullable=False),
    PrimaryKeyConstraint("workspace", "id"),
    sqlite_with_rowid=False,
    info={READ_AS: Rule},
)

# What was begun and has to be brought to its end, by whichever process comes next.
erasures = Table(
    "erasures",
    metadata,
    *short("workspace", "id", "person"),
    PrimaryKeyConstraint("workspace", "id"),
    sqlite_with_rowid=False,
    info={READ_AS: Erasure},
)

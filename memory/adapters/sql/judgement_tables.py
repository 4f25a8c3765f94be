"""The tables of judgements and thresholds."""

from sqlalchemy import Boolean, Column, Index, PrimaryKeyConstraint, Table

from memory.adapters.sql.columns import READ_AS, metadata, moment, number, real, short
from memory.model.evidence import Judgement, Threshold

# A fold of the votes and of the evidence of the runs they are on, kept to be counted at once.
judgements = Table(
    "judgements",
    metadata,
    *short("workspace", "run_id", "actor"),
    *moment("at"),
    *number("confidence"),
    Column("is_right", Boolean, nullable=False),
    Column("is_known", Boolean, nullable=False),
    Column("is_asked", Boolean, nullable=False),
    PrimaryKeyConstraint("workspace", "run_id", "actor"),
    Index(None, "workspace", "at"),
    sqlite_with_rowid=False,
    info={READ_AS: Judgement},
)

# Counted from the judgements, so that a recall reads one row.
thresholds = Table(
    "thresholds",
    metadata,
    *short("workspace"),
    *real("budget", "value"),
    PrimaryKeyConstraint("workspace"),
    sqlite_with_rowid=False,
    info={READ_AS: Threshold},
)

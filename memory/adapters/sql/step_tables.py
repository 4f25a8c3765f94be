"""The tables of runs taken step by step, of their grades, and of values that expire."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    Table,
)

from memory.adapters.sql.columns import metadata, number, prose, short
from memory.adapters.sql.types import JsonObject, Moment, Numbers, Word
from memory.model import GradeSource

session_runs = Table(
    "session_runs",
    metadata,
    short("workspace"),
    short("person"),
    short("partition"),
    short("session_id"),
    short("run_id"),
    short("node_run"),
    short("root_id"),
    number("rep"),
    Column("is_evaluation", Boolean, nullable=False),
    Column("started_at", Moment, nullable=False),
    prose("task"),
    PrimaryKeyConstraint("workspace", "person", "session_id", "partition", "run_id"),
    sqlite_with_rowid=False,
)

steps = Table(
    "steps",
    metadata,
    short("workspace"),
    short("episode_id"),
    short("person"),
    short("session_id"),
    short("run_id"),
    number("number"),
    short("step_id"),
    prose("action"),
    prose("element_text"),
    prose("internal_state"),
    Column("env_pre", JsonObject, nullable=False),
    Column("env_post", JsonObject, nullable=False),
    Column("embedding", Numbers, nullable=False),
    PrimaryKeyConstraint("workspace", "episode_id"),
    ForeignKeyConstraint(["workspace", "episode_id"], ["episodes.workspace", "episodes.id"], ondelete="CASCADE"),
    Index(None, "workspace", "person", "session_id", "number"),
    sqlite_with_rowid=False,
)

step_grades = Table(
    "step_grades",
    metadata,
    short("workspace"),
    Column("seq", BigInteger, nullable=False),
    short("episode_id"),
    short("actor"),
    Column("source", Word(GradeSource), nullable=False),
    short("grader"),
    Column("is_correct", Boolean, nullable=False),
    Column("confidence", Float(53), nullable=False),
    Column("at", Moment, nullable=False),
    prose("explanation"),
    prose("correction"),
    PrimaryKeyConstraint("workspace", "seq"),
    ForeignKeyConstraint(["workspace", "episode_id"], ["episodes.workspace", "episodes.id"], ondelete="CASCADE"),
    Index(None, "workspace", "episode_id", "seq"),
    Index(None, "workspace", "actor"),
)

short_memories = Table(
    "short_memories",
    metadata,
    short("workspace"),
    short("kind"),
    short("key"),
    short("person"),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("value", JsonObject, nullable=False),
    PrimaryKeyConstraint("workspace", "kind", "key"),
    Index(None, "workspace", "person"),
    Index(None, "expires_at"),
    sqlite_with_rowid=False,
)

"""The tables of runs taken step by step, of their grades, and of values that expire."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    PrimaryKeyConstraint,
    Table,
)

from memory.adapters.sql.columns import metadata, moment, number, of_episode, prose, real, short
from memory.adapters.sql.types import Environment, JsonObject, Numbers, Word
from memory.model import GradeSource

session_runs = Table(
    "session_runs",
    metadata,
    *short("workspace", "person", "partition", "session_id", "run_id", "node_run", "root_id"),
    *number("rep"),
    Column("is_evaluation", Boolean, nullable=False),
    *moment("started_at"),
    *prose("task"),
    PrimaryKeyConstraint("workspace", "person", "session_id", "partition", "run_id"),
    sqlite_with_rowid=False,
)

steps = Table(
    "steps",
    metadata,
    *short("workspace", "episode_id", "person", "session_id", "run_id"),
    *number("number"),
    *short("step_id"),
    *prose("action", "element_text", "internal_state"),
    Column("env_pre", Environment, nullable=False),
    Column("env_post", Environment, nullable=False),
    Column("embedding", Numbers, nullable=False),
    PrimaryKeyConstraint("workspace", "episode_id"),
    of_episode(),
    Index(None, "workspace", "person", "session_id", "number"),
    sqlite_with_rowid=False,
)

step_grades = Table(
    "step_grades",
    metadata,
    *short("workspace"),
    Column("seq", BigInteger, nullable=False),
    *short("episode_id", "actor"),
    Column("source", Word(GradeSource), nullable=False),
    *short("grader"),
    Column("is_correct", Boolean, nullable=False),
    *real("confidence"),
    *moment("at"),
    *prose("explanation", "correction"),
    PrimaryKeyConstraint("workspace", "seq"),
    of_episode(),
    Index(None, "workspace", "episode_id", "seq"),
    Index(None, "workspace", "actor"),
)

short_memories = Table(
    "short_memories",
    metadata,
    *short("workspace", "kind", "key", "person"),
    *moment("created_at", "expires_at"),
    Column("value", JsonObject, nullable=False),
    PrimaryKeyConstraint("workspace", "kind", "key"),
    Index(None, "workspace", "person"),
    Index(None, "expires_at"),
    sqlite_with_rowid=False,
)

"""The tables of runs taken step by step, of their grades, and of values that expire."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
)

from memory.adapters.sql.tables import metadata
from memory.adapters.sql.types import JsonObject, Moment, Numbers, Word
from memory.model import GradeSource


def _name(name: str) -> Column[str]:
    return Column(name, String, nullable=False)


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def _count(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


session_runs = Table(
    "session_runs",
    metadata,
    _name("workspace"),
    _name("person"),
    _name("session_id"),
    _name("run_id"),
    _name("node_run"),
    _name("root_id"),
    _count("rep"),
    Column("is_evaluation", Boolean, nullable=False),
    Column("started_at", Moment, nullable=False),
    _text("task"),
    PrimaryKeyConstraint("workspace", "person", "session_id", "run_id"),
    sqlite_with_rowid=False,
)

steps = Table(
    "steps",
    metadata,
    _name("workspace"),
    _name("episode_id"),
    _name("person"),
    _name("session_id"),
    _name("run_id"),
    _count("number"),
    _name("step_id"),
    _text("action"),
    _text("element_text"),
    _text("internal_state"),
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
    _name("workspace"),
    Column("seq", BigInteger, nullable=False),
    _name("episode_id"),
    _name("actor"),
    Column("source", Word(GradeSource), nullable=False),
    _name("grader"),
    Column("is_correct", Boolean, nullable=False),
    Column("confidence", Float(53), nullable=False),
    Column("at", Moment, nullable=False),
    _text("explanation"),
    _text("correction"),
    PrimaryKeyConstraint("workspace", "seq"),
    ForeignKeyConstraint(["workspace", "episode_id"], ["episodes.workspace", "episodes.id"], ondelete="CASCADE"),
    Index(None, "workspace", "episode_id", "seq"),
    Index(None, "workspace", "actor"),
)

short_memories = Table(
    "short_memories",
    metadata,
    _name("workspace"),
    _name("kind"),
    _name("key"),
    _name("person"),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("value", JsonObject, nullable=False),
    PrimaryKeyConstraint("workspace", "kind", "key"),
    Index(None, "workspace", "person"),
    Index(None, "expires_at"),
    sqlite_with_rowid=False,
)

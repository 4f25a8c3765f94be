"""Tables of runs that are recorded step by step, their grades, and values that expire."""

from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, Table

from memory.adapters.sql.tables.columns import (
    booleans,
    enums,
    floats,
    integers,
    keyed,
    long_texts,
    metadata,
    of_episode,
    short_texts,
    text_keys,
    timestamps,
)
from memory.adapters.sql.tables.types import environment, json_object, numbers
from memory.model import GradeSource, SessionRun, ShortMemory, StoredStep

session_runs = keyed(
    "session_runs",
    *short_texts("workspace", "person", "partition", "session_id", "run_id", "node_run", "root_id"),
    *integers("rep"),
    *booleans("is_evaluation"),
    *timestamps("started_at"),
    *long_texts("task"),
    PrimaryKeyConstraint("workspace", "person", "session_id", "partition", "run_id"),
    read_as=SessionRun,
)

steps = keyed(
    "steps",
    *text_keys("workspace", "episode_id"),
    *short_texts("person", "session_id", "run_id"),
    *integers("number"),
    *short_texts("step_id"),
    *long_texts("action", "element_text", "internal_state"),
    Column("env_pre", environment, nullable=False),
    Column("env_post", environment, nullable=False),
    Column("embedding", numbers, nullable=False),
    of_episode(),
    Index(None, "workspace", "person", "session_id", "number"),
    read_as=StoredStep,
)

step_grades = Table(
    "step_grades",
    metadata,
    *short_texts("workspace"),
    Column("seq", BigInteger, nullable=False),
    *short_texts("episode_id", "actor"),
    *enums(GradeSource, "source"),
    *short_texts("grader"),
    *booleans("is_correct"),
    *floats("confidence"),
    *timestamps("at"),
    *long_texts("explanation", "correction"),
    PrimaryKeyConstraint("workspace", "seq"),
    of_episode(),
    Index(None, "workspace", "episode_id", "seq"),
    Index(None, "workspace", "actor"),
)

short_memories = keyed(
    "short_memories",
    *text_keys("workspace", "kind", "key"),
    *short_texts("person"),
    *timestamps("created_at", "expires_at"),
    Column("value", json_object, nullable=False),
    Index(None, "workspace", "person"),
    Index(None, "expires_at"),
    read_as=ShortMemory,
)

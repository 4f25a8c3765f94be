"""Tables of runs that are recorded step by step, their grades, and values that expire."""

from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, Table

from memory.adapters.sql.tables.columns import (
    flag,
    key,
    keyed,
    metadata,
    moment,
    number,
    of_episode,
    prose,
    real,
    short,
    word,
)
from memory.adapters.sql.tables.types import environment, json_object, numbers
from memory.model import GradeSource, SessionRun, ShortMemory, StoredStep

session_runs = keyed(
    "session_runs",
    *short("workspace", "person", "partition", "session_id", "run_id", "node_run", "root_id"),
    *number("rep"),
    *flag("is_evaluation"),
    *moment("started_at"),
    *prose("task"),
    PrimaryKeyConstraint("workspace", "person", "session_id", "partition", "run_id"),
    read_as=SessionRun,
)

steps = keyed(
    "steps",
    *key("workspace", "episode_id"),
    *short("person", "session_id", "run_id"),
    *number("number"),
    *short("step_id"),
    *prose("action", "element_text", "internal_state"),
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
    *short("workspace"),
    Column("seq", BigInteger, nullable=False),
    *short("episode_id", "actor"),
    *word(GradeSource, "source"),
    *short("grader"),
    *flag("is_correct"),
    *real("confidence"),
    *moment("at"),
    *prose("explanation", "correction"),
    PrimaryKeyConstraint("workspace", "seq"),
    of_episode(),
    Index(None, "workspace", "episode_id", "seq"),
    Index(None, "workspace", "actor"),
)

short_memories = keyed(
    "short_memories",
    *key("workspace", "kind", "key"),
    *short("person"),
    *moment("created_at", "expires_at"),
    Column("value", json_object, nullable=False),
    Index(None, "workspace", "person"),
    Index(None, "expires_at"),
    read_as=ShortMemory,
)

"""Tables of runs that are recorded step by step, their grades, and values that expire."""

from sqlalchemy import BigInteger, Boolean, Column, Index, PrimaryKeyConstraint, Table

from memory.adapters.sql.tables.columns import READ_AS, metadata, moment, number, of_episode, prose, real, short
from memory.adapters.sql.tables.types import EnumText, environment, json_object, numbers
from memory.model import GradeSource, SessionRun, ShortMemory, StoredStep

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
    info={READ_AS: SessionRun},
)

steps = Table(
    "steps",
    metadata,
    *short("workspace", "episode_id", "person", "session_id", "run_id"),
    *number("number"),
    *short("step_id"),
    *prose("action", "element_text", "internal_state"),
    Column("env_pre", environment, nullable=False),
    Column("env_post", environment, nullable=False),
    Column("embedding", numbers, nullable=False),
    PrimaryKeyConstraint("workspace", "episode_id"),
    of_episode(),
    Index(None, "workspace", "person", "session_id", "number"),
    sqlite_with_rowid=False,
    info={READ_AS: StoredStep},
)

step_grades = Table(
    "step_grades",
    metadata,
    *short("workspace"),
    Column("seq", BigInteger, nullable=False),
    *short("episode_id", "actor"),
    Column("source", EnumText(GradeSource), nullable=False),
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
    Column("value", json_object, nullable=False),
    PrimaryKeyConstraint("workspace", "kind", "key"),
    Index(None, "workspace", "person"),
    Index(None, "expires_at"),
    sqlite_with_rowid=False,
    info={READ_AS: ShortMemory},
)

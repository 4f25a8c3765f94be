"""Tables of API keys, batches, settings changed in chat, jobs, leases, rules and erasures."""

from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Index, PrimaryKeyConstraint, Table

from memory.adapters.sql.tables.columns import READ_AS, metadata, moment, prose, short
from memory.adapters.sql.tables.types import EnumText, UtcDateTime, text_tuple
from memory.model import Audience, Verdict
from memory.model.api_key import ApiKey, Right
from memory.model.batch import Batch, BatchLesson
from memory.model.chat_setting import ChatSetting
from memory.model.upkeep import Erasure, JobProgress, JobRun, Lease, Rule

api_keys = Table(
    "api_keys",
    metadata,
    *short("workspace", "name", "digest"),
    Column("right", EnumText(Right), nullable=False),
    *short("channel", "made_by"),
    *moment("made_at"),
    *short("revoked_by"),
    Column("revoked_at", UtcDateTime, nullable=True),
    PrimaryKeyConstraint("workspace", "name"),
    Index(None, "workspace", "digest", unique=True),
    sqlite_with_rowid=False,
    info={READ_AS: ApiKey},
)

batches = Table(
    "batches",
    metadata,
    *short("workspace", "id", "name", "digest", "actor"),
    *moment("at"),
    Column("undone_at", UtcDateTime, nullable=True),
    PrimaryKeyConstraint("workspace", "id"),
    sqlite_with_rowid=False,
    info={READ_AS: Batch},
)

# No foreign key to episodes: the row stays, so that importing the same file does not bring an erased lesson back.
batch_lessons = Table(
    "batch_lessons",
    metadata,
    *short("workspace", "key", "batch_id", "lesson_id"),
    Column("audience", EnumText(Audience), nullable=False),
    *short("source"),
    PrimaryKeyConstraint("workspace", "key"),
    ForeignKeyConstraint(
        ["workspace", "batch_id"], ["batches.workspace", "batches.id"], name="fk_batch_lessons_batches"
    ),
    Index(None, "workspace", "batch_id", "lesson_id"),
    Index(None, "workspace", "lesson_id"),
    sqlite_with_rowid=False,
    info={READ_AS: BatchLesson},
)

settings = Table(
    "settings",
    metadata,
    *short("workspace", "channel", "name", "value", "changed_by"),
    *moment("at"),
    PrimaryKeyConstraint("workspace", "channel", "name"),
    sqlite_with_rowid=False,
    info={READ_AS: ChatSetting},
)

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

job_progress = Table(
    "job_progress",
    metadata,
    *short("workspace", "job"),
    Column("seq", BigInteger, nullable=False),
    *moment("tried_at"),
    PrimaryKeyConstraint("workspace", "job"),
    sqlite_with_rowid=False,
    info={READ_AS: JobProgress},
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

# Unfinished erasures, which the next process finishes.
erasures = Table(
    "erasures",
    metadata,
    *short("workspace", "id", "person"),
    PrimaryKeyConstraint("workspace", "id"),
    sqlite_with_rowid=False,
    info={READ_AS: Erasure},
)

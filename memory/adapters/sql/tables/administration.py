"""Tables of API keys, batches, settings changed in chat, jobs, leases, rules and erasures."""

from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Index

from memory.adapters.sql.tables.columns import enums, keyed, long_texts, short_texts, text_keys, timestamps
from memory.adapters.sql.tables.types import UtcDateTime, text_tuple
from memory.model import Audience, Verdict
from memory.model.api_key import ApiKey, Right
from memory.model.batch import Batch, BatchLesson
from memory.model.chat_setting import ChatSetting
from memory.model.upkeep import Erasure, JobProgress, JobRun, Lease, Rule

api_keys = keyed(
    "api_keys",
    *text_keys("workspace", "name"),
    *short_texts("digest"),
    *enums(Right, "right"),
    *short_texts("channel", "made_by"),
    *timestamps("made_at"),
    *short_texts("revoked_by"),
    Column("revoked_at", UtcDateTime, nullable=True),
    Index(None, "workspace", "digest", unique=True),
    read_as=ApiKey,
)

batches = keyed(
    "batches",
    *text_keys("workspace", "id"),
    *short_texts("name", "digest", "actor"),
    *timestamps("at"),
    Column("undone_at", UtcDateTime, nullable=True),
    read_as=Batch,
)

# No foreign key to episodes: the row stays, so that importing the same file does not bring an erased lesson back.
batch_lessons = keyed(
    "batch_lessons",
    *text_keys("workspace", "key"),
    *short_texts("batch_id", "lesson_id"),
    *enums(Audience, "audience"),
    *short_texts("source"),
    ForeignKeyConstraint(["workspace", "batch_id"], ["batches.workspace", "batches.id"]),
    Index(None, "workspace", "batch_id", "lesson_id"),
    Index(None, "workspace", "lesson_id"),
    read_as=BatchLesson,
)

settings = keyed(
    "settings",
    *text_keys("workspace", "channel", "name"),
    *short_texts("value", "changed_by"),
    *timestamps("at"),
    read_as=ChatSetting,
)

leases = keyed("leases", *text_keys("name"), *short_texts("owner"), *timestamps("until"), read_as=Lease)

job_runs = keyed(
    "job_runs",
    *text_keys("name"),
    *timestamps("started_at", "finished_at"),
    *long_texts("summary", "error"),
    read_as=JobRun,
)

job_progress = keyed(
    "job_progress",
    *text_keys("workspace", "job"),
    Column("seq", BigInteger, nullable=False),
    *timestamps("tried_at"),
    read_as=JobProgress,
)

rules = keyed(
    "rules",
    *text_keys("workspace", "id"),
    *short_texts("partition"),
    *enums(Verdict, "verdict"),
    Column("lesson_ids", text_tuple, nullable=False),
    read_as=Rule,
)

# Unfinished erasures, which the next process finishes.
erasures = keyed("erasures", *text_keys("workspace", "id"), *short_texts("person"), read_as=Erasure)

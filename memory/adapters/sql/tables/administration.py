"""Tables of API keys, batches, settings changed in chat, jobs, leases, rules and erasures."""

from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Index

from memory.adapters.sql.tables.columns import key, keyed, moment, prose, short, word
from memory.adapters.sql.tables.types import UtcDateTime, text_tuple
from memory.model import Audience, Verdict
from memory.model.api_key import ApiKey, Right
from memory.model.batch import Batch, BatchLesson
from memory.model.chat_setting import ChatSetting
from memory.model.upkeep import Erasure, JobProgress, JobRun, Lease, Rule

api_keys = keyed(
    "api_keys",
    *key("workspace", "name"),
    *short("digest"),
    *word(Right, "right"),
    *short("channel", "made_by"),
    *moment("made_at"),
    *short("revoked_by"),
    Column("revoked_at", UtcDateTime, nullable=True),
    Index(None, "workspace", "digest", unique=True),
    read_as=ApiKey,
)

batches = keyed(
    "batches",
    *key("workspace", "id"),
    *short("name", "digest", "actor"),
    *moment("at"),
    Column("undone_at", UtcDateTime, nullable=True),
    read_as=Batch,
)

# No foreign key to episodes: the row stays, so that importing the same file does not bring an erased lesson back.
batch_lessons = keyed(
    "batch_lessons",
    *key("workspace", "key"),
    *short("batch_id", "lesson_id"),
    *word(Audience, "audience"),
    *short("source"),
    ForeignKeyConstraint(["workspace", "batch_id"], ["batches.workspace", "batches.id"]),
    Index(None, "workspace", "batch_id", "lesson_id"),
    Index(None, "workspace", "lesson_id"),
    read_as=BatchLesson,
)

settings = keyed(
    "settings",
    *key("workspace", "channel", "name"),
    *short("value", "changed_by"),
    *moment("at"),
    read_as=ChatSetting,
)

leases = keyed("leases", *key("name"), *short("owner"), *moment("until"), read_as=Lease)

job_runs = keyed(
    "job_runs", *key("name"), *moment("started_at", "finished_at"), *prose("summary", "error"), read_as=JobRun
)

job_progress = keyed(
    "job_progress",
    *key("workspace", "job"),
    Column("seq", BigInteger, nullable=False),
    *moment("tried_at"),
    read_as=JobProgress,
)

rules = keyed(
    "rules",
    *key("workspace", "id"),
    *short("partition"),
    *word(Verdict, "verdict"),
    Column("lesson_ids", text_tuple, nullable=False),
    read_as=Rule,
)

# Unfinished erasures, which the next process finishes.
erasures = keyed("erasures", *key("workspace", "id"), *short("person"), read_as=Erasure)

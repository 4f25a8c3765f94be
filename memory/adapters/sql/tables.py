"""Every table. Keys start with the workspace; narrow columns come first and long texts last, so lists stay cheap.

The migrations in `memory.migrations` make the same tables; a test compares the two.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from memory.adapters.sql.types import HalfVector, JsonObject, Moment, Steps, TextTuple, Word
from memory.model import (
    Audience,
    EpisodeStatus,
    EventKind,
    Lesson,
    LinkKind,
    Origin,
    Progress,
    Role,
    Signal,
    Termination,
    Verdict,
    Visibility,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def _name(name: str) -> Column[str]:
    return Column(name, String, nullable=False)


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def _count(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


def _real(name: str) -> Column[float]:
    return Column(name, Float(53), nullable=False)


episodes = Table(
    "episodes",
    metadata,
    _name("workspace"),
    _name("id"),
    _name("run_id"),
    _name("parent_id"),
    _name("node_path"),
    _count("step_number"),
    _count("rep"),
    _name("channel"),
    _name("thread"),
    _name("person"),
    _name("author"),
    Column("visibility", Word(Visibility), nullable=False),
    Column("origin", Word(Origin), nullable=False),
    Column("termination", Word(Termination), nullable=False),
    Column("status", Word(EpisodeStatus), nullable=False),
    Column("verdict", Word(Verdict), nullable=False),  # the three below in one word, for lists
    Column("verdict_personal", Word(Verdict), nullable=False),
    Column("verdict_channel", Word(Verdict), nullable=False),
    Column("verdict_workspace", Word(Verdict), nullable=False),
    Column("promoted", Word(Audience), nullable=True),
    _real("strength"),
    _real("nudge"),
    _real("salience"),
    Column("salience_at", Moment, nullable=False),
    _count("retrieval_count"),
    _count("used_count"),
    _count("ignored_count"),
    Column("created_at", Moment, nullable=False),
    Column("graded_at", Moment, nullable=True),
    Column("archived_at", Moment, nullable=True),
    _count("prompt_tokens"),
    _count("completion_tokens"),
    _real("cost_usd"),
    _name("goal_digest"),  # of the goal without case and spaces, to count attempts
    _name("flow"),
    _name("action"),
    _name("model"),
    _name("place"),
    _text("goal"),
    _text("why"),
    _text("action_target"),
    _text("outcome_reason"),
    _text("task_incomplete"),
    _text("correction"),
    Column("exemplar_ids", TextTuple, nullable=False),
    _text("output"),
    _text("thoughts"),
    Column("context_before", TextTuple, nullable=False),
    Column("context_after", TextTuple, nullable=False),
    Column("trajectory", Steps, nullable=False),
    PrimaryKeyConstraint("workspace", "id"),
    Index(None, "workspace", "run_id", "step_number"),
    Index(None, "workspace", "created_at", "id"),
    Index(None, "workspace", "person", "channel", "goal_digest"),
)

episode_vectors = Table(
    "episode_vectors",
    metadata,
    _name("workspace"),
    _name("episode_id"),
    _name("model"),
    Column("vector", HalfVector, nullable=False),
    PrimaryKeyConstraint("workspace", "episode_id"),
    ForeignKeyConstraint(["workspace", "episode_id"], ["episodes.workspace", "episodes.id"], ondelete="CASCADE"),
    sqlite_with_rowid=False,
)

# One row per episode and partition. Every change moves the row to a new `seq`, and what is no longer findable stays as
# a row without a vector, so that a process brings its copy up to date with `seq > ?`.
recall_index = Table(
    "recall_index",
    metadata,
    _name("workspace"),
    _name("partition"),
    Column("seq", BigInteger, nullable=False),
    _name("episode_id"),
    Column("audience", Word(Audience), nullable=False),
    Column("verdict", Word(Verdict), nullable=False),
    _name("model"),
    Column("vector", HalfVector, nullable=True),
    PrimaryKeyConstraint("workspace", "partition", "seq"),
    UniqueConstraint("workspace", "episode_id", "partition"),
    sqlite_with_rowid=False,
)

links = Table(
    "links",
    metadata,
    _name("workspace"),
    _name("from_id"),
    _name("to_id"),
    Column("kind", Word(LinkKind), nullable=False),
    Column("at", Moment, nullable=False),
    _real("weight"),
    PrimaryKeyConstraint("workspace", "from_id", "to_id", "kind"),
    ForeignKeyConstraint(
        ["workspace", "from_id"],
        ["episodes.workspace", "episodes.id"],
        name="fk_links_from_episodes",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["workspace", "to_id"], ["episodes.workspace", "episodes.id"], name="fk_links_to_episodes", ondelete="CASCADE"
    ),
    Index(None, "workspace", "to_id"),
    sqlite_with_rowid=False,
)

# No foreign key: the note that an episode was forgotten outlives it.
events = Table(
    "events",
    metadata,
    _name("workspace"),
    Column("seq", BigInteger, nullable=False),
    _name("episode_id"),
    Column("kind", Word(EventKind), nullable=False),
    _name("actor"),
    Column("at", Moment, nullable=False),
    _name("source_event_id"),
    Column("detail", JsonObject, nullable=False),
    PrimaryKeyConstraint("workspace", "seq"),
    Index(None, "workspace", "episode_id", "seq"),
    Index(None, "workspace", "actor", "seq"),
    Index(
        "uq_events_source",
        "workspace",
        "source_event_id",
        "episode_id",
        "kind",
        unique=True,
        sqlite_where=text("source_event_id != ''"),
        postgresql_where=text("source_event_id != ''"),
    ),
)

processed_events = Table(
    "processed_events",
    metadata,
    _name("workspace"),
    _name("source_event_id"),
    Column("at", Moment, nullable=False),
    PrimaryKeyConstraint("workspace", "source_event_id"),
    sqlite_with_rowid=False,
)

counters = Table(
    "counters",
    metadata,
    _name("workspace"),
    _name("name"),
    Column("value", BigInteger, nullable=False),
    PrimaryKeyConstraint("workspace", "name"),
    sqlite_with_rowid=False,
)

reactions = Table(
    "reactions",
    metadata,
    _name("workspace"),
    _name("channel"),
    _name("message_id"),
    _name("node_id"),
    _name("actor"),
    _name("source"),
    Column("value", SmallInteger, nullable=False),
    Column("role", Word(Role), nullable=False),
    Column("at", Moment, nullable=False),
    _name("run_id"),
    Column("is_active", Boolean, nullable=False),
    Column("seq", BigInteger, nullable=False),
    _name("event_id"),
    PrimaryKeyConstraint("workspace", "channel", "message_id", "node_id", "actor", "source"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "actor"),
    sqlite_with_rowid=False,
)

votes = Table(
    "votes",
    metadata,
    _name("workspace"),
    _name("run_id"),
    _name("node_id"),
    _name("actor"),
    Column("role", Word(Role), nullable=False),
    Column("value", SmallInteger, nullable=False),
    Column("at", Moment, nullable=False),
    _name("source"),
    _name("event_id"),
    Column("is_limited", Boolean, nullable=False),
    PrimaryKeyConstraint("workspace", "run_id", "node_id", "actor"),
    Index(None, "workspace", "actor", "at"),
    sqlite_with_rowid=False,
)

# What administrators' votes prove about the other voters of a run: a fold of its votes, kept to be counted by person.
trust_evidence = Table(
    "trust_evidence",
    metadata,
    _name("workspace"),
    _name("run_id"),
    _name("node_id"),
    _name("actor"),
    Column("agrees", Boolean, nullable=False),
    PrimaryKeyConstraint("workspace", "run_id", "node_id", "actor"),
    Index(None, "workspace", "actor"),
    sqlite_with_rowid=False,
)

# Only episodes that are in quarantine have a row.
quarantines = Table(
    "quarantines",
    metadata,
    _name("workspace"),
    _name("episode_id"),
    Column("reasons", TextTuple, nullable=False),
    PrimaryKeyConstraint("workspace", "episode_id"),
    ForeignKeyConstraint(["workspace", "episode_id"], ["episodes.workspace", "episodes.id"], ondelete="CASCADE"),
    sqlite_with_rowid=False,
)

ledger = Table(
    "ledger",
    metadata,
    _name("workspace"),
    _name("channel"),
    _name("message_id"),
    _name("run_id"),
    _count("part"),
    Column("posted_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    PrimaryKeyConstraint("workspace", "channel", "message_id"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "channel", "posted_at"),
    Index(None, "expires_at"),
    sqlite_with_rowid=False,
)

incoming = Table(
    "incoming",
    metadata,
    _name("workspace"),
    _name("event_id"),
    _name("channel"),
    _name("message_id"),
    _name("thread"),
    _name("person"),
    Column("visibility", Word(Visibility), nullable=False),
    Column("progress", Word(Progress), nullable=False),
    Column("at", Moment, nullable=False),
    _name("run_id"),
    _name("place"),
    _text("text"),
    PrimaryKeyConstraint("workspace", "event_id"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "person", "channel", "at"),
    Index(None, "progress", "workspace", "at"),
    Index(
        "uq_incoming_message",
        "workspace",
        "channel",
        "message_id",
        unique=True,
        sqlite_where=text("message_id != ''"),
        postgresql_where=text("message_id != ''"),
    ),
)

outgoing = Table(
    "outgoing",
    metadata,
    _name("workspace"),
    _name("run_id"),
    _count("part"),
    _name("channel"),
    _name("thread"),
    _name("message_id"),
    Column("sent_at", Moment, nullable=True),
    _text("text"),
    PrimaryKeyConstraint("workspace", "run_id", "part"),
    Index(None, "workspace", "channel", "thread"),
)

retrievals = Table(
    "retrievals",
    metadata,
    _name("workspace"),
    _name("id"),
    _name("run_id"),
    _name("node_path"),
    Column("at", Moment, nullable=False),
    Column("counts", JsonObject, nullable=False),
    _text("goal"),
    PrimaryKeyConstraint("workspace", "id"),
    Index(None, "workspace", "run_id"),
)

# No foreign key to episodes: a rank may stay empty after its episode was erased.
retrieval_items = Table(
    "retrieval_items",
    metadata,
    _name("workspace"),
    _name("retrieval_id"),
    _name("episode_id"),
    _count("rank"),
    Column("lesson", Word(Lesson), nullable=False),
    _real("context_score"),
    _real("intent_score"),
    _real("relevance"),
    Column("signal", Word(Signal), nullable=True),
    _real("ratio"),
    PrimaryKeyConstraint("workspace", "retrieval_id", "episode_id"),
    ForeignKeyConstraint(["workspace", "retrieval_id"], ["retrievals.workspace", "retrievals.id"], ondelete="CASCADE"),
    Index(None, "workspace", "episode_id"),
    sqlite_with_rowid=False,
)

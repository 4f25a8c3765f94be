"""Tables of episodes, the event log and recall.

Keys start with the workspace; narrow columns come first and long texts last, so lists stay cheap. A new database is
made from these definitions; `memory.migrations` upgrades databases of earlier releases.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    text,
)

from memory.adapters.sql.tables.columns import READ_AS, metadata, moment, number, of_episode, prose, real, short
from memory.adapters.sql.tables.types import (
    EnumText,
    HalfVector,
    UtcDateTime,
    evidence,
    json_object,
    text_tuple,
    trajectory,
)
from memory.model import (
    Audience,
    EpisodeStatus,
    Event,
    EventKind,
    Lesson,
    Link,
    LinkKind,
    Origin,
    Retrieval,
    RetrievalItem,
    Signal,
    Termination,
    Verdict,
    Visibility,
)

IS_DISPUTED = text("verdict = 'disputed'")
IS_GRADING = text("kind IN ('graded', 'regraded')")
"""SQLite uses a partial index only for exactly the same expression."""

episodes = Table(
    "episodes",
    metadata,
    *short("workspace", "id", "run_id", "parent_id", "node_path"),
    *number("step_number", "rep"),
    *short("channel", "thread", "person", "author"),
    Column("visibility", EnumText(Visibility), nullable=False),
    Column("origin", EnumText(Origin), nullable=False),
    Column("termination", EnumText(Termination), nullable=False),
    Column("status", EnumText(EpisodeStatus), nullable=False),
    Column("verdict", EnumText(Verdict), nullable=False),  # `Verdicts.overall`, for lists
    Column("verdict_personal", EnumText(Verdict), nullable=False),
    Column("verdict_channel", EnumText(Verdict), nullable=False),
    Column("verdict_workspace", EnumText(Verdict), nullable=False),
    Column("verdict_proposed", EnumText(Verdict), nullable=False),
    Column("promoted", EnumText(Audience), nullable=True),
    *real("strength", "nudge", "salience"),
    *moment("salience_at"),
    *number("retrieval_count", "used_count", "ignored_count"),
    *moment("created_at"),
    Column("graded_at", UtcDateTime, nullable=True),
    Column("archived_at", UtcDateTime, nullable=True),
    *number("prompt_tokens", "completion_tokens"),
    *real("cost_usd"),
    *short("goal_digest"),  # of the goal without case and spaces, to count attempts
    *short("flow", "action", "model", "place"),
    *prose("goal", "why", "action_target", "outcome_reason", "task_incomplete", "correction"),
    Column("exemplar_ids", text_tuple, nullable=False),
    *prose("output", "thoughts"),
    Column("context_before", text_tuple, nullable=False),
    Column("context_after", text_tuple, nullable=False),
    Column("trajectory", trajectory, nullable=False),
    PrimaryKeyConstraint("workspace", "id"),
    Index(None, "workspace", "run_id", "step_number"),
    Index(None, "workspace", "created_at", "id"),
    Index(None, "workspace", "author"),
    Index(
        "ix_episodes_disputed",
        "workspace",
        "created_at",
        "id",
        sqlite_where=IS_DISPUTED,
        postgresql_where=IS_DISPUTED,
    ),
    Index("ix_episodes_attempts", "workspace", "person", "channel", "goal_digest", "parent_id", "origin", "rep"),
)

episode_vectors = Table(
    "episode_vectors",
    metadata,
    *short("workspace", "episode_id", "model"),
    Column("vector", HalfVector, nullable=False),
    PrimaryKeyConstraint("workspace", "episode_id"),
    Index(None, "workspace", "model"),
    of_episode(),
    sqlite_with_rowid=False,
)

# One row per episode and partition. Each change moves the row to a new `seq`, and removed rows stay without a vector,
# so that a process updates its copy with `seq > ?`. A row has all columns of a copy, so that the first search of a
# partition reads one range of one table.
recall_index = Table(
    "recall_index",
    metadata,
    *short("workspace", "partition"),
    Column("seq", BigInteger, nullable=False),
    *short("episode_id"),
    Column("audience", EnumText(Audience), nullable=False),
    Column("verdict", EnumText(Verdict), nullable=False),
    *short("action", "words", "author", "model"),
    Column("vector", HalfVector, nullable=True),
    PrimaryKeyConstraint("workspace", "partition", "seq"),
    UniqueConstraint("workspace", "episode_id", "partition"),
    sqlite_with_rowid=False,
)

links = Table(
    "links",
    metadata,
    *short("workspace", "from_id", "to_id"),
    Column("kind", EnumText(LinkKind), nullable=False),
    *moment("at"),
    *real("weight"),
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
    Index(None, "workspace", "to_id", "kind"),
    sqlite_with_rowid=False,
    info={READ_AS: Link},
)

# No foreign key: the event that an episode was forgotten outlives the episode.
events = Table(
    "events",
    metadata,
    *short("workspace"),
    Column("seq", BigInteger, nullable=False),
    *short("episode_id"),
    Column("kind", EnumText(EventKind), nullable=False),
    *short("actor"),
    *moment("at"),
    *short("source_event_id"),
    Column("detail", json_object, nullable=False),
    PrimaryKeyConstraint("workspace", "seq"),
    Index(None, "workspace", "episode_id", "seq"),
    Index(None, "workspace", "actor", "seq"),
    Index(None, "workspace", "kind", "seq"),
    Index(
        "ix_events_gradings",
        "workspace",
        "episode_id",
        "seq",
        sqlite_where=IS_GRADING,
        postgresql_where=IS_GRADING,
    ),
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
    info={READ_AS: Event},
)

# Digests of platforms' event ids, which may name a person.
processed_events = Table(
    "processed_events",
    metadata,
    *short("workspace", "event_digest"),
    *moment("at"),
    PrimaryKeyConstraint("workspace", "event_digest"),
    sqlite_with_rowid=False,
)

counters = Table(
    "counters",
    metadata,
    *short("workspace", "name"),
    Column("value", BigInteger, nullable=False),
    PrimaryKeyConstraint("workspace", "name"),
    sqlite_with_rowid=False,
)

# Only quarantined episodes have a row.
quarantines = Table(
    "quarantines",
    metadata,
    *short("workspace", "episode_id"),
    Column("reasons", text_tuple, nullable=False),
    PrimaryKeyConstraint("workspace", "episode_id"),
    of_episode(),
    sqlite_with_rowid=False,
)

# Only episodes with words of other people than their author have rows.
borrowed_words = Table(
    "borrowed_words",
    metadata,
    *short("workspace", "episode_id", "person"),
    PrimaryKeyConstraint("workspace", "episode_id", "person"),
    of_episode(),
    Index(None, "workspace", "person"),
    sqlite_with_rowid=False,
)

retrievals = Table(
    "retrievals",
    metadata,
    *short("workspace", "id", "run_id", "node_path"),
    *moment("at"),
    Column("counts", json_object, nullable=False),
    *prose("goal"),
    Column("evidence", evidence, nullable=True),
    Column("is_control", Boolean, nullable=False),
    PrimaryKeyConstraint("workspace", "id"),
    Index(None, "workspace", "run_id"),
    info={READ_AS: Retrieval},
)

# No foreign key to episodes: ranks of erased episodes stay unused.
retrieval_items = Table(
    "retrieval_items",
    metadata,
    *short("workspace", "retrieval_id", "episode_id"),
    *number("rank"),
    Column("lesson", EnumText(Lesson), nullable=False),
    *real("context_score", "intent_score", "relevance"),
    Column("signal", EnumText(Signal), nullable=True),
    *real("ratio"),
    PrimaryKeyConstraint("workspace", "retrieval_id", "episode_id"),
    ForeignKeyConstraint(["workspace", "retrieval_id"], ["retrievals.workspace", "retrievals.id"], ondelete="CASCADE"),
    Index(None, "workspace", "episode_id"),
    sqlite_with_rowid=False,
    info={READ_AS: RetrievalItem},
)

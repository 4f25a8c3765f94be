"""Tables of episodes, the event log and recall.

Keys start with the workspace; narrow columns come first and long texts last, so lists stay cheap. A new database is
made from these definitions; `memory.migrations` upgrades databases of earlier releases.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    text,
)

from memory.adapters.sql.tables.columns import (
    READ_AS,
    booleans,
    enums,
    floats,
    integers,
    keyed,
    long_texts,
    metadata,
    of_episode,
    partial_index,
    short_texts,
    text_keys,
    timestamps,
)
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
IS_GRADING = text("kind IN ('graded', 'regraded', 'ungraded')")

episodes = Table(
    "episodes",
    metadata,
    *text_keys("workspace", "id"),
    *short_texts("run_id", "parent_id", "node_path"),
    *integers("step_number", "rep"),
    *short_texts("channel", "thread", "person", "author"),
    *enums(Visibility, "visibility"),
    *enums(Origin, "origin"),
    *enums(Termination, "termination"),
    *enums(EpisodeStatus, "status"),
    *enums(Verdict, "verdict"),  # `Verdicts.overall`, for lists
    *enums(Verdict, "verdict_personal", "verdict_channel", "verdict_workspace", "verdict_proposed"),
    Column("promoted", EnumText(Audience), nullable=True),
    *floats("strength", "nudge", "salience"),
    *timestamps("salience_at"),
    *integers("retrieval_count", "used_count", "ignored_count"),
    *timestamps("created_at"),
    Column("graded_at", UtcDateTime, nullable=True),
    Column("archived_at", UtcDateTime, nullable=True),
    *integers("prompt_tokens", "completion_tokens"),
    *floats("cost_usd"),
    *short_texts("goal_digest"),  # of the goal without case and spaces, to count attempts
    *short_texts("flow", "action", "model", "place"),
    *long_texts("goal", "why", "action_target", "outcome_reason", "task_incomplete", "correction"),
    Column("exemplar_ids", text_tuple, nullable=False),
    *long_texts("output", "thoughts"),
    Column("context_before", text_tuple, nullable=False),
    Column("context_after", text_tuple, nullable=False),
    Column("trajectory", trajectory, nullable=False),
    Index(None, "workspace", "run_id", "step_number"),
    Index(None, "workspace", "created_at", "id"),
    Index(None, "workspace", "author"),
    partial_index("ix_episodes_disputed", "workspace", "created_at", "id", where=IS_DISPUTED),
    Index("ix_episodes_attempts", "workspace", "person", "channel", "goal_digest", "parent_id", "origin", "rep"),
)

episode_vectors = keyed(
    "episode_vectors",
    *text_keys("workspace", "episode_id"),
    *short_texts("model"),
    Column("vector", HalfVector, nullable=False),
    Index(None, "workspace", "model"),
    of_episode(),
)

# One row per episode and partition. Each change moves the row to a new `seq`, and removed rows stay without a vector,
# so that a process updates its copy with `seq > ?`. A row has all columns of a copy, so that the first search of a
# partition reads one range of one table.
recall_index = keyed(
    "recall_index",
    *short_texts("workspace", "partition"),
    Column("seq", BigInteger, nullable=False),
    *short_texts("episode_id"),
    *enums(Audience, "audience"),
    *enums(Verdict, "verdict"),
    *short_texts("action", "words", "author", "model"),
    Column("vector", HalfVector, nullable=True),
    PrimaryKeyConstraint("workspace", "partition", "seq"),
    UniqueConstraint("workspace", "episode_id", "partition"),
)

links = keyed(
    "links",
    *short_texts("workspace", "from_id", "to_id"),
    *enums(LinkKind, "kind"),
    *timestamps("at"),
    *floats("weight"),
    PrimaryKeyConstraint("workspace", "from_id", "to_id", "kind"),
    of_episode("from_id", name="fk_links_from_episodes"),
    of_episode("to_id", name="fk_links_to_episodes"),
    Index(None, "workspace", "to_id", "kind"),
    read_as=Link,
)

# No foreign key: the event that an episode was forgotten outlives the episode.
events = Table(
    "events",
    metadata,
    *short_texts("workspace"),
    Column("seq", BigInteger, nullable=False),
    *short_texts("episode_id"),
    *enums(EventKind, "kind"),
    *short_texts("actor"),
    *timestamps("at"),
    *short_texts("source_event_id"),
    Column("detail", json_object, nullable=False),
    PrimaryKeyConstraint("workspace", "seq"),
    Index(None, "workspace", "episode_id", "seq"),
    Index(None, "workspace", "actor", "seq"),
    Index(None, "workspace", "kind", "seq"),
    partial_index("ix_events_gradings", "workspace", "episode_id", "seq", where=IS_GRADING),
    partial_index(
        "uq_events_source",
        "workspace",
        "source_event_id",
        "episode_id",
        "kind",
        where=text("source_event_id != ''"),
        unique=True,
    ),
    info={READ_AS: Event},
)

# Digests of platforms' event ids, which may name a person.
processed_events = keyed("processed_events", *text_keys("workspace", "event_digest"), *timestamps("at"))

counters = keyed("counters", *text_keys("workspace", "name"), Column("value", BigInteger, nullable=False))

# Only quarantined episodes have a row.
quarantines = keyed(
    "quarantines",
    *text_keys("workspace", "episode_id"),
    Column("reasons", text_tuple, nullable=False),
    of_episode(),
)

# Only episodes with words of other people than their author have rows.
borrowed_words = keyed(
    "borrowed_words",
    *text_keys("workspace", "episode_id", "person"),
    of_episode(),
    Index(None, "workspace", "person"),
)

retrievals = Table(
    "retrievals",
    metadata,
    *text_keys("workspace", "id"),
    *short_texts("run_id", "node_path"),
    *timestamps("at"),
    Column("counts", json_object, nullable=False),
    *long_texts("goal"),
    Column("evidence", evidence, nullable=True),
    *booleans("is_control"),
    Index(None, "workspace", "run_id"),
    info={READ_AS: Retrieval},
)

# No foreign key to episodes: ranks of erased episodes stay unused.
retrieval_items = keyed(
    "retrieval_items",
    *text_keys("workspace", "retrieval_id", "episode_id"),
    *integers("rank"),
    *enums(Lesson, "lesson"),
    *floats("context_score", "intent_score", "relevance"),
    Column("signal", EnumText(Signal), nullable=True),
    *floats("ratio"),
    ForeignKeyConstraint(["workspace", "retrieval_id"], ["retrievals.workspace", "retrievals.id"], ondelete="CASCADE"),
    Index(None, "workspace", "episode_id"),
    read_as=RetrievalItem,
)

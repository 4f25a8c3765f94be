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
    flag,
    key,
    keyed,
    metadata,
    moment,
    number,
    of_episode,
    partial_index,
    prose,
    real,
    short,
    word,
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
    *key("workspace", "id"),
    *short("run_id", "parent_id", "node_path"),
    *number("step_number", "rep"),
    *short("channel", "thread", "person", "author"),
    *word(Visibility, "visibility"),
    *word(Origin, "origin"),
    *word(Termination, "termination"),
    *word(EpisodeStatus, "status"),
    *word(Verdict, "verdict"),  # `Verdicts.overall`, for lists
    *word(Verdict, "verdict_personal", "verdict_channel", "verdict_workspace", "verdict_proposed"),
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
    Index(None, "workspace", "run_id", "step_number"),
    Index(None, "workspace", "created_at", "id"),
    Index(None, "workspace", "author"),
    partial_index("ix_episodes_disputed", "workspace", "created_at", "id", where=IS_DISPUTED),
    Index("ix_episodes_attempts", "workspace", "person", "channel", "goal_digest", "parent_id", "origin", "rep"),
)

episode_vectors = keyed(
    "episode_vectors",
    *key("workspace", "episode_id"),
    *short("model"),
    Column("vector", HalfVector, nullable=False),
    Index(None, "workspace", "model"),
    of_episode(),
)

# One row per episode and partition. Each change moves the row to a new `seq`, and removed rows stay without a vector,
# so that a process updates its copy with `seq > ?`. A row has all columns of a copy, so that the first search of a
# partition reads one range of one table.
recall_index = keyed(
    "recall_index",
    *short("workspace", "partition"),
    Column("seq", BigInteger, nullable=False),
    *short("episode_id"),
    *word(Audience, "audience"),
    *word(Verdict, "verdict"),
    *short("action", "words", "author", "model"),
    Column("vector", HalfVector, nullable=True),
    PrimaryKeyConstraint("workspace", "partition", "seq"),
    UniqueConstraint("workspace", "episode_id", "partition"),
)

links = keyed(
    "links",
    *short("workspace", "from_id", "to_id"),
    *word(LinkKind, "kind"),
    *moment("at"),
    *real("weight"),
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
    *short("workspace"),
    Column("seq", BigInteger, nullable=False),
    *short("episode_id"),
    *word(EventKind, "kind"),
    *short("actor"),
    *moment("at"),
    *short("source_event_id"),
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
processed_events = keyed("processed_events", *key("workspace", "event_digest"), *moment("at"))

counters = keyed("counters", *key("workspace", "name"), Column("value", BigInteger, nullable=False))

# Only quarantined episodes have a row.
quarantines = keyed(
    "quarantines",
    *key("workspace", "episode_id"),
    Column("reasons", text_tuple, nullable=False),
    of_episode(),
)

# Only episodes with words of other people than their author have rows.
borrowed_words = keyed(
    "borrowed_words",
    *key("workspace", "episode_id", "person"),
    of_episode(),
    Index(None, "workspace", "person"),
)

retrievals = Table(
    "retrievals",
    metadata,
    *key("workspace", "id"),
    *short("run_id", "node_path"),
    *moment("at"),
    Column("counts", json_object, nullable=False),
    *prose("goal"),
    Column("evidence", evidence, nullable=True),
    *flag("is_control"),
    Index(None, "workspace", "run_id"),
    info={READ_AS: Retrieval},
)

# No foreign key to episodes: ranks of erased episodes stay unused.
retrieval_items = keyed(
    "retrieval_items",
    *key("workspace", "retrieval_id", "episode_id"),
    *number("rank"),
    *word(Lesson, "lesson"),
    *real("context_score", "intent_score", "relevance"),
    Column("signal", EnumText(Signal), nullable=True),
    *real("ratio"),
    ForeignKeyConstraint(["workspace", "retrieval_id"], ["retrievals.workspace", "retrievals.id"], ondelete="CASCADE"),
    Index(None, "workspace", "episode_id"),
    read_as=RetrievalItem,
)

"""The first tables.

A migration is history: it repeats the tables as they were, and takes nothing from the code that changes later.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, LargeBinary, SmallInteger, String, Text

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_episodes()
    _create_episode_vectors()
    _create_recall_index()
    _create_links()
    _create_events()
    _create_processed_events()
    _create_counters()
    _create_reactions()
    _create_votes()
    _create_ledger()
    _create_incoming()
    _create_outgoing()
    _create_retrievals()
    _create_retrieval_items()


def downgrade() -> None:
    for table in (
        "retrieval_items",
        "retrievals",
        "outgoing",
        "incoming",
        "ledger",
        "votes",
        "reactions",
        "counters",
        "processed_events",
        "events",
        "links",
        "recall_index",
        "episode_vectors",
        "episodes",
    ):
        op.drop_table(table)


def _create_episodes() -> None:
    op.create_table(
        "episodes",
        Column("workspace", String, nullable=False),
        Column("id", String, nullable=False),
        Column("run_id", String, nullable=False),
        Column("parent_id", String, nullable=False),
        Column("node_path", String, nullable=False),
        Column("step_number", Integer, nullable=False),
        Column("rep", Integer, nullable=False),
        Column("channel", String, nullable=False),
        Column("thread", String, nullable=False),
        Column("person", String, nullable=False),
        Column("author", String, nullable=False),
        Column("visibility", String, nullable=False),
        Column("origin", String, nullable=False),
        Column("termination", String, nullable=False),
        Column("status", String, nullable=False),
        Column("verdict", String, nullable=False),
        Column("verdict_personal", String, nullable=False),
        Column("verdict_channel", String, nullable=False),
        Column("verdict_workspace", String, nullable=False),
        Column("promoted", String, nullable=True),
        Column("strength", Float(53), nullable=False),
        Column("nudge", Float(53), nullable=False),
        Column("salience", Float(53), nullable=False),
        Column("salience_at", BigInteger, nullable=False),
        Column("retrieval_count", Integer, nullable=False),
        Column("used_count", Integer, nullable=False),
        Column("ignored_count", Integer, nullable=False),
        Column("created_at", BigInteger, nullable=False),
        Column("graded_at", BigInteger, nullable=True),
        Column("archived_at", BigInteger, nullable=True),
        Column("prompt_tokens", Integer, nullable=False),
        Column("completion_tokens", Integer, nullable=False),
        Column("cost_usd", Float(53), nullable=False),
        Column("goal_digest", String, nullable=False),
        Column("flow", String, nullable=False),
        Column("action", String, nullable=False),
        Column("model", String, nullable=False),
        Column("place", String, nullable=False),
        Column("goal", Text, nullable=False),
        Column("why", Text, nullable=False),
        Column("action_target", Text, nullable=False),
        Column("outcome_reason", Text, nullable=False),
        Column("task_incomplete", Text, nullable=False),
        Column("correction", Text, nullable=False),
        Column("exemplar_ids", Text, nullable=False),
        Column("output", Text, nullable=False),
        Column("thoughts", Text, nullable=False),
        Column("context_before", Text, nullable=False),
        Column("context_after", Text, nullable=False),
        Column("trajectory", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_episodes"),
    )
    op.create_index("ix_episodes_workspace_created_at_id", "episodes", ["workspace", "created_at", "id"])
    op.create_index(
        "ix_episodes_workspace_person_channel_goal_digest",
        "episodes",
        ["workspace", "person", "channel", "goal_digest"],
    )
    op.create_index("ix_episodes_workspace_run_id_step_number", "episodes", ["workspace", "run_id", "step_number"])


def _create_episode_vectors() -> None:
    op.create_table(
        "episode_vectors",
        Column("workspace", String, nullable=False),
        Column("episode_id", String, nullable=False),
        Column("model", String, nullable=False),
        Column("vector", LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "episode_id", name="pk_episode_vectors"),
        sa.ForeignKeyConstraint(
            ["workspace", "episode_id"],
            ["episodes.workspace", "episodes.id"],
            name="fk_episode_vectors_episodes",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )


def _create_recall_index() -> None:
    op.create_table(
        "recall_index",
        Column("workspace", String, nullable=False),
        Column("partition", String, nullable=False),
        Column("seq", BigInteger, nullable=False),
        Column("episode_id", String, nullable=False),
        Column("audience", String, nullable=False),
        Column("verdict", String, nullable=False),
        Column("model", String, nullable=False),
        Column("vector", LargeBinary, nullable=True),
        sa.PrimaryKeyConstraint("workspace", "partition", "seq", name="pk_recall_index"),
        sa.UniqueConstraint(
            "workspace", "episode_id", "partition", name="uq_recall_index_workspace_episode_id_partition"
        ),
        sqlite_with_rowid=False,
    )


def _create_links() -> None:
    op.create_table(
        "links",
        Column("workspace", String, nullable=False),
        Column("from_id", String, nullable=False),
        Column("to_id", String, nullable=False),
        Column("kind", String, nullable=False),
        Column("at", BigInteger, nullable=False),
        Column("weight", Float(53), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "from_id", "to_id", "kind", name="pk_links"),
        sa.ForeignKeyConstraint(
            ["workspace", "from_id"],
            ["episodes.workspace", "episodes.id"],
            name="fk_links_from_episodes",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace", "to_id"],
            ["episodes.workspace", "episodes.id"],
            name="fk_links_to_episodes",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_links_workspace_to_id", "links", ["workspace", "to_id"])


def _create_events() -> None:
    op.create_table(
        "events",
        Column("workspace", String, nullable=False),
        Column("seq", BigInteger, nullable=False),
        Column("episode_id", String, nullable=False),
        Column("kind", String, nullable=False),
        Column("actor", String, nullable=False),
        Column("at", BigInteger, nullable=False),
        Column("source_event_id", String, nullable=False),
        Column("detail", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "seq", name="pk_events"),
    )
    op.create_index("ix_events_workspace_actor_seq", "events", ["workspace", "actor", "seq"])
    op.create_index("ix_events_workspace_episode_id_seq", "events", ["workspace", "episode_id", "seq"])
    op.create_index(
        "uq_events_source",
        "events",
        ["workspace", "source_event_id", "episode_id", "kind"],
        unique=True,
        sqlite_where=sa.text("source_event_id != ''"),
        postgresql_where=sa.text("source_event_id != ''"),
    )


def _create_processed_events() -> None:
    op.create_table(
        "processed_events",
        Column("workspace", String, nullable=False),
        Column("source_event_id", String, nullable=False),
        Column("at", BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "source_event_id", name="pk_processed_events"),
        sqlite_with_rowid=False,
    )


def _create_counters() -> None:
    op.create_table(
        "counters",
        Column("workspace", String, nullable=False),
        Column("name", String, nullable=False),
        Column("value", BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "name", name="pk_counters"),
        sqlite_with_rowid=False,
    )


def _create_reactions() -> None:
    op.create_table(
        "reactions",
        Column("workspace", String, nullable=False),
        Column("channel", String, nullable=False),
        Column("message_id", String, nullable=False),
        Column("node_id", String, nullable=False),
        Column("actor", String, nullable=False),
        Column("source", String, nullable=False),
        Column("value", SmallInteger, nullable=False),
        Column("role", String, nullable=False),
        Column("at", BigInteger, nullable=False),
        Column("run_id", String, nullable=False),
        Column("is_active", Boolean, nullable=False),
        Column("seq", BigInteger, nullable=False),
        sa.PrimaryKeyConstraint(
            "workspace", "channel", "message_id", "node_id", "actor", "source", name="pk_reactions"
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_reactions_workspace_actor", "reactions", ["workspace", "actor"])
    op.create_index("ix_reactions_workspace_run_id", "reactions", ["workspace", "run_id"])


def _create_votes() -> None:
    op.create_table(
        "votes",
        Column("workspace", String, nullable=False),
        Column("run_id", String, nullable=False),
        Column("node_id", String, nullable=False),
        Column("actor", String, nullable=False),
        Column("role", String, nullable=False),
        Column("value", SmallInteger, nullable=False),
        Column("at", BigInteger, nullable=False),
        Column("source", String, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "run_id", "node_id", "actor", name="pk_votes"),
        sqlite_with_rowid=False,
    )


def _create_ledger() -> None:
    op.create_table(
        "ledger",
        Column("workspace", String, nullable=False),
        Column("channel", String, nullable=False),
        Column("message_id", String, nullable=False),
        Column("run_id", String, nullable=False),
        Column("part", Integer, nullable=False),
        Column("posted_at", BigInteger, nullable=False),
        Column("expires_at", BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "channel", "message_id", name="pk_ledger"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_ledger_expires_at", "ledger", ["expires_at"])
    op.create_index("ix_ledger_workspace_channel_posted_at", "ledger", ["workspace", "channel", "posted_at"])
    op.create_index("ix_ledger_workspace_run_id", "ledger", ["workspace", "run_id"])


def _create_incoming() -> None:
    op.create_table(
        "incoming",
        Column("workspace", String, nullable=False),
        Column("event_id", String, nullable=False),
        Column("channel", String, nullable=False),
        Column("message_id", String, nullable=False),
        Column("thread", String, nullable=False),
        Column("person", String, nullable=False),
        Column("visibility", String, nullable=False),
        Column("progress", String, nullable=False),
        Column("at", BigInteger, nullable=False),
        Column("run_id", String, nullable=False),
        Column("place", String, nullable=False),
        Column("text", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "event_id", name="pk_incoming"),
    )
    op.create_index("ix_incoming_progress_workspace_at", "incoming", ["progress", "workspace", "at"])
    op.create_index("ix_incoming_workspace_person_channel_at", "incoming", ["workspace", "person", "channel", "at"])
    op.create_index("ix_incoming_workspace_run_id", "incoming", ["workspace", "run_id"])
    op.create_index(
        "uq_incoming_message",
        "incoming",
        ["workspace", "channel", "message_id"],
        unique=True,
        sqlite_where=sa.text("message_id != ''"),
        postgresql_where=sa.text("message_id != ''"),
    )


def _create_outgoing() -> None:
    op.create_table(
        "outgoing",
        Column("workspace", String, nullable=False),
        Column("run_id", String, nullable=False),
        Column("part", Integer, nullable=False),
        Column("channel", String, nullable=False),
        Column("thread", String, nullable=False),
        Column("message_id", String, nullable=False),
        Column("sent_at", BigInteger, nullable=True),
        Column("text", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "run_id", "part", name="pk_outgoing"),
    )
    op.create_index("ix_outgoing_workspace_channel_thread", "outgoing", ["workspace", "channel", "thread"])


def _create_retrievals() -> None:
    op.create_table(
        "retrievals",
        Column("workspace", String, nullable=False),
        Column("id", String, nullable=False),
        Column("run_id", String, nullable=False),
        Column("node_path", String, nullable=False),
        Column("at", BigInteger, nullable=False),
        Column("counts", Text, nullable=False),
        Column("goal", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_retrievals"),
    )
    op.create_index("ix_retrievals_workspace_run_id", "retrievals", ["workspace", "run_id"])


def _create_retrieval_items() -> None:
    op.create_table(
        "retrieval_items",
        Column("workspace", String, nullable=False),
        Column("retrieval_id", String, nullable=False),
        Column("episode_id", String, nullable=False),
        Column("rank", Integer, nullable=False),
        Column("lesson", String, nullable=False),
        Column("context_score", Float(53), nullable=False),
        Column("intent_score", Float(53), nullable=False),
        Column("relevance", Float(53), nullable=False),
        Column("signal", String, nullable=True),
        Column("ratio", Float(53), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "retrieval_id", "episode_id", name="pk_retrieval_items"),
        sa.ForeignKeyConstraint(
            ["workspace", "retrieval_id"],
            ["retrievals.workspace", "retrievals.id"],
            name="fk_retrieval_items_retrievals",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_retrieval_items_workspace_episode_id", "retrieval_items", ["workspace", "episode_id"])

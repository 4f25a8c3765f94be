"""The world of topics: fields with every value they had, edges, and an audit trail.

A migration is history: it repeats the tables as they were, and takes nothing from the code that changes later.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Column, Float, LargeBinary, String, Text

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TOPIC = ["topics.workspace", "topics.id"]


def upgrade() -> None:
    _create_topics()
    _create_topic_vectors()
    _create_topic_fields()
    _create_topic_revisions()
    _create_topic_links()
    _create_topic_events()


def downgrade() -> None:
    for table in ("topic_events", "topic_links", "topic_revisions", "topic_fields", "topic_vectors", "topics"):
        op.drop_table(table)


def _create_topics() -> None:
    op.create_table(
        "topics",
        Column("workspace", String, nullable=False),
        Column("id", String, nullable=False),
        Column("partition", String, nullable=False),
        Column("person", String, nullable=False),
        Column("seq", BigInteger, nullable=False),
        Column("created_at", BigInteger, nullable=False),
        Column("first_salience", Float(53), nullable=False),
        Column("failed_salience", Float(53), nullable=False),
        Column("salience", Float(53), nullable=False),
        Column("salience_at", BigInteger, nullable=False),
        Column("archived_at", BigInteger, nullable=True),
        Column("merged_into", String, nullable=False),
        Column("topic_kind", Text, nullable=True),
        Column("title", Text, nullable=True),
        Column("summary", Text, nullable=True),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_topics"),
    )
    op.create_index("ix_topics_workspace_partition_seq", "topics", ["workspace", "partition", "seq"])
    op.create_index("ix_topics_workspace_partition_title", "topics", ["workspace", "partition", "title"])
    op.create_index("ix_topics_workspace_merged_into", "topics", ["workspace", "merged_into"])
    op.create_index("ix_topics_workspace_person", "topics", ["workspace", "person"])


def _create_topic_vectors() -> None:
    op.create_table(
        "topic_vectors",
        Column("workspace", String, nullable=False),
        Column("topic_id", String, nullable=False),
        Column("model", String, nullable=False),
        Column("vector", LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "topic_id", name="pk_topic_vectors"),
        sa.ForeignKeyConstraint(
            ["workspace", "topic_id"], _TOPIC, name="fk_topic_vectors_topic_id_topics", ondelete="CASCADE"
        ),
        sqlite_with_rowid=False,
    )


def _create_topic_fields() -> None:
    op.create_table(
        "topic_fields",
        Column("workspace", String, nullable=False),
        Column("topic_id", String, nullable=False),
        Column("name", String, nullable=False),
        Column("person", String, nullable=False),
        Column("field_type", String, nullable=False),
        Column("ref_topic_id", String, nullable=True),
        sa.PrimaryKeyConstraint("workspace", "topic_id", "name", name="pk_topic_fields"),
        sa.ForeignKeyConstraint(
            ["workspace", "topic_id"], _TOPIC, name="fk_topic_fields_topic_id_topics", ondelete="CASCADE"
        ),
        sqlite_with_rowid=False,
    )


def _create_topic_revisions() -> None:
    op.create_table(
        "topic_revisions",
        Column("workspace", String, nullable=False),
        Column("id", String, nullable=False),
        Column("topic_id", String, nullable=False),
        Column("name", String, nullable=False),
        Column("seq", BigInteger, nullable=False),
        Column("person", String, nullable=False),
        Column("valid_from", BigInteger, nullable=False),
        Column("value", Text, nullable=False),
        Column("provenance", Text, nullable=True),
        Column("why_changed", Text, nullable=True),
        Column("impact_expected", Text, nullable=True),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_topic_revisions"),
        sa.ForeignKeyConstraint(
            ["workspace", "topic_id", "name"],
            ["topic_fields.workspace", "topic_fields.topic_id", "topic_fields.name"],
            name="fk_topic_revisions_topic_fields",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_topic_revisions_workspace_topic_id_name", "topic_revisions", ["workspace", "topic_id", "name"])
    op.create_index("ix_topic_revisions_workspace_person", "topic_revisions", ["workspace", "person"])


def _create_topic_links() -> None:
    op.create_table(
        "topic_links",
        Column("workspace", String, nullable=False),
        Column("from_id", String, nullable=False),
        Column("to_id", String, nullable=False),
        Column("kind", String, nullable=False),
        Column("person", String, nullable=False),
        Column("at", BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "from_id", "to_id", "kind", name="pk_topic_links"),
        sa.ForeignKeyConstraint(
            ["workspace", "from_id"], _TOPIC, name="fk_topic_links_from_id_topics", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["workspace", "to_id"], _TOPIC, name="fk_topic_links_to_id_topics", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_topic_links_workspace_to_id", "topic_links", ["workspace", "to_id"])


def _create_topic_events() -> None:
    op.create_table(
        "topic_events",
        Column("workspace", String, nullable=False),
        Column("seq", BigInteger, nullable=False),
        Column("topic_id", String, nullable=False),
        Column("kind", String, nullable=False),
        Column("actor", String, nullable=False),
        Column("at", BigInteger, nullable=False),
        Column("detail", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "seq", name="pk_topic_events"),
        sa.ForeignKeyConstraint(
            ["workspace", "topic_id"], _TOPIC, name="fk_topic_events_topic_id_topics", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_topic_events_workspace_topic_id_seq", "topic_events", ["workspace", "topic_id", "seq"])
    op.create_index("ix_topic_events_workspace_actor", "topic_events", ["workspace", "actor"])

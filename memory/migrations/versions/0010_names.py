"""Ids that callers choose: of a topic where somebody else's has the same, of a value for one person and field."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Column, Float, String, Text

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_TOPIC = (
    "workspace, id, partition, person, seq, created_at, first_salience, failed_salience, salience, salience_at, "
    "archived_at, merged_into, topic_kind, title, summary"
)
_REVISION = (
    "workspace, id, topic_id, name, seq, person, valid_from, value, provenance, why_changed, impact_expected"
)  # fmt: skip


def upgrade() -> None:
    # Other tables refer to the topics by the table's name, so it is emptied into a copy and made anew, not renamed.
    _set_aside("topics")
    _create_topics(Column("alias", String, nullable=False))
    op.execute(f"INSERT INTO topics ({_TOPIC}, alias) SELECT {_TOPIC}, '' FROM topics_before")  # noqa: S608 - column names of this file
    op.drop_table("topics_before")
    _set_aside("topic_revisions")
    _create_topic_revisions("workspace", "topic_id", "name", "person", "id")
    op.execute(f"INSERT INTO topic_revisions ({_REVISION}) SELECT {_REVISION} FROM topic_revisions_before")  # noqa: S608 - column names of this file
    op.drop_table("topic_revisions_before")


def downgrade() -> None:
    _set_aside("topic_revisions")
    _create_topic_revisions("workspace", "id")
    op.create_index("ix_topic_revisions_workspace_topic_id_name", "topic_revisions", ["workspace", "topic_id", "name"])
    op.execute(f"INSERT OR IGNORE INTO topic_revisions ({_REVISION}) SELECT {_REVISION} FROM topic_revisions_before")  # noqa: S608 - column names of this file
    op.drop_table("topic_revisions_before")
    _set_aside("topics")
    _create_topics()
    op.execute(f"INSERT INTO topics ({_TOPIC}) SELECT {_TOPIC} FROM topics_before")  # noqa: S608 - column names of this file
    op.drop_table("topics_before")


def _set_aside(table: str) -> None:
    op.execute(f"CREATE TABLE {table}_before AS SELECT * FROM {table}")  # noqa: S608 - a name of this file
    op.drop_table(table)


def _create_topics(*more: Column[str]) -> None:
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
        *more,
        Column("topic_kind", Text, nullable=True),
        Column("title", Text, nullable=True),
        Column("summary", Text, nullable=True),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_topics"),
    )
    op.create_index("ix_topics_workspace_partition_seq", "topics", ["workspace", "partition", "seq"])
    op.create_index("ix_topics_workspace_partition_title", "topics", ["workspace", "partition", "title"])
    op.create_index("ix_topics_workspace_merged_into", "topics", ["workspace", "merged_into"])
    op.create_index("ix_topics_workspace_person", "topics", ["workspace", "person"])


def _create_topic_revisions(*key: str) -> None:
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
        sa.PrimaryKeyConstraint(*key, name="pk_topic_revisions"),
        sa.ForeignKeyConstraint(
            ["workspace", "topic_id", "name"],
            ["topic_fields.workspace", "topic_fields.topic_id", "topic_fields.name"],
            name="fk_topic_revisions_topic_fields",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_topic_revisions_workspace_person", "topic_revisions", ["workspace", "person"])

"""Who can read which channel now, and where topics were brought up.

Nothing is known of a channel before the next event in it: then what it was counts. Of older topics no place is known.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Column, String

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "channels",
        Column("workspace", String, nullable=False),
        Column("channel", String, nullable=False),
        Column("visibility", String, nullable=False),
        Column("since", BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "channel", name="pk_channels"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "topic_places",
        Column("workspace", String, nullable=False),
        Column("topic_id", String, nullable=False),
        Column("channel", String, nullable=False),
        Column("visibility", String, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "topic_id", name="pk_topic_places"),
        sa.ForeignKeyConstraint(
            ["workspace", "topic_id"],
            ["topics.workspace", "topics.id"],
            name="fk_topic_places_topic_id_topics",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("topic_places")
    op.drop_table("channels")

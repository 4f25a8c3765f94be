"""Messages of people that became lessons."""

import sqlalchemy as sa
from alembic import op

revision = "0012_saved_messages"
down_revision = "0011_welcomes"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "saved_messages",
        sa.Column("workspace", sa.String, nullable=False),
        sa.Column("channel", sa.String, nullable=False),
        sa.Column("message_id", sa.String, nullable=False),
        sa.Column("lesson_id", sa.String, nullable=False),
        sa.Column("link", sa.String, nullable=False),
        sa.Column("saved_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "channel", "message_id", name="pk_saved_messages"),
        sa.ForeignKeyConstraint(
            ["workspace", "lesson_id"],
            ["episodes.workspace", "episodes.id"],
            name="fk_saved_messages_episodes",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_saved_messages_workspace_lesson_id", "saved_messages", ["workspace", "lesson_id"])

"""How each channel wants the bot to listen, and the threads that asked it to be quiet."""

import sqlalchemy as sa
from alembic import op

revision = "0009_listening"
down_revision = "0008_conversations"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "channel_modes",
        sa.Column("workspace", sa.String, nullable=False),
        sa.Column("channel", sa.String, nullable=False),
        sa.Column("mode", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "channel", name="pk_channel_modes"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "muted_threads",
        sa.Column("workspace", sa.String, nullable=False),
        sa.Column("channel", sa.String, nullable=False),
        sa.Column("thread", sa.String, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "channel", "thread", name="pk_muted_threads"),
        sqlite_with_rowid=False,
    )

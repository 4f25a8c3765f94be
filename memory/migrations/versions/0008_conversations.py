"""What a message replies to and what it was taken to mean, and where people began a conversation anew."""

import sqlalchemy as sa
from alembic import op

revision = "0008_conversations"
down_revision = "0007_known_answers"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("incoming", sa.Column("reply_to", sa.String, nullable=False, server_default=""))
    op.add_column("incoming", sa.Column("understood", sa.Text, nullable=False, server_default=""))
    op.create_index("ix_incoming_workspace_channel_thread_at", "incoming", ["workspace", "channel", "thread", "at"])
    op.create_table(
        "fresh_starts",
        sa.Column("workspace", sa.String, nullable=False),
        sa.Column("person", sa.String, nullable=False),
        sa.Column("channel", sa.String, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "person", "channel", name="pk_fresh_starts"),
        sqlite_with_rowid=False,
    )

"""Channels in which what people taught is answered without asking the language model."""

import sqlalchemy as sa
from alembic import op

revision = "0007_known_answers"
down_revision = "0006_judgements"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "known_answers",
        sa.Column("workspace", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("switched_by", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "channel", name="pk_known_answers"),
        sqlite_with_rowid=False,
    )

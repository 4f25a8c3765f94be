"""Whom and where the bot has welcomed."""

import sqlalchemy as sa
from alembic import op

revision = "0011_welcomes"
down_revision = "0010_api_keys"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "welcomes",
        sa.Column("workspace", sa.String, nullable=False),
        sa.Column("person", sa.String, nullable=False),
        sa.Column("channel", sa.String, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "person", "channel", name="pk_welcomes"),
        sqlite_with_rowid=False,
    )

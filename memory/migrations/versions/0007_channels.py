"""Who can read which channel now. Nothing is known of any before its next event: then what was said there counts."""

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


def downgrade() -> None:
    op.drop_table("channels")

"""How often each person was proven right and wrong, counted."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, Integer, String

revision = "0011"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "trust_records",
        Column("workspace", String, nullable=False),
        Column("actor", String, nullable=False),
        Column("right", Integer, nullable=False),
        Column("wrong", Integer, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "actor", name="pk_trust_records"),
        sqlite_with_rowid=False,
    )
    op.execute(
        'INSERT INTO trust_records (workspace, actor, "right", wrong) '
        "SELECT workspace, actor, sum(agrees), sum(1 - agrees) FROM trust_evidence GROUP BY workspace, actor"
    )


def downgrade() -> None:
    op.drop_table("trust_records")

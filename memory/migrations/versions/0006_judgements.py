"""What votes say of the best candidates, and each workspace's threshold; `goodbot rebuild` counts the votes before."""

import sqlalchemy as sa
from alembic import op

revision = "0006_judgements"
down_revision = "0005_proposals"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "judgements",
        *(sa.Column(name, sa.String, nullable=False) for name in ("workspace", "run_id", "actor")),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("confidence", sa.Integer, nullable=False),
        *(sa.Column(name, sa.Boolean, nullable=False) for name in ("is_right", "is_known")),
        sa.PrimaryKeyConstraint("workspace", "run_id", "actor", name="pk_judgements"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_judgements_workspace_at", "judgements", ["workspace", "at"])
    op.create_table(
        "thresholds",
        sa.Column("workspace", sa.String, nullable=False),
        *(sa.Column(name, sa.Float(53), nullable=False) for name in ("budget", "value")),
        sa.PrimaryKeyConstraint("workspace", name="pk_thresholds"),
        sqlite_with_rowid=False,
    )

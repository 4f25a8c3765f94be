"""The choice of an option that was offered, kept with the accepted message that it is."""

import sqlalchemy as sa
from alembic import op

revision = "0004_taps"
down_revision = "0003_votes_that_may_be_limited"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "incoming_taps",
        *(sa.Column(name, sa.String, nullable=False) for name in ("workspace", "event_id", "asked_run_id")),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("role", sa.String, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace", "event_id"],
            ["incoming.workspace", "incoming.event_id"],
            name="fk_incoming_taps_incoming",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace", "event_id", name="pk_incoming_taps"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_incoming_taps_workspace_asked_run_id", "incoming_taps", ["workspace", "asked_run_id"])

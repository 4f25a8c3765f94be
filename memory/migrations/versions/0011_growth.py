"""What is looked up with every message and every vote, so that it costs the same however much there is."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, Integer, String

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_GOAL = ["workspace", "person", "channel", "goal_digest"]


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
    op.drop_index("ix_episodes_workspace_person_channel_goal_digest", "episodes")
    op.create_index("ix_episodes_attempts", "episodes", [*_GOAL, "parent_id", "origin", "rep"])
    op.drop_index("ix_links_workspace_to_id", "links")
    op.create_index("ix_links_workspace_to_id_kind", "links", ["workspace", "to_id", "kind"])


def downgrade() -> None:
    op.drop_index("ix_links_workspace_to_id_kind", "links")
    op.create_index("ix_links_workspace_to_id", "links", ["workspace", "to_id"])
    op.drop_index("ix_episodes_attempts", "episodes")
    op.create_index("ix_episodes_workspace_person_channel_goal_digest", "episodes", _GOAL)
    op.drop_table("trust_records")

"""What known people propose without deciding it, what each vote may do for others, and since when people are known.

Everybody who voted or asked before is known; which of their votes propose, and what, `goodbot rebuild` finds.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005_proposals"
down_revision = "0004_taps"
branch_labels = None
depends_on = None

_EVERYBODY = """
    INSERT INTO people (workspace, person, known_from)
    SELECT workspace, person, MIN(at) FROM (
        SELECT workspace, '' AS person, created_at AS at FROM episodes
        UNION ALL SELECT workspace, person, created_at FROM episodes WHERE person != ''
        UNION ALL SELECT workspace, actor, at FROM reactions WHERE actor != ''
    ) GROUP BY workspace, person
"""


def upgrade() -> None:
    op.add_column("episodes", sa.Column("verdict_proposed", sa.String(), nullable=False, server_default="pending"))
    op.add_column("votes", sa.Column("standing", sa.String(), nullable=False, server_default="decides"))
    op.create_index("ix_votes_workspace_role_at", "votes", ["workspace", "role", "at"])
    op.create_table(
        "people",
        sa.Column("workspace", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("known_from", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "person", name=op.f("pk_people")),
        sqlite_with_rowid=False,
    )
    op.execute(_EVERYBODY)

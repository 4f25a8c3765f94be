"""An index of the votes that may be beyond their voter's limit: teaching costs the same however much of it there is."""

import sqlalchemy as sa
from alembic import op

revision = "0003_votes_that_may_be_limited"
down_revision = "0002_evidence"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_votes_that_may_be_limited",
        "votes",
        ["workspace", "actor", "at"],
        sqlite_where=sa.text(
            "(role IN ('member', 'guest', 'bot') OR (role != 'admin' AND "
            "substr(source || ':', 1, instr(source || ':', ':') - 1) NOT IN ('correction', 'review')))"
        ),
    )

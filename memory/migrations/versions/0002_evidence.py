"""The evidence of a recall; those from before have none."""

import sqlalchemy as sa
from alembic import op

revision = "0002_evidence"
down_revision = "0001_initial"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("retrievals", sa.Column("evidence", sa.Text, nullable=True))

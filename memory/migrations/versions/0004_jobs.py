"""Jobs, leases and rules."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Column, String, Text

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "leases",
        Column("name", String, nullable=False),
        Column("owner", String, nullable=False),
        Column("until", BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "job_runs",
        Column("name", String, nullable=False),
        Column("started_at", BigInteger, nullable=False),
        Column("finished_at", BigInteger, nullable=False),
        Column("summary", Text, nullable=False),
        Column("error", Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_job_runs"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "rules",
        Column("workspace", String, nullable=False),
        Column("id", String, nullable=False),
        Column("partition", String, nullable=False),
        Column("verdict", String, nullable=False),
        Column("lesson_ids", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_rules"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_rules_workspace_partition", "rules", ["workspace", "partition"])


def downgrade() -> None:
    for table in ("rules", "job_runs", "leases"):
        op.drop_table(table)

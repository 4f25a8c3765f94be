"""Keys of programs that use memory over HTTP."""

import sqlalchemy as sa
from alembic import op

revision = "0010_api_keys"
down_revision = "0009_listening"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("workspace", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("right", sa.String, nullable=False),
        sa.Column("channel", sa.String, nullable=False),
        sa.Column("made_by", sa.String, nullable=False),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("revoked_by", sa.String, nullable=False),
        sa.Column("revoked_at", sa.BigInteger, nullable=True),
        sa.PrimaryKeyConstraint("workspace", "name", name="pk_api_keys"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_api_keys_workspace_digest", "api_keys", ["workspace", "digest"], unique=True)

"""Settings that people change in chat take the place of the tables of two of them."""

import sqlalchemy as sa
from alembic import op

revision = "0013_settings"
down_revision = "0012_saved_messages"
branch_labels = None
depends_on = None

_MODES = """
    INSERT INTO settings (workspace, channel, name, value, changed_by, at)
    SELECT workspace, channel, 'mode', mode, '', 0 FROM channel_modes
"""
_KNOWN_ANSWERS = """
    INSERT INTO settings (workspace, channel, name, value, changed_by, at)
    SELECT workspace, channel, 'known-answers', CASE WHEN is_on THEN 'on' ELSE 'off' END, switched_by, at
    FROM known_answers
"""


def upgrade() -> None:
    op.create_table(
        "settings",
        sa.Column("workspace", sa.String, nullable=False),
        sa.Column("channel", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("value", sa.String, nullable=False),
        sa.Column("changed_by", sa.String, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "channel", "name", name="pk_settings"),
        sqlite_with_rowid=False,
    )
    op.execute(_MODES)
    op.execute(_KNOWN_ANSWERS)
    op.drop_table("channel_modes")
    op.drop_table("known_answers")

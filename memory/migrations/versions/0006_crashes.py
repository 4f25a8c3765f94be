"""How often the process ended while a message was in work."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Column, Integer, String, Text

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_COLUMNS = "workspace, event_id, channel, message_id, thread, person, visibility, progress, at, run_id, place, text"
_INDEXES = (
    "ix_incoming_progress_workspace_at",
    "ix_incoming_workspace_person_channel_at",
    "ix_incoming_workspace_run_id",
    "uq_incoming_message",
)


def upgrade() -> None:
    # New columns belong before the keys, so the table is made anew. Nothing refers to it.
    _set_aside()
    _create_incoming(Column("crashes", Integer, nullable=False), Column("kills", Integer, nullable=False))
    op.execute(
        f"INSERT INTO incoming ({_COLUMNS}, crashes, kills) SELECT {_COLUMNS}, 0, 0 FROM incoming_before"  # noqa: S608 - column names of this file
    )
    op.drop_table("incoming_before")


def downgrade() -> None:
    _set_aside()
    _create_incoming()
    op.execute(f"INSERT INTO incoming ({_COLUMNS}) SELECT {_COLUMNS} FROM incoming_before")  # noqa: S608 - column names of this file
    op.execute("UPDATE incoming SET progress = 'undeliverable' WHERE progress = 'set_aside'")
    op.drop_table("incoming_before")


def _set_aside() -> None:
    for index in _INDEXES:
        op.drop_index(index, "incoming")
    op.rename_table("incoming", "incoming_before")


def _create_incoming(*more: Column[int]) -> None:
    op.create_table(
        "incoming",
        Column("workspace", String, nullable=False),
        Column("event_id", String, nullable=False),
        Column("channel", String, nullable=False),
        Column("message_id", String, nullable=False),
        Column("thread", String, nullable=False),
        Column("person", String, nullable=False),
        Column("visibility", String, nullable=False),
        Column("progress", String, nullable=False),
        Column("at", BigInteger, nullable=False),
        Column("run_id", String, nullable=False),
        Column("place", String, nullable=False),
        *more,
        Column("text", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "event_id", name="pk_incoming"),
    )
    op.create_index("ix_incoming_progress_workspace_at", "incoming", ["progress", "workspace", "at"])
    op.create_index("ix_incoming_workspace_person_channel_at", "incoming", ["workspace", "person", "channel", "at"])
    op.create_index("ix_incoming_workspace_run_id", "incoming", ["workspace", "run_id"])
    op.create_index(
        "uq_incoming_message",
        "incoming",
        ["workspace", "channel", "message_id"],
        unique=True,
        sqlite_where=sa.text("message_id != ''"),
        postgresql_where=sa.text("message_id != ''"),
    )

"""Tables of incoming and outgoing messages, and of channels."""

from sqlalchemy import Column, ForeignKeyConstraint, Index, PrimaryKeyConstraint, Table, text

from memory.adapters.sql.tables.columns import READ_AS, metadata, moment, number, prose, short
from memory.adapters.sql.tables.types import EnumText, UtcDateTime
from memory.model import (
    Channel,
    MutedThread,
    Outgoing,
    Progress,
    Role,
    Turn,
    Visibility,
)

channels = Table(
    "channels",
    metadata,
    *short("workspace", "channel"),
    Column("visibility", EnumText(Visibility), nullable=False),
    *moment("since"),
    PrimaryKeyConstraint("workspace", "channel"),
    sqlite_with_rowid=False,
    info={READ_AS: Channel},
)

muted_threads = Table(
    "muted_threads",
    metadata,
    *short("workspace", "channel", "thread"),
    *moment("since"),
    PrimaryKeyConstraint("workspace", "channel", "thread"),
    sqlite_with_rowid=False,
    info={READ_AS: MutedThread},
)

incoming = Table(
    "incoming",
    metadata,
    *short("workspace", "event_id", "channel", "message_id", "thread", "person"),
    Column("visibility", EnumText(Visibility), nullable=False),
    Column("progress", EnumText(Progress), nullable=False),
    *moment("at"),
    *short("run_id", "place"),
    *number("crashes", "kills"),
    *short("reply_to", "held_by"),
    Column("turn", EnumText(Turn), nullable=False),
    *prose("text", "understood"),
    PrimaryKeyConstraint("workspace", "event_id"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "person", "channel", "at"),
    Index(None, "workspace", "channel", "thread", "at"),
    Index(None, "progress", "workspace", "at"),
    Index(
        "uq_incoming_message",
        "workspace",
        "channel",
        "message_id",
        unique=True,
        sqlite_where=text("message_id != ''"),
        postgresql_where=text("message_id != ''"),
    ),
)

# Only messages that ask another person's question again have a row.
incoming_askers = Table(
    "incoming_askers",
    metadata,
    *short("workspace", "event_id", "person"),
    PrimaryKeyConstraint("workspace", "event_id"),
    ForeignKeyConstraint(["workspace", "event_id"], ["incoming.workspace", "incoming.event_id"], ondelete="CASCADE"),
    Index(None, "workspace", "person"),
    sqlite_with_rowid=False,
)

# Only messages that are the choice of an option have a row.
incoming_taps = Table(
    "incoming_taps",
    metadata,
    *short("workspace", "event_id", "asked_run_id"),
    *number("number"),
    Column("role", EnumText(Role), nullable=False),
    PrimaryKeyConstraint("workspace", "event_id"),
    ForeignKeyConstraint(["workspace", "event_id"], ["incoming.workspace", "incoming.event_id"], ondelete="CASCADE"),
    Index(None, "workspace", "asked_run_id"),
    sqlite_with_rowid=False,
)

# A person's earlier messages belong to no conversation any more; in all channels if the channel is empty.
fresh_starts = Table(
    "fresh_starts",
    metadata,
    *short("workspace", "person", "channel"),
    *moment("at"),
    PrimaryKeyConstraint("workspace", "person", "channel"),
    sqlite_with_rowid=False,
)

outgoing = Table(
    "outgoing",
    metadata,
    *short("workspace", "run_id"),
    *number("part"),
    *short("channel", "thread", "message_id"),
    Column("sent_at", UtcDateTime, nullable=True),
    *prose("text"),
    PrimaryKeyConstraint("workspace", "run_id", "part"),
    Index(None, "workspace", "channel", "thread"),
    Index(
        "ix_outgoing_unsent",
        "sent_at",
        "workspace",
        "run_id",
        sqlite_where=text("sent_at IS NULL"),
        postgresql_where=text("sent_at IS NULL"),
    ),
    info={READ_AS: Outgoing},
)

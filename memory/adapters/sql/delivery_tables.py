"""The tables of messages on their way, and of the channels they are said in."""

from sqlalchemy import (
    Column,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    Table,
    text,
)

from memory.adapters.sql.columns import metadata, number, prose, short
from memory.adapters.sql.types import Moment, Word
from memory.model import Progress, Visibility

channels = Table(
    "channels",
    metadata,
    short("workspace"),
    short("channel"),
    Column("visibility", Word(Visibility), nullable=False),
    Column("since", Moment, nullable=False),
    PrimaryKeyConstraint("workspace", "channel"),
    sqlite_with_rowid=False,
)

incoming = Table(
    "incoming",
    metadata,
    short("workspace"),
    short("event_id"),
    short("channel"),
    short("message_id"),
    short("thread"),
    short("person"),
    Column("visibility", Word(Visibility), nullable=False),
    Column("progress", Word(Progress), nullable=False),
    Column("at", Moment, nullable=False),
    short("run_id"),
    short("place"),
    number("crashes"),
    number("kills"),
    prose("text"),
    PrimaryKeyConstraint("workspace", "event_id"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "person", "channel", "at"),
    Index(None, "progress", "workspace", "at"),
    Index(
        "uq_incoming_message",
        "workspace",
        "channel",
        "message_id",
        unique=True,
        sqlite_where=text("message_id != ''"),
    ),
)

incoming_askers = Table(
    "incoming_askers",
    metadata,
    short("workspace"),
    short("event_id"),
    short("person"),
    PrimaryKeyConstraint("workspace", "event_id"),
    ForeignKeyConstraint(["workspace", "event_id"], ["incoming.workspace", "incoming.event_id"], ondelete="CASCADE"),
    Index(None, "workspace", "person"),
    sqlite_with_rowid=False,
)

outgoing = Table(
    "outgoing",
    metadata,
    short("workspace"),
    short("run_id"),
    number("part"),
    short("channel"),
    short("thread"),
    short("message_id"),
    Column("sent_at", Moment, nullable=True),
    prose("text"),
    PrimaryKeyConstraint("workspace", "run_id", "part"),
    Index(None, "workspace", "channel", "thread"),
)

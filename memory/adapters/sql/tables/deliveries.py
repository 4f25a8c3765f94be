"""Tables of incoming and outgoing messages, and of channels."""

from sqlalchemy import Column, ForeignKeyConstraint, Index, PrimaryKeyConstraint, Table, text

from memory.adapters.sql.tables.columns import (
    READ_AS,
    key,
    keyed,
    metadata,
    moment,
    number,
    partial_index,
    prose,
    short,
    word,
)
from memory.adapters.sql.tables.types import UtcDateTime
from memory.model import Channel, MutedThread, Outgoing, Progress, Role, Turn, Visibility

channels = keyed(
    "channels", *key("workspace", "channel"), *word(Visibility, "visibility"), *moment("since"), read_as=Channel
)

muted_threads = keyed("muted_threads", *key("workspace", "channel", "thread"), *moment("since"), read_as=MutedThread)

incoming = Table(
    "incoming",
    metadata,
    *key("workspace", "event_id"),
    *short("channel", "message_id", "thread", "person"),
    *word(Visibility, "visibility"),
    *word(Progress, "progress"),
    *moment("at"),
    *short("run_id", "place"),
    *number("crashes", "kills"),
    *short("reply_to", "held_by"),
    *word(Turn, "turn"),
    *prose("text", "understood"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "person", "channel", "at"),
    Index(None, "workspace", "channel", "thread", "at"),
    Index(None, "progress", "workspace", "at"),
    partial_index(
        "uq_incoming_message", "workspace", "channel", "message_id", where=text("message_id != ''"), unique=True
    ),
)


def _of_incoming() -> ForeignKeyConstraint:
    """The foreign key that deletes a row with its incoming message."""
    target = ["incoming.workspace", "incoming.event_id"]
    return ForeignKeyConstraint(["workspace", "event_id"], target, ondelete="CASCADE")


# Only messages that ask another person's question again have a row.
incoming_askers = keyed(
    "incoming_askers",
    *key("workspace", "event_id"),
    *short("person"),
    _of_incoming(),
    Index(None, "workspace", "person"),
)

# Only messages that are the choice of an option have a row.
incoming_taps = keyed(
    "incoming_taps",
    *key("workspace", "event_id"),
    *short("asked_run_id"),
    *number("number"),
    *word(Role, "role"),
    _of_incoming(),
    Index(None, "workspace", "asked_run_id"),
)

# A person's earlier messages belong to no conversation any more; in all channels if the channel is empty.
fresh_starts = keyed("fresh_starts", *key("workspace", "person", "channel"), *moment("at"))

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
    partial_index("ix_outgoing_unsent", "sent_at", "workspace", "run_id", where=text("sent_at IS NULL")),
    info={READ_AS: Outgoing},
)

"""Tables of incoming and outgoing messages, and of channels."""

from sqlalchemy import Column, ForeignKeyConstraint, Index, PrimaryKeyConstraint, Table, text

from memory.adapters.sql.tables.columns import (
    READ_AS,
    enums,
    integers,
    keyed,
    long_texts,
    metadata,
    partial_index,
    short_texts,
    text_keys,
    timestamps,
)
from memory.adapters.sql.tables.types import UtcDateTime
from memory.model import Channel, MutedThread, Outgoing, Progress, Role, Turn, Visibility

channels = keyed(
    "channels",
    *text_keys("workspace", "channel"),
    *enums(Visibility, "visibility"),
    *timestamps("since"),
    read_as=Channel,
)

muted_threads = keyed(
    "muted_threads", *text_keys("workspace", "channel", "thread"), *timestamps("since"), read_as=MutedThread
)

incoming = Table(
    "incoming",
    metadata,
    *text_keys("workspace", "event_id"),
    *short_texts("channel", "message_id", "thread", "person"),
    *enums(Visibility, "visibility"),
    *enums(Progress, "progress"),
    *timestamps("at"),
    *short_texts("run_id", "place"),
    *integers("crashes", "kills"),
    *short_texts("reply_to", "held_by"),
    *enums(Turn, "turn"),
    *long_texts("text", "understood"),
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
    *text_keys("workspace", "event_id"),
    *short_texts("person"),
    _of_incoming(),
    Index(None, "workspace", "person"),
)

# Only messages that are the choice of an option have a row.
incoming_taps = keyed(
    "incoming_taps",
    *text_keys("workspace", "event_id"),
    *short_texts("asked_run_id"),
    *integers("number"),
    *enums(Role, "role"),
    _of_incoming(),
    Index(None, "workspace", "asked_run_id"),
)

# A person's earlier messages belong to no conversation any more; in all channels if the channel is empty.
fresh_starts = keyed("fresh_starts", *text_keys("workspace", "person", "channel"), *timestamps("at"))

outgoing = Table(
    "outgoing",
    metadata,
    *short_texts("workspace", "run_id"),
    *integers("part"),
    *short_texts("channel", "thread", "message_id"),
    Column("sent_at", UtcDateTime, nullable=True),
    *long_texts("text"),
    PrimaryKeyConstraint("workspace", "run_id", "part"),
    Index(None, "workspace", "channel", "thread"),
    partial_index("ix_outgoing_unsent", "sent_at", "workspace", "run_id", where=text("sent_at IS NULL")),
    info={READ_AS: Outgoing},
)

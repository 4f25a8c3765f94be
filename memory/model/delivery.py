"""What came in and what went out: accepted messages, answers waiting to be posted, and the ledger of what was sent."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memory.model.scope import Scope


class Progress(StrEnum):
    """How far an accepted message has come."""

    ACCEPTED = "accepted"
    """Stored, not answered yet."""
    ANSWERED = "answered"
    """The answer and its episodes are committed; its parts may still be unsent."""
    DELIVERED = "delivered"
    """Every part was sent."""
    WITHDRAWN = "withdrawn"
    """Deleted, stopped or forgotten before it was answered."""
    UNDELIVERABLE = "undeliverable"
    """Answered, but the place it came from is gone or took no part for too long: not tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A person's message, stored before anything is done about it."""

    scope: Scope
    event_id: str
    message_id: str
    text: str
    at: datetime
    progress: Progress = Progress.ACCEPTED
    run_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One part of an answer, committed before it is posted."""

    workspace: str
    run_id: str
    part: int
    """From 1, in the order they are sent."""
    channel: str
    thread: str
    text: str
    sent_at: datetime | None = None
    message_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """A sent message and the answer it belongs to, so that a reaction can find its episode."""

    workspace: str
    channel: str
    message_id: str
    run_id: str
    part: int
    posted_at: datetime
    expires_at: datetime

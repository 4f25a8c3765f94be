"""To what the bot listens: how a channel may want it, and the threads that asked it to be quiet."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ListeningMode(StrEnum):
    """Which messages of a channel are meant for the bot."""

    MENTION = "mention"
    """Those that mention it."""
    THREADS = "threads"
    """Also follow-ups to its answers, where they are clearly meant for it."""
    ALWAYS = "always"
    """Every one that is not for somebody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutedThread:
    """A thread in which only a mention is meant for the bot; outside of threads, the channel."""

    workspace: str
    channel: str
    thread: str
    since: datetime

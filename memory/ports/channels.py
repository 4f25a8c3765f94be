"""Channels in a store: who can read them, and which threads asked the bot to be quiet."""

from datetime import datetime
from typing import Protocol

from memory.model import Channel, MutedThread


class ChannelTable(Protocol):
    """Who can read each channel now, and where the bot is quiet.

    What is read of episodes and messages says who can read their channel too (`channel_visibility`).
    """

    def put(self, channel: Channel) -> None:
        """Keep it; it replaces what was known of the channel before."""
        ...

    def get(self, workspace: str, channel: str) -> Channel | None:
        """What is known, or None for a channel nothing was ever noted about."""
        ...

    def mute(self, thread: MutedThread) -> None:
        """Keep that a thread is muted; twice is fine."""
        ...

    def unmute(self, workspace: str, channel: str, thread: str) -> None:
        """A thread is muted no more, if it was."""
        ...

    def sweep_mutes(self, before: datetime) -> int:
        """Drop threads that were muted before then, but no channel. Returns how many there were."""
        ...

    def is_muted(self, workspace: str, channel: str, thread: str) -> bool:
        """Whether a thread is muted."""
        ...

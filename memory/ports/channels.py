"""Channels in a store."""

from typing import Protocol

from memory.model import Channel


class ChannelTable(Protocol):
    """Who can read each channel now. What is read of episodes and messages says it too (`channel_visibility`)."""

    def put(self, channel: Channel) -> None:
        """Keep it; it replaces what was known of the channel before."""
        ...

    def get(self, workspace: str, channel: str) -> Channel | None:
        """What is known, or None for a channel nothing was ever noted about."""
        ...

"""Channels in a store: who can read them, and what was decided for them."""

from typing import Protocol

from memory.model import Channel, KnownAnswers


class ChannelTable(Protocol):
    """Who can read each channel now. What is read of episodes and messages says it too (`channel_visibility`)."""

    def put(self, channel: Channel) -> None:
        """Keep it; it replaces what was known of the channel before."""
        ...

    def get(self, workspace: str, channel: str) -> Channel | None:
        """What is known, or None for a channel nothing was ever noted about."""
        ...

    def put_known_answers(self, switch: KnownAnswers) -> None:
        """Keep it; it replaces what was decided for the channel before."""
        ...

    def known_answers(self, workspace: str, channel: str) -> KnownAnswers | None:
        """What was decided last, or None for a channel that nobody decided about."""
        ...

    def erase_person(self, workspace: str, person: str) -> None:
        """Forget who it was that decided."""
        ...

"""Channels in a store: who can read them, and what was decided for them."""

from datetime import datetime
from typing import Protocol

from memory.model import Channel, ChannelMode, KnownAnswers, ListeningMode, MutedThread


class ChannelTable(Protocol):
    """Who can read each channel now, and how the bot listens there.

    What is read of episodes and messages says who can read their channel too (`channel_visibility`).
    """

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

    def put_mode(self, chosen: ChannelMode) -> None:
        """Keep how the bot listens in a channel; it replaces what was chosen before."""
        ...

    def drop_mode(self, workspace: str, channel: str) -> None:
        """Forget what was chosen for a channel."""
        ...

    def mode(self, workspace: str, channel: str) -> ListeningMode | None:
        """What was chosen for a channel, or None."""
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

"""The people and channels of a store: since when they are known, who can read which, who was welcomed where."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Protocol

from memory.model import Channel, KnownPeople, MutedThread

EVERYBODY = ""
"""In place of a person: until when whoever comes to the workspace is known at once."""


class PeopleTable(Protocol):
    """Since when each person of a workspace is known, and whom and where the bot has welcomed."""

    def note(
        self, workspace: str, person: str, at: datetime, newcomer: timedelta, *, known: KnownPeople | None = None
    ) -> KnownPeople:
        """Keep that a person was there, if nothing is kept of them: they are known `newcomer` later.

        Who is noted within as long after the first person of the workspace is known at once. `known` is what was read
        of them and of `EVERYBODY` already. Returns that with what is kept now.
        """
        ...

    def known_people(self, workspace: str, people: Iterable[str]) -> KnownPeople:
        """What is known of these people, and of the workspace's teachers."""
        ...

    def listed(self, workspace: str, *, after: str, limit: int) -> list[str]:
        """Those of whom anything is kept here, in alphabetical order, behind this one."""
        ...

    def held(self, workspace: str, person: str) -> dict[str, int]:
        """How much is kept in their name, counted by indexes, by the names of `PersonalData`.

        What repeats their words elsewhere is not looked for.
        """
        ...

    def forget(self, workspace: str, person: str) -> None:
        """Erase it, and that they were welcomed: should they come back, they are new."""
        ...

    def welcome(self, workspace: str, at: datetime, *, channel: str = "", person: str = "") -> bool:
        """Keep that a person, a channel or (with neither) the workspace is welcomed. True the first time only."""
        ...

    def welcomed_at(self, workspace: str, person: str) -> datetime | None:
        """When the person was welcomed; None if they never were."""
        ...


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

"""The tables of people and channels: since when people are known, who can read a channel, who was welcomed."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Protocol

from memory.model import Channel, KnownPeople, MutedThread

EVERYBODY = ""
"""Key, in place of a person, of the time until which newcomers to the workspace are known at once."""


class PeopleTable(Protocol):
    """Since when each person of a workspace is known, and whom and where the bot has welcomed."""

    def note(
        self, workspace: str, person: str, at: datetime, newcomer: timedelta, *, known: KnownPeople | None = None
    ) -> KnownPeople:
        """Store a person who is not stored yet; they are known `newcomer` later.

        People stored within that time after the first person of the workspace are known at once. `known` are the
        values already read for them and `EVERYBODY`. Returns these with what is stored now.
        """

    def known_people(self, workspace: str, people: Iterable[str]) -> KnownPeople:
        """What is known of these people, and of the workspace's teachers."""

    def listed(self, workspace: str, *, after: str, limit: int) -> list[str]:
        """The people of whom anything is stored, in alphabetical order, starting after `after`."""

    def held(self, workspace: str, person: str) -> dict[str, int]:
        """The numbers of what is stored in their name, by the field names of `PersonalData`, counted by indexes.

        Copies of their words elsewhere are not searched for.
        """

    def forget(self, workspace: str, person: str) -> None:
        """Erase what is stored of them, and that they were welcomed: if they come back, they are new."""

    def welcome(self, workspace: str, at: datetime, *, channel: str = "", person: str = "") -> bool:
        """Store that a person, a channel or (with neither) the workspace is welcomed. True only the first time."""

    def welcomed_at(self, workspace: str, person: str) -> datetime | None:
        """When the person was welcomed; None if they were not."""


class ChannelTable(Protocol):
    """Who can read each channel now, and which threads are muted.

    Episodes and messages that are read carry their channel's current visibility too (`channel_visibility`).
    """

    def put(self, channel: Channel) -> None:
        """Store a channel; it replaces what was known before."""

    def get(self, workspace: str, channel: str) -> Channel | None:
        """What is known of a channel; None if nothing is."""

    def mute(self, thread: MutedThread) -> None:
        """Mute a thread. Idempotent."""

    def unmute(self, workspace: str, channel: str, thread: str) -> None:
        """Unmute a thread, if it is muted."""

    def sweep_mutes(self, before: datetime) -> int:
        """Unmute threads, but no channels, that were muted before then. Returns their number."""

    def is_muted(self, workspace: str, channel: str, thread: str) -> bool:
        """Whether a thread is muted."""

"""Who somebody is in the playground, and where: a test person in a test channel."""

import re
from dataclasses import dataclass

from memory.errors import InvalidInput
from memory.model import Role, Scope, Visibility

PLATFORM = "playground"
WORKSPACE = f"{PLATFORM}:test"
"""The only workspace of the playground. Nothing of it counts in another one."""
CHANNELS = {"general": Visibility.PUBLIC, "team": Visibility.PUBLIC, "leads": Visibility.PRIVATE}
"""Channels that every test person is in, and who can read them."""
DIRECT = "direct"
"""In place of a channel: the person's conversation with the bot alone."""
PEOPLE = ("ana", "ben", "chloe")
"""Names to begin with; any other will do."""
ROLES = (Role.MEMBER, Role.TEACHER, Role.ADMIN)

_DIRECT_ID = f"{DIRECT}-"
_NAME = re.compile(r"[a-z0-9][\w.-]{0,39}", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A test person, where they look and write, and what they may decide. Raises `InvalidInput` for no such persona."""

    person: str = PEOPLE[0]
    channel: str = next(iter(CHANNELS))
    """One of `CHANNELS`, or `DIRECT`."""
    role: Role = Role.MEMBER

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.person):
            raise InvalidInput("a test person's name has letters, digits, dots, dashes and underscores, at most 40")
        if self.channel not in (*CHANNELS, DIRECT):
            raise InvalidInput(f"there is no test channel {self.channel[:40]!r}: use one of {', '.join(CHANNELS)}")
        if self.role not in ROLES:
            raise InvalidInput("a test person is a member, a teacher or an admin")

    @property
    def channel_id(self) -> str:
        """The channel as memory names it."""
        return f"{_DIRECT_ID}{self.person}" if self.channel == DIRECT else self.channel

    @property
    def scope(self) -> Scope:
        """The person there."""
        return Scope(
            workspace=WORKSPACE,
            channel=self.channel_id,
            person=self.person,
            visibility=CHANNELS.get(self.channel, Visibility.DIRECT),
            place="" if self.channel == DIRECT else f"#{self.channel}",
        )


def is_channel(channel: str) -> bool:
    """Whether the bot can say something there."""
    is_direct = channel.startswith(_DIRECT_ID) and _NAME.fullmatch(channel.removeprefix(_DIRECT_ID))
    return channel in CHANNELS or bool(is_direct)

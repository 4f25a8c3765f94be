"""Test people and test channels of the playground."""

import re
from dataclasses import dataclass

from memory.errors import InvalidInput
from memory.model import Role, Scope, Visibility

PLATFORM = "playground"
WORKSPACE = f"{PLATFORM}:test"
"""The only workspace of the playground. Its lessons count in no other one."""
CHANNELS = {"general": Visibility.PUBLIC, "team": Visibility.PUBLIC, "leads": Visibility.PRIVATE}
"""The channels, which every test person is in, with their visibility."""
DIRECT = "direct"
"""The name of a person's direct conversation with the bot."""
PEOPLE = ("ana", "ben", "chloe")
"""Suggested names of test people; any other name works too."""
ROLES = (Role.MEMBER, Role.TEACHER, Role.ADMIN)

_DIRECT_ID = f"{DIRECT}-"
_NAME = re.compile(r"[a-z0-9][\w.-]{0,39}", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A test person in a channel, with a role. Raises `InvalidInput` for invalid values."""

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
        """The channel's id in the memory."""
        return f"{_DIRECT_ID}{self.person}" if self.channel == DIRECT else self.channel

    @property
    def scope(self) -> Scope:
        """The scope of the person in the channel."""
        return Scope(
            workspace=WORKSPACE,
            channel=self.channel_id,
            person=self.person,
            visibility=CHANNELS.get(self.channel, Visibility.DIRECT),
            place="" if self.channel == DIRECT else f"#{self.channel}",
        )


def is_channel(channel: str) -> bool:
    """Whether this is the id of a channel of the playground."""
    is_direct = channel.startswith(_DIRECT_ID) and _NAME.fullmatch(channel.removeprefix(_DIRECT_ID))
    return channel in CHANNELS or bool(is_direct)

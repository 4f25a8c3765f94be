"""What exists on the stand-in: plain frozen records. A change replaces the record."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, IntFlag
from typing import Any

Json = dict[str, Any]


class Intent(IntFlag):
    """Gateway intents that decide what a session hears."""

    NONE = 0
    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    GUILD_PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_MESSAGE_REACTIONS = 1 << 10
    DIRECT_MESSAGES = 1 << 12
    DIRECT_MESSAGE_REACTIONS = 1 << 13
    MESSAGE_CONTENT = 1 << 15


PRIVILEGED = Intent.GUILD_MEMBERS | Intent.GUILD_PRESENCES | Intent.MESSAGE_CONTENT
HIGHEST_INTENT_BIT = 25


class ChannelKind(IntEnum):
    """Discord's channel types, as far as they are played."""

    TEXT = 0
    DM = 1
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12


class MessageFlag(IntFlag):
    """Flags of a message."""

    NONE = 0
    SUPPRESS_EMBEDS = 1 << 2
    HAS_THREAD = 1 << 5
    EPHEMERAL = 1 << 6
    LOADING = 1 << 7
    SUPPRESS_NOTIFICATIONS = 1 << 12
    COMPONENTS_V2 = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A user, an app's user, or the face of a webhook."""

    id: str
    name: str
    is_bot: bool = False
    accepts_dms: bool = True

    @property
    def mention(self) -> str:
        """How it stands in a message."""
        return f"<@{self.id}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guild:
    """A server."""

    id: str
    name: str
    owner_id: str = ""
    has_bot: bool = True
    """False: only user-installed use is possible there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A role; the one with the guild's own id is @everyone."""

    id: str
    guild_id: str
    name: str
    permissions: int
    position: int = 0
    bot_id: str = ""
    """The bot that this role came with; nobody else can have it."""

    @property
    def mention(self) -> str:
        """How it stands in a message."""
        return f"<@&{self.id}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A person in a guild."""

    person_id: str
    guild_id: str
    joined_at: datetime
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwrite:
    """What a channel allows or denies one role or person beyond the guild's rules."""

    target_id: str
    of_person: bool
    allow: int = 0
    deny: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A text channel, a thread or a direct conversation."""

    id: str
    kind: ChannelKind
    guild_id: str = ""
    name: str = ""
    topic: str = ""
    parent_id: str = ""
    owner_id: str = ""
    recipients: tuple[str, ...] = ()
    """The people of a direct conversation; the members of a thread."""
    overwrites: tuple[Overwrite, ...] = ()
    archived: bool = False
    locked: bool = False

    @property
    def is_thread(self) -> bool:
        """Whether it hangs under another channel."""
        return self.kind in (ChannelKind.PUBLIC_THREAD, ChannelKind.PRIVATE_THREAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file on its way to or from Discord."""

    name: str
    content: bytes
    media_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A stored file."""

    id: str
    channel_id: str
    file: File


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as it stands now."""

    id: str
    channel_id: str
    author: Person
    content: str = ""
    guild_id: str = ""
    type: int = 0
    """0 plain, 19 a reply, 20 an answer to a slash command, 23 one to a context menu, others are the system's."""
    at: datetime
    edited_at: datetime | None = None
    flags: MessageFlag = MessageFlag.NONE
    embeds: tuple[Json, ...] = ()
    components: tuple[Json, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    reply_to: str = ""
    pings: frozenset[str] = frozenset()
    """Ids of the people and roles that were notified, and `everyone`."""
    allowed_mentions: Mapping[str, Any] | None = None
    """As the app sent it; None if it did not."""
    nonce: str = ""
    webhook_id: str = ""
    interaction_id: str = ""
    ephemeral_to: str = ""
    """The only person who sees it."""

    @property
    def is_loading(self) -> bool:
        """Whether it is still the "thinking..." of a deferred answer."""
        return MessageFlag.LOADING in self.flags


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """One person's emoji on one message. `emoji` is the character itself, or `name:id`."""

    emoji: str
    person_id: str
    burst: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Typing:
    """One time that the bot showed it was typing."""

    channel_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSync:
    """One time that the app wrote its whole list of commands. `guild_id` is empty for the global list."""

    guild_id: str
    commands: tuple[Json, ...]


@dataclass(slots=True, kw_only=True, eq=False)
class Call:
    """One request to the REST API. `status` is None until it was answered, and stays so when the answer was lost."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    files: tuple[File, ...] = ()
    status: int | None = None
    seen: bool = field(default=False)
    """Whether the request had its effect (or would have, had it been valid)."""

"""Looks channels and people up: scopes and visibility of channels, roles and names of people."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

import discord
from cachetools import LRUCache

from bot.adapters.discord.rest import UNKNOWN_CHANNEL, Rest, code_of
from bot.config import GROUP_ROLES, DiscordSettings
from bot.errors import MessengerError
from memory.model import Role, Scope, Visibility
from memory.rules.chat_settings import ALLOWED_CHANNELS, ALLOWED_PEOPLE

log = logging.getLogger(__name__)

PLATFORM = "discord"
DIRECT_WORKSPACE = f"{PLATFORM}:dm"
_MOST_REMEMBERED = 5000
_OUT_OF_REACH = object()
"""Stands for a channel while Discord cannot be reached."""


def workspace_of(guild: int | None) -> str:
    """The workspace of a server, or of direct messages without one."""
    return f"{PLATFORM}:{guild}" if guild is not None else DIRECT_WORKSPACE


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelInfo:
    """One conversation. `channel` and `thread` are Discord's ids as text."""

    workspace: str
    channel: str
    thread: str = ""
    visibility: Visibility
    name: str = ""
    is_known: bool = True
    """False if Discord cannot tell now who reads it: then the visibility is a guess."""

    @property
    def id(self) -> str:
        """Discord's id of the thread if there is one, else of the channel."""
        return self.thread or self.channel

    @property
    def is_direct(self) -> bool:
        """Whether only one person and the bot are there."""
        return self.visibility is Visibility.DIRECT

    def scope(self, person: str) -> Scope:
        """The scope of a person who acts there."""
        return Scope(
            workspace=self.workspace,
            channel=self.channel,
            person=person,
            thread=self.thread,
            visibility=self.visibility,
            place=self.name,
            is_visibility_known=self.is_known,
        )

    def message_id(self, message_id: int | str) -> str:
        """The bot's id of a message. In a thread it includes the thread's id, which Discord's API needs."""
        return f"{self.thread}-{message_id}" if self.thread else str(message_id)


def address(channel: str, message_id: str) -> tuple[int, int] | None:
    """Discord's ids of channel (or thread) and message in a `ChannelInfo.message_id`; None for any other text."""
    thread, dash, plain = message_id.rpartition("-")
    place = thread if dash else channel
    return (int(place), int(plain)) if place.isdecimal() and plain.isdecimal() else None


class Channels:
    """Looks channels up by id: in the gateway's cache, else by REST."""

    def __init__(self, client: discord.Client, rest: Rest) -> None:
        self._client = client
        self._rest = rest
        self._asked: LRUCache[int, object] = LRUCache(_MOST_REMEMBERED)

    async def of(self, channel_id: int, guild_id: int | None) -> ChannelInfo:
        """The channel of an event. An unknown one counts as private."""
        if guild_id is None:
            return ChannelInfo(
                workspace=DIRECT_WORKSPACE, channel=str(channel_id), visibility=Visibility.DIRECT, name="DM"
            )
        channel = self._client.get_channel(channel_id) or await self._ask(channel_id)
        workspace = f"{PLATFORM}:{guild_id}"
        if not isinstance(channel, discord.Thread):
            return ChannelInfo(
                workspace=workspace,
                channel=str(channel_id),
                visibility=visibility_of(channel),
                name=_name(channel),
                is_known=_is_known(channel),
            )
        if channel.is_private():
            # It has fewer readers than its parent, so it is a channel of its own.
            return ChannelInfo(
                workspace=workspace, channel=str(channel.id), visibility=Visibility.PRIVATE, name=_name(channel)
            )
        parent = channel.parent or self._client.get_channel(channel.parent_id) or await self._ask(channel.parent_id)
        return ChannelInfo(
            workspace=workspace,
            channel=str(channel.parent_id),
            thread=str(channel.id),
            visibility=visibility_of(parent),
            name=_name(parent) or _name(channel),
            is_known=_is_known(parent),
        )

    async def hidden(self, channel: discord.abc.GuildChannel) -> ChannelInfo | None:
        """A channel that the gateway reports as deleted; None if it is. Else the bot may no longer view it.

        Then it counts as private.
        """
        try:
            await self._rest(f"looking up channel {channel.id}", lambda: self._client.fetch_channel(channel.id))
        except MessengerError as error:
            if code_of(error) == UNKNOWN_CHANNEL:
                return None
        return ChannelInfo(
            workspace=f"{PLATFORM}:{channel.guild.id}",
            channel=str(channel.id),
            visibility=Visibility.PRIVATE,
            name=_name(channel),
        )

    async def _ask(self, channel_id: int) -> object:
        """Fetch a channel by REST: an archived thread, or one whose server is unavailable."""
        if channel_id not in self._asked:
            try:
                found = await self._rest(
                    f"looking up channel {channel_id}", lambda: self._client.fetch_channel(channel_id)
                )
            except MessengerError as error:
                log.warning(
                    "could not look up a channel, treating it as %s: %s",
                    "before" if error.retryable else "private",
                    error,
                )
                return _OUT_OF_REACH if error.retryable else None
            self._asked[channel_id] = found
        return self._asked[channel_id]


def visibility_of(channel: object) -> Visibility:
    """Public if @everyone may view it; private if not, or if that is not known."""
    if not isinstance(channel, discord.abc.GuildChannel):
        return Visibility.PRIVATE
    everyone = _everyone(channel)
    is_public = everyone is not None and channel.permissions_for(everyone).view_channel
    return Visibility.PUBLIC if is_public else Visibility.PRIVATE


def _is_known(channel: object) -> bool:
    """Whether it is known who may read the channel."""
    if isinstance(channel, discord.abc.GuildChannel):
        return _everyone(channel) is not None
    return channel is not _OUT_OF_REACH


def _everyone(channel: discord.abc.GuildChannel) -> discord.Role | None:
    # The role is missing while the server is unavailable, whatever the library's types say.
    return channel.guild.default_role


def _name(channel: object) -> str:
    name = getattr(channel, "name", "")
    return f"#{name}" if name else ""


Somebody = discord.User | discord.Member


class Roles:
    """Resolves roles: the lists in `[discord]` come first, then a person's rights in the server."""

    def __init__(self, settings: DiscordSettings) -> None:
        self._admins = frozenset(settings.admins)
        self._teachers = frozenset(settings.teachers)
        self._managers, self._moderators = GROUP_ROLES[settings.managers], GROUP_ROLES[settings.moderators]
        self._people = frozenset(settings.allowed_people)
        self._channels = frozenset(settings.allowed_channels)

    def of(self, somebody: Somebody) -> Role:
        """A person's role. Direct messages do not tell their server roles, so there only their own id counts."""
        if somebody.bot:
            return Role.BOT
        role = self.of_id(*_ids(somebody))
        if role is not Role.MEMBER or not isinstance(somebody, discord.Member):
            return role
        rights = somebody.guild_permissions
        if rights.manage_guild and self._managers is not Role.MEMBER:
            return self._managers
        return self._moderators if rights.manage_messages else role

    def of_id(self, *ids: str) -> Role:
        """The role by the lists alone, from the ids of a person and their server roles."""
        if self._admins & set(ids):
            return Role.ADMIN
        return Role.TEACHER if self._teachers & set(ids) else Role.MEMBER

    @property
    def deciders(self) -> list[str]:
        """Who may approve for others: ids of people and server roles, then other groups in words."""
        groups = {"managers": self._managers, "moderators": self._moderators}
        named = " and ".join(group for group, role in groups.items() if role is not Role.MEMBER)
        return [*sorted(self._admins | self._teachers), *([f"the server's {named}"] if named else [])]

    def admit(self, somebody: Somebody, channels: Iterable[int | None], *, is_direct: bool) -> bool:
        """Whether the settings file lets a person use the bot here. `channels`: the channel and a thread's parent."""
        return not self.refused_by(somebody, channels, is_direct=is_direct)

    def refused_by(self, somebody: Somebody, channels: Iterable[int | None], *, is_direct: bool) -> set[str]:
        """The lists of the settings file that exclude this person or this channel."""
        refused_by: set[str] = set()
        if self._people and not self._people & set(_ids(somebody)):
            refused_by.add(ALLOWED_PEOPLE)
        if self._channels and not is_direct and not self._channels & {str(channel) for channel in channels}:
            refused_by.add(ALLOWED_CHANNELS)
        return refused_by


def _ids(somebody: Somebody) -> list[str]:
    roles = somebody.roles if isinstance(somebody, discord.Member) else []
    return [str(somebody.id), *(str(role.id) for role in roles)]


async def name_of(client: discord.Client, rest: Rest, person: str) -> str:
    """A person's display name; empty for a text that is no Discord id. Raises `MessengerError`."""
    if not person.isdecimal():
        return ""
    user = await rest(f"asking who {person} is", lambda: client.fetch_user(int(person)))
    return user.display_name

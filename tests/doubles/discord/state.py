"""Everything that exists on the stand-in, and the questions one may ask of it. Nobody is told of changes here."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from tests.doubles.discord import permissions
from tests.doubles.discord.errors import Problems, error
from tests.doubles.discord.ids import Snowflakes
from tests.doubles.discord.model import (
    PRIVILEGED,
    Attachment,
    Channel,
    ChannelKind,
    CommandSync,
    File,
    Guild,
    Intent,
    Json,
    Member,
    Message,
    Person,
    Reaction,
    Role,
    Typing,
)
from tests.doubles.discord.permissions import Permission

if TYPE_CHECKING:
    from tests.doubles.discord.interaction import Interaction


class State:
    """Look-ups raise Discord's own `ApiError` when something is not there."""

    def __init__(self, *, token: str, clock: Callable[[], datetime], granted: Intent = Intent.NONE) -> None:
        self.token = token
        self.clock = clock
        self.granted = granted & PRIVILEGED
        """The privileged intents switched on in the developer portal."""
        self.new_id = Snowflakes(clock)
        self.bot = Person(id=self.new_id(), name="Goodbot", is_bot=True)
        self.owner = Person(id=self.new_id(), name="owner")
        self.people: dict[str, Person] = {self.bot.id: self.bot, self.owner.id: self.owner}
        self.guilds: dict[str, Guild] = {}
        self.roles: dict[str, Role] = {}
        self.members: dict[tuple[str, str], Member] = {}
        self.channels: dict[str, Channel] = {}
        self.emojis: dict[str, list[str]] = {}
        """Guild -> its custom emoji, as `name:id`."""
        self.attachments: dict[str, Attachment] = {}
        self.reactions: dict[str, list[Reaction]] = {}
        self.commands: dict[str, list[Json]] = {}
        """Guild (empty: everywhere) -> the app's commands."""
        self.syncs: list[CommandSync] = []
        self.typing: list[Typing] = []
        self.interactions: dict[str, Interaction] = {}
        """By token."""
        self.base_url = ""
        self._messages: dict[str, Message] = {}
        self._in_channel: dict[str, list[str]] = {}
        self._nonces: dict[tuple[str, str], str] = {}

    @property
    def application_id(self) -> str:
        """The app has the id of its user, as every app made since 2016."""
        return self.bot.id

    # looking up

    def person(self, person_id: str) -> Person:
        """Raises 10013."""
        if found := self.people.get(person_id):
            return found
        raise error(10013)

    def guild(self, guild_id: str) -> Guild:
        """Raises 10004."""
        if found := self.guilds.get(guild_id):
            return found
        raise error(10004)

    def channel(self, channel_id: str) -> Channel:
        """Raises 10003, or 50035 for what is no id at all."""
        if found := self.channels.get(channel_id):
            return found
        if not channel_id.isdecimal():
            problems = Problems()
            problems.add("channel_id", "NUMBER_TYPE_COERCE", f'Value "{channel_id}" is not snowflake.')
            problems.tell()
        raise error(10003)

    def find(self, message_id: str) -> Message | None:
        """A message, if it still stands."""
        return self._messages.get(message_id)

    def message(self, message_id: str, channel_id: str = "") -> Message:
        """Raises 10008."""
        found = self.find(message_id)
        if found and channel_id in ("", found.channel_id):
            return found
        raise error(10008)

    def member(self, guild_id: str, person_id: str) -> Member:
        """Raises 10007."""
        if found := self.members.get((guild_id, person_id)):
            return found
        raise error(10007)

    def messages_in(self, channel_id: str) -> list[Message]:
        """What stands in a channel, oldest first, without what only one person sees."""
        there = (self._messages[message_id] for message_id in self._in_channel.get(channel_id, ()))
        return [message for message in there if not message.ephemeral_to]

    def last_in(self, channel_id: str) -> Message | None:
        """The newest message of a channel."""
        there = self._in_channel.get(channel_id)
        return self._messages[there[-1]] if there else None

    def roles_of(self, guild_id: str) -> list[Role]:
        """A guild's roles."""
        return [role for role in self.roles.values() if role.guild_id == guild_id]

    def channels_of(self, guild_id: str) -> Iterator[Channel]:
        """A guild's channels and threads."""
        return (channel for channel in self.channels.values() if channel.guild_id == guild_id)

    # rights

    def permissions(self, person_id: str, channel: Channel) -> Permission:
        """What a person may do in a channel, a thread or a direct conversation."""
        if channel.kind is ChannelKind.DM:
            return permissions.in_direct(channel, person_id)
        member = self.members.get((channel.guild_id, person_id))
        if member is None:
            return permissions.NONE
        home = self.channels[channel.parent_id] if channel.is_thread else channel
        guild = self.guilds[channel.guild_id]
        granted = permissions.in_channel(guild, home, member, self.roles_of(guild.id))
        outsider = channel.kind is ChannelKind.PRIVATE_THREAD and person_id not in channel.recipients
        return permissions.NONE if outsider and not granted & Permission.MANAGE_THREADS else granted

    def can_see(self, person_id: str, channel: Channel) -> bool:
        """Whether a channel exists for a person."""
        return bool(self.permissions(person_id, channel) & Permission.VIEW_CHANNEL)

    def require(self, person_id: str, channel: Channel, *needed: Permission) -> None:
        """Raises 50001 when the channel cannot be seen, 50013 when a right is missing."""
        granted = self.permissions(person_id, channel)
        if not granted & Permission.VIEW_CHANNEL:
            raise error(50001)
        if any(not granted & right for right in needed):
            raise error(50013)

    def shows_content(self, message: Message, intents: Intent) -> bool:
        """Whether the bot gets the text: its own, direct, mentioning it, or with the privileged intent."""
        return (
            Intent.MESSAGE_CONTENT in intents
            or not message.guild_id
            or message.author.id == self.bot.id
            or self.bot.id in message.pings
        )

    # changing

    def put(self, message: Message) -> Message:
        """Add a message or replace it."""
        if message.id not in self._messages:
            self._in_channel.setdefault(message.channel_id, []).append(message.id)
        self._messages[message.id] = message
        return message

    def drop(self, message: Message) -> None:
        """Take a message away, with its reactions."""
        self._messages.pop(message.id)
        self._in_channel[message.channel_id].remove(message.id)
        self.reactions.pop(message.id, None)

    def store(self, channel_id: str, file: File) -> Attachment:
        """Keep a file where the CDN serves it."""
        stored = Attachment(id=self.new_id(), channel_id=channel_id, file=file)
        self.attachments[stored.id] = stored
        return stored

    def direct(self, *people: str) -> Channel:
        """The conversation of these people, opened when there is none."""
        for channel in self.channels.values():
            if channel.kind is ChannelKind.DM and set(channel.recipients) == set(people):
                return channel
        opened = Channel(id=self.new_id(), kind=ChannelKind.DM, recipients=people)
        self.channels[opened.id] = opened
        return opened

    def join_thread(self, channel: Channel, person_id: str) -> Channel:
        """Make somebody a member of a thread."""
        if channel.is_thread and person_id not in channel.recipients:
            channel = replace(channel, recipients=(*channel.recipients, person_id))
            self.channels[channel.id] = channel
        return channel

    def sent_before(self, channel_id: str, nonce: str) -> Message | None:
        """The message that already used a nonce in a channel."""
        return self._messages.get(self._nonces.get((channel_id, nonce), ""))

    def remember_nonce(self, message: Message) -> None:
        """So that the same message is not created twice."""
        self._nonces[message.channel_id, message.nonce] = message.id

"""What can happen, whoever does it: the change, and the event that tells of it."""

from collections.abc import Sequence
from dataclasses import replace

from tests.doubles.discord import payloads
from tests.doubles.discord.errors import error
from tests.doubles.discord.gateway import Event, Gateway
from tests.doubles.discord.handshake import guild_created
from tests.doubles.discord.mentions import pings
from tests.doubles.discord.model import (
    Channel,
    ChannelKind,
    Guild,
    Intent,
    Json,
    Member,
    Message,
    MessageFlag,
    Overwrite,
    Person,
    Reaction,
    Role,
)
from tests.doubles.discord.permissions import Permission
from tests.doubles.discord.state import State

MOST_EMOJI_ON_A_MESSAGE = 20


class Happenings:
    """Changes the world and tells the gateway. Checks nothing but what Discord itself could not do."""

    def __init__(self, state: State, gateway: Gateway) -> None:
        self.state = state
        self._gateway = gateway

    # messages

    def post(self, message: Message) -> Message:
        """A message appears. A thread that was archived wakes up; who writes in a thread joins it."""
        channel = self.state.channel(message.channel_id)
        if channel.archived:
            channel = self.change_channel(replace(channel, archived=False))
        self.state.join_thread(channel, message.author.id)
        self.state.put(message)
        self._tell_message("MESSAGE_CREATE", message)
        return message

    def edit(self, message: Message) -> Message:
        """A message is replaced by its new version."""
        self.state.put(message)
        self._tell_message("MESSAGE_UPDATE", message)
        return message

    def delete(self, *messages: Message) -> None:
        """Messages of one channel disappear: one by itself, several as one event."""
        first = messages[0]
        for message in messages:
            self.state.drop(message)
        ids = [message.id for message in messages]
        where = self._where(first)
        if first.ephemeral_to:
            return
        if len(ids) == 1:
            self._tell(first, "MESSAGE_DELETE", {"id": ids[0], **where}, self._message_intent(first))
        else:
            self._tell(first, "MESSAGE_DELETE_BULK", {"ids": ids, **where}, self._message_intent(first))

    def _tell_message(self, name: str, message: Message) -> None:
        if message.ephemeral_to:
            return
        self._tell(message, name, None, self._message_intent(message))

    def _tell(self, message: Message, name: str, data: Json | None, needs: Intent) -> None:
        """Emit an event about a message, if the bot sees its channel. Without data: the message itself."""
        if not self.state.can_see(self.state.bot.id, self.state.channel(message.channel_id)):
            return

        def render(intents: Intent) -> Json:
            return data if data is not None else payloads.gateway_message(self.state, message, intents)

        self._gateway.emit(Event(name=name, render=render, guild_id=message.guild_id, needs=needs))

    @staticmethod
    def _message_intent(message: Message) -> Intent:
        return Intent.GUILD_MESSAGES if message.guild_id else Intent.DIRECT_MESSAGES

    @staticmethod
    def _reaction_intent(message: Message) -> Intent:
        return Intent.GUILD_MESSAGE_REACTIONS if message.guild_id else Intent.DIRECT_MESSAGE_REACTIONS

    @staticmethod
    def _where(message: Message) -> Json:
        guild: Json = {"guild_id": message.guild_id} if message.guild_id else {}
        return {"channel_id": message.channel_id, **guild}

    # reactions

    def react(self, message: Message, person: Person, emoji: str, burst: bool = False) -> None:
        """An emoji is added; adding it twice changes nothing. Raises 30010."""
        given = self.state.reactions.setdefault(message.id, [])
        if any(one.emoji == emoji and one.person_id == person.id for one in given):
            return
        used = {one.emoji for one in given}
        if emoji not in used and len(used) >= MOST_EMOJI_ON_A_MESSAGE:
            raise error(30010)
        given.append(Reaction(emoji=emoji, person_id=person.id, burst=burst))
        body = {**self._reaction(message, person, emoji, burst), "message_author_id": message.author.id}
        if member := self.state.members.get((message.guild_id, person.id)):
            body["member"] = payloads.member(self.state, member)
        self._tell(message, "MESSAGE_REACTION_ADD", body, self._reaction_intent(message))

    def unreact(self, message: Message, person: Person, emoji: str) -> None:
        """An emoji is taken off; if it is not there, nothing happens. The event names no author and no member."""
        given = self.state.reactions.get(message.id, [])
        for one in [r for r in given if r.emoji == emoji and r.person_id == person.id]:
            given.remove(one)
            body = self._reaction(message, person, emoji, one.burst)
            self._tell(message, "MESSAGE_REACTION_REMOVE", body, self._reaction_intent(message))

    def clear_reactions(self, message: Message, emoji: str = "") -> None:
        """All reactions go, or all of one emoji: one event without any person in it."""
        given = self.state.reactions.get(message.id, [])
        given[:] = [one for one in given if emoji and one.emoji != emoji]
        body = {"message_id": message.id, **self._where(message)}
        if emoji:
            body["emoji"] = payloads.emoji(emoji)
        name = "MESSAGE_REACTION_REMOVE_EMOJI" if emoji else "MESSAGE_REACTION_REMOVE_ALL"
        self._tell(message, name, body, self._reaction_intent(message))

    def _reaction(self, message: Message, person: Person, emoji: str, burst: bool) -> Json:
        return {
            "user_id": person.id,
            "message_id": message.id,
            "emoji": payloads.emoji(emoji),
            "burst": burst,
            "type": int(burst),
            **self._where(message),
        }

    # places

    def add_guild(self, guild: Guild) -> None:
        """The bot is in a guild from now on."""
        self.state.guilds[guild.id] = guild
        if guild.has_bot:

            def render(intents: Intent) -> Json:
                body = guild_created(self.state, guild, intents)
                del body["unavailable"]  # Only a guild that comes back has it.
                return body

            self._gateway.emit(Event(name="GUILD_CREATE", render=render, guild_id=guild.id, needs=Intent.GUILDS))

    def guild_back(self, guild: Guild) -> None:
        """An outage of a guild is over."""

        def render(intents: Intent) -> Json:
            return guild_created(self.state, guild, intents)

        self._gateway.emit(Event(name="GUILD_CREATE", render=render, guild_id=guild.id, needs=Intent.GUILDS))

    def guild_gone(self, guild: Guild, *, outage: bool) -> None:
        """A guild has an outage, or the bot was removed from it."""
        body: Json = {"id": guild.id, "unavailable": True} if outage else {"id": guild.id}
        self.tell_guild("GUILD_DELETE", guild.id, body)
        if not outage:
            self.state.guilds[guild.id] = replace(guild, has_bot=False)
            del self.state.members[guild.id, self.state.bot.id]

    def change_member(self, member: Member) -> None:
        """Somebody joins, or gets other roles. Heard only with the privileged members intent."""
        key = (member.guild_id, member.person_id)
        name = "GUILD_MEMBER_UPDATE" if key in self.state.members else "GUILD_MEMBER_ADD"
        self.state.members[key] = member
        body = {"guild_id": member.guild_id, **payloads.member(self.state, member)}
        self.tell_guild(name, member.guild_id, body, Intent.GUILD_MEMBERS)

    def add_role(self, role: Role) -> None:
        """A role appears."""
        self.state.roles[role.id] = role
        self.tell_guild("GUILD_ROLE_CREATE", role.guild_id, {"guild_id": role.guild_id, "role": payloads.role(role)})

    def change_role(self, role: Role) -> None:
        """A role may do other things than before."""
        self.state.roles[role.id] = role
        self.tell_guild("GUILD_ROLE_UPDATE", role.guild_id, {"guild_id": role.guild_id, "role": payloads.role(role)})

    def change_channel(self, channel: Channel) -> Channel:
        """A channel or thread appears or changes. What the bot stops seeing is deleted for it, and the reverse."""
        before = self.state.channels.get(channel.id)
        saw = before is not None and self.state.can_see(self.state.bot.id, before)
        self.state.channels[channel.id] = channel
        sees = self.state.can_see(self.state.bot.id, channel)
        action = {(False, True): "CREATE", (True, True): "UPDATE", (True, False): "DELETE"}.get((saw, sees))
        if action:
            self._tell_channel(action, channel, newly=before is None)
        return channel

    def delete_channel(self, channel: Channel) -> None:
        """A channel or thread is deleted with all its messages."""
        if self.state.can_see(self.state.bot.id, channel):
            self._tell_channel("DELETE", channel)
        for message in self.state.messages_in(channel.id):
            self.state.drop(message)
        del self.state.channels[channel.id]

    def _tell_channel(self, action: str, channel: Channel, newly: bool = False) -> None:
        body = payloads.channel(self.state, channel)
        if channel.is_thread and newly:
            body["newly_created"] = True
        kind = "THREAD" if channel.is_thread else "CHANNEL"
        self.tell_guild(f"{kind}_{action}", channel.guild_id, body)

    def tell_guild(self, name: str, guild_id: str, body: Json, needs: Intent = Intent.GUILDS) -> None:
        """Emit an event of a guild whose body is the same for every session."""
        self._gateway.emit(Event(name=name, render=lambda _: body, guild_id=guild_id, needs=needs))

    def start_thread(
        self, parent: Channel, owner: Person, name: str, source: Message | None, kind: ChannelKind
    ) -> Channel:
        """A thread begins, from a message (whose id it takes) or by itself. Raises 160004."""
        if source and source.id in self.state.channels:
            raise error(160004)
        thread = Channel(
            id=source.id if source else self.state.new_id(),
            kind=kind,
            guild_id=parent.guild_id,
            name=name,
            parent_id=parent.id,
            owner_id=owner.id,
            recipients=(owner.id,),
        )
        self.change_channel(thread)
        if source:
            self.edit(replace(source, flags=source.flags | MessageFlag.HAS_THREAD))
        return thread

    # composing

    def compose(
        self,
        channel: Channel,
        author: Person,
        content: str,
        *,
        reply_to: Message | None = None,
        allowed: Json | None = None,
        reply_pings: bool = True,
    ) -> Message:
        """A message that is ready to be posted."""
        replied_to = reply_to.author.id if reply_to and reply_pings else ""
        return Message(
            id=self.state.new_id(),
            channel_id=channel.id,
            guild_id=channel.guild_id,
            author=author,
            content=content,
            type=19 if reply_to else 0,
            at=self.state.clock(),
            reply_to=reply_to.id if reply_to else "",
            pings=pings(content, allowed, replied_to),
            allowed_mentions=allowed,
        )


def with_rights(channel: Channel, target_id: str, of_person: bool, allow: Permission, deny: Permission) -> Channel:
    """The channel with one target's allowed and denied rights changed; other rights of it stay."""
    others: Sequence[Overwrite] = [o for o in channel.overwrites if o.target_id != target_id]
    mine = next((o for o in channel.overwrites if o.target_id == target_id), None)
    allowed, denied = (mine.allow, mine.deny) if mine else (0, 0)
    changed = Overwrite(
        target_id=target_id,
        of_person=of_person,
        allow=(allowed | allow) & ~deny,
        deny=(denied | deny) & ~allow,
    )
    return replace(channel, overwrites=(*others, changed))

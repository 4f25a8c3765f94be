"""Handles the gateway's payloads about reactions: votes, saves, and the stop sign.

After cheap checks they are handled concurrently, but in order for one message. Fields: discord.com/developers, "Gateway
Events".
"""

from collections.abc import Callable, Hashable
from typing import Any, Protocol

import discord

from bot.adapters.discord.directory import ChannelInfo
from bot.adapters.discord.incoming.context import HandlerContext
from bot.adapters.discord.incoming.private_replies import by_direct_message
from bot.adapters.private_reply import replying_to
from bot.model import PersonCommand, PersonEvent, PersonReaction, PersonSave, ReactionsCleared
from memory.model import Role

STOP = "🛑"
SOMEBODY = "somebody"
"""Stands for the unknown person who deletes a message or clears its reactions."""


class ChannelPayload(Protocol):
    """A payload with its channel."""

    channel_id: int
    guild_id: int | None


def start_delivery(
    context: HandlerContext, key: Hashable, there: ChannelPayload, event: Callable[[ChannelInfo], PersonEvent]
) -> None:
    """Start a task that delivers an event, after earlier tasks with the same key."""

    async def deliver() -> None:
        await context.sink(event(await context.channels.of(there.channel_id, there.guild_id)))

    context.tasks.start(key, deliver)


class Reactions:
    """Turns the gateway's events about reactions into events for the sink."""

    def __init__(self, context: HandlerContext) -> None:
        self._context = context
        self.handlers: dict[str, Callable[[Any], object]] = {
            "raw_reaction_add": self._added,
            "raw_reaction_remove": self._removed,
            "raw_reaction_clear": self._cleared,
            "raw_reaction_clear_emoji": self._cleared,
        }
        """By the library's name of an event."""

    def _added(self, reaction: discord.RawReactionActionEvent) -> None:
        person = reaction.member or self._context.client.get_user(reaction.user_id)
        emoji = configured_name(reaction.emoji)
        if reaction.user_id == self._context.client.me or (person is not None and person.bot):
            return
        is_direct = reaction.guild_id is None
        if person is None or self._context.roles.admit(person, self._channels(reaction), is_direct=is_direct):
            self._take(reaction, person, emoji)
        else:
            where = (reaction.channel_id, reaction.message_id)
            self._context.tasks.start(where, lambda: self._take_if_admitted(reaction, person, emoji))

    async def _take_if_admitted(
        self, reaction: discord.RawReactionActionEvent, person: discord.User | discord.Member, emoji: str
    ) -> None:
        """Take in a reaction that the settings file's lists refuse, if lists set in chat replace them."""
        if await self._context.admits(person, self._channels(reaction), reaction.guild_id):
            self._take(reaction, person, emoji)

    def _take(
        self, reaction: discord.RawReactionActionEvent, person: discord.User | discord.Member | None, emoji: str
    ) -> None:
        role = self._context.roles.of(person) if person else self._context.roles.of_id(str(reaction.user_id))
        if emoji == STOP and self._may_stop(reaction, role):
            self._start_stop(reaction, role)
        # Discord tells the author of most messages; for the others the ledger tells whether the message is the bot's.
        if self._context.queries.has_meaning(emoji) and reaction.message_author_id in (None, self._context.client.me):
            self._start_reaction(reaction, emoji, role)
        if reaction.message_author_id != self._context.client.me and self._context.queries.saves(emoji):
            self._start_save(reaction, role)

    def _channels(self, reaction: discord.RawReactionActionEvent) -> tuple[int, int | None]:
        """The channel of a reaction and, of a thread, its parent."""
        channel = self._context.client.get_channel(reaction.channel_id)
        return reaction.channel_id, getattr(channel, "parent_id", None)

    def _removed(self, reaction: discord.RawReactionActionEvent) -> None:
        """Handle a removal, which names neither the member nor the author; taking something back is always allowed."""
        emoji = configured_name(reaction.emoji)
        if reaction.user_id == self._context.client.me:
            return
        role = self._context.roles.of_id(str(reaction.user_id))
        if self._context.queries.has_meaning(emoji):
            self._start_reaction(reaction, emoji, role)
        if self._context.queries.saves(emoji):
            self._start_save(reaction, role)

    def _start_reaction(self, reaction: discord.RawReactionActionEvent, emoji: str, role: Role) -> None:
        at, event_id = self._context.clock(), self._event_id(reaction.guild_id)
        added = reaction.event_type == "REACTION_ADD"
        start_delivery(
            self._context,
            (reaction.channel_id, reaction.message_id),
            reaction,
            lambda place: PersonReaction(
                event_id=event_id,
                scope=place.scope(str(reaction.user_id)),
                message_id=place.message_id(reaction.message_id),
                emoji=emoji,
                added=added,
                # A removal does not name the author. It matters only where the reaction was taken in before.
                on_own_message=added,
                at=at,
                role=role,
            ),
        )

    def _start_save(self, reaction: discord.RawReactionActionEvent, role: Role) -> None:
        at, event_id, person = self._context.clock(), self._event_id(reaction.guild_id), str(reaction.user_id)

        async def deliver() -> None:
            place = await self._context.channels.of(reaction.channel_id, reaction.guild_id)
            event = PersonSave(
                event_id=event_id,
                scope=place.scope(person),
                message_id=place.message_id(reaction.message_id),
                added=reaction.event_type == "REACTION_ADD",
                at=at,
                role=role,
            )
            with replying_to(person, by_direct_message(self._context, person)):
                await self._context.sink(event)

        self._context.tasks.start((reaction.channel_id, reaction.message_id), deliver)

    def _may_stop(self, reaction: discord.RawReactionActionEvent, role: Role) -> bool:
        """Whether a 🛑 may stop the work in a channel: on one's own or the bot's message, or from a teacher.

        The sink checks whose question the bot is working on.
        """
        is_own = reaction.message_author_id in (reaction.user_id, self._context.client.me)
        is_working = self._context.working.is_on(reaction.channel_id)
        return is_working and (is_own or role in (Role.TEACHER, Role.ADMIN))

    def _start_stop(self, reaction: discord.RawReactionActionEvent, role: Role) -> None:
        at, event_id, person = self._context.clock(), self._event_id(reaction.guild_id), str(reaction.user_id)
        start_delivery(
            self._context,
            (reaction.channel_id, reaction.message_id),
            reaction,
            lambda place: PersonCommand(
                event_id=event_id, scope=place.scope(person), name="stop", argument="", at=at, role=role
            ),
        )

    def _cleared(self, cleared: discord.RawReactionClearEvent | discord.RawReactionClearEmojiEvent) -> None:
        emoji = configured_name(cleared.emoji) if isinstance(cleared, discord.RawReactionClearEmojiEvent) else ""
        if emoji and not self._context.queries.has_meaning(emoji):
            return
        at, event_id = self._context.clock(), self._event_id(cleared.guild_id)
        start_delivery(
            self._context,
            (cleared.channel_id, cleared.message_id),
            cleared,
            lambda place: ReactionsCleared(
                event_id=event_id,
                scope=place.scope(SOMEBODY),
                message_id=place.message_id(cleared.message_id),
                at=at,
                emoji=emoji,
            ),
        )

    def _event_id(self, guild_id: int | None) -> str:
        """The id of a reaction's event: its position in the gateway's stream, the same when it is sent again."""
        return f"gateway/{self._context.client.position(guild_id)}"


def configured_name(emoji: discord.PartialEmoji) -> str:
    """An emoji as it is configured: the character, or `name:id` of a server's own emoji."""
    return emoji.name if emoji.id is None else f"{emoji.name or 'emoji'}:{emoji.id}"

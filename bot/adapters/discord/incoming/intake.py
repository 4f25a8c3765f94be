"""Handles the gateway's payloads about messages: new, edited and deleted ones.

Cheap checks are made at once, in the order of arrival. The rest is handled concurrently, but in order within one
conversation. Fields: discord.com/developers, "Gateway Events".
"""

from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Any

import discord
from cachetools import TTLCache

from bot.adapters.command_words import (
    CORRECT,
    ParsedCommand,
    command_event,
    command_in,
    correction_in,
    unaddressed_command,
)
from bot.adapters.discord.directory import ChannelInfo
from bot.adapters.discord.files import read_files
from bot.adapters.discord.incoming.context import HandlerContext
from bot.adapters.discord.incoming.message_facts import (
    guild_id,
    is_by_person,
    order_key,
    replied_to,
    reply_target,
    unaddressed_message,
)
from bot.adapters.discord.incoming.missing_intent_hint import MissingIntentHint, own_role_in
from bot.adapters.discord.incoming.private_replies import (
    by_direct_message,
    by_direct_message_or_below,
    private_reply_for,
)
from bot.adapters.discord.incoming.reactions import SOMEBODY, start_delivery
from bot.adapters.discord.plain_text import as_command, mentions, plain_text, without_mention
from bot.adapters.discord.views import asked_about
from bot.adapters.flow_control import RateLimiter, Refusal
from bot.adapters.private_reply import PrivateReply, no_reply, replying_to
from bot.model import (
    UNADDRESSED,
    Address,
    PersonDeletion,
    PersonEdit,
    PersonMessage,
    PersonRateLimited,
)

_MOST_COMMANDS = 2000
_MOST_MESSAGES = 5000
_CALLED_LATE = timedelta(hours=1)
"""A mention edited into an older message is ignored: that edit is likely no question."""


class Intake:
    """Turns the gateway's events into events for the sink."""

    def __init__(self, context: HandlerContext) -> None:
        self._context = context
        self._rate_limit = RateLimiter(context.clock)
        self._commands: TTLCache[str, bool, datetime] = TTLCache(_MOST_COMMANDS, timedelta(hours=1), context.clock)
        """Commands handled lately: after a resume they may arrive again."""
        self._addressed: TTLCache[int, tuple[int, ...], datetime] = TTLCache(
            _MOST_MESSAGES, _CALLED_LATE, context.clock
        )
        """Messages that are for the bot, with the key that keeps them in order. An edit may add more."""
        self._gone: TTLCache[int, bool, datetime] = TTLCache(_MOST_MESSAGES, _CALLED_LATE, context.clock)
        """Deleted messages: a deletion may arrive before its message."""
        self._missing_intent_hint = MissingIntentHint(context)
        self.handlers: dict[str, Callable[[Any], object]] = {
            "message": self._message,
            "raw_message_edit": self._edit,
            "raw_message_delete": lambda gone: self._start_deletion(gone.message_id, gone),
            "raw_bulk_message_delete": self._deletions,
        }
        """By the library's name of an event."""

    # Messages -------------------------------------------------------------------------------------------------

    def _message(self, message: discord.Message) -> None:
        if not is_by_person(message) or self._gone.get(message.id):
            return
        address = self._address(message)
        if address is None:
            self._missing_intent_hint.on_message(message)
            return
        if address not in UNADDRESSED:
            self._addressed[message.id] = order_key(message)
        self._context.tasks.start(order_key(message), lambda: self._on_message(message, address))

    def late(self, message: discord.Message) -> None:
        """Handle a question that was asked while the bot was away. Commands from that time are ignored."""
        if not self._addressed.get(message.id) and is_by_person(message):
            self._addressed[message.id] = order_key(message)
            self._context.tasks.start(
                order_key(message), lambda: self._on_message(message, Address.MENTION, is_late=True)
            )

    def _address(self, message: discord.Message) -> Address | None:
        if guild_id(message) is None:
            return Address.DIRECT
        if any(user.id == self._context.client.me for user in message.mentions) or (
            message.content and own_role_in(message)
        ):
            return Address.MENTION
        if not message.content and not message.attachments:
            # Without the privileged intent Discord withholds the content of messages that do not mention the bot.
            return None
        return Address.FOLLOW_UP if isinstance(message.channel, discord.Thread) else Address.OPEN

    async def _on_message(self, message: discord.Message, address: Address, *, is_late: bool = False) -> None:
        channels = (message.channel.id, getattr(message.channel, "parent_id", None))
        if not await self._context.admits(message.author, channels, guild_id(message)):
            return
        place = await self._context.channels.of(message.channel.id, guild_id(message))
        names = await self._names(message)
        text = plain_text(without_mention(message.content, *self._ids(message)), names)
        is_call = address is Address.MENTION and mentions(message.content, *self._ids(message))
        typed = command_in(as_command(without_mention(message.content, *self._ids(message)), names))
        if address in UNADDRESSED:
            asked = unaddressed_message(message, place, address, text, self._context)
            typed, is_for_bot = await unaddressed_command(
                typed,
                is_busy=self._context.working.is_on(message.channel.id),
                is_answered=address is Address.FOLLOW_UP or replied_to(message, self._context) is not None,
                is_for_bot=lambda: self._context.queries.is_for_bot(asked),
            )
            if not is_for_bot:
                return
            self._addressed[message.id] = order_key(message)
        if not text and is_call and not message.attachments:
            typed = ParsedCommand("help")
        if typed is None and text and (replied := replied_to(message, self._context)) and asked_about(replied):
            typed = ParsedCommand(CORRECT, text)
        await self._within_pace(message, place, typed, address, text, is_late=is_late)

    async def _within_pace(
        self,
        message: discord.Message,
        place: ChannelInfo,
        typed: ParsedCommand | None,
        address: Address,
        text: str,
        *,
        is_late: bool,
    ) -> None:
        """Deliver a command or a question, unless its author is rate limited."""
        if is_late and typed is not None:
            return
        is_stop = typed is not None and typed.name == "stop"
        # Messages that do not mention the bot are counted separately.
        key = (message.channel.id, message.author.id, address in UNADDRESSED)
        refused = None if is_stop else self._rate_limit.refused(key)
        if refused is not None:
            await self._hold_back(message, place, correction_in(typed, text), address, refused)
        elif typed is not None:
            await self._command(message, place, typed, address)
        else:
            await self._question(message, place, address, text, is_late=is_late)

    async def _question(
        self, message: discord.Message, place: ChannelInfo, address: Address, text: str, *, is_late: bool
    ) -> None:
        attached = await read_files(message.attachments, self._context.rest)
        await self._context.sink(
            PersonMessage(
                event_id=str(message.id),
                scope=place.scope(str(message.author.id)),
                message_id=place.message_id(message.id),
                text=text,
                at=message.created_at,
                role=self._context.roles.of(message.author),
                address=address,
                files=attached.files,
                images=attached.images,
                is_late=is_late,
                reply_to=reply_target(message, place),
            )
        )

    async def _hold_back(
        self,
        message: discord.Message,
        place: ChannelInfo,
        correction: ParsedCommand | None,
        address: Address,
        refused: Refusal,
    ) -> None:
        """Do not answer a rate-limited person, and tell them once. Corrections still count, without a reply."""
        person = str(message.author.id)
        if correction is not None:
            await self._command(message, place, correction, address, reply=no_reply)
        if refused.is_first:
            event = PersonRateLimited(
                event_id=f"{message.id}/too fast",
                scope=place.scope(person),
                at=message.created_at,
                role=self._context.roles.of(message.author),
                rest=refused.rest,
            )
            with replying_to(person, by_direct_message_or_below(self._context, message)):
                await self._context.sink(event)

    def _ids(self, message: discord.Message) -> tuple[int, int]:
        """The ids that mention the bot in the message's text."""
        return self._context.client.me, own_role_in(message)

    async def _names(self, message: discord.Message) -> dict[str, str]:
        text = without_mention(message.content, *self._ids(message))
        return await self._context.mentions.names(text, message.author, message.mentions)

    async def _command(
        self,
        message: discord.Message,
        place: ChannelInfo,
        typed: ParsedCommand,
        address: Address,
        reply: PrivateReply | None = None,
    ) -> None:
        person = str(message.author.id)
        scope, role, at = place.scope(person), self._context.roles.of(message.author), message.created_at
        about = self._answer_replied_to(message, place)
        event_id = str(message.id)
        if self._commands.get(event_id):
            return
        self._commands[event_id] = True
        with replying_to(person, reply or private_reply_for(self._context, typed.name, place, message)):
            await self._context.sink(
                command_event(
                    typed,
                    event_id=event_id,
                    scope=scope,
                    at=at,
                    role=role,
                    message_id=about,
                    address=address,
                    typed_in=place.message_id(message.id),
                    reply_to=reply_target(message, place),
                )
            )

    def _answer_replied_to(self, message: discord.Message, place: ChannelInfo) -> str:
        """The bot's message that this one replies to, or the answer that the bot's question was about."""
        replied = replied_to(message, self._context)
        return (asked_about(replied) or place.message_id(replied.id)) if replied is not None else ""

    def _edit(self, edit: discord.RawMessageUpdateEvent) -> None:
        message = edit.message
        edited_at = message.edited_at
        # A link preview that Discord adds is an update too, without an edit.
        address = self._address(message)
        if edited_at is None or address is None or not is_by_person(message):
            return
        is_addressed = address is not Address.OPEN or self._addressed.get(message.id) is not None
        self._context.tasks.start(
            order_key(message), lambda: self._on_edit(message, edited_at, is_addressed=is_addressed)
        )
        is_young = self._context.clock() - message.created_at < _CALLED_LATE
        if address is Address.MENTION and is_young and not self._addressed.get(message.id):
            # The edit added a mention. Memory knows messages of earlier processes, so none is answered twice.
            self._message(message)

    async def _on_edit(self, message: discord.Message, edited_at: datetime, *, is_addressed: bool) -> None:
        text = plain_text(without_mention(message.content, *self._ids(message)), await self._names(message))
        if not text and not message.attachments:
            return
        attached = await read_files(message.attachments if is_addressed else (), self._context.rest)
        place = await self._context.channels.of(message.channel.id, guild_id(message))
        event = PersonEdit(
            event_id=f"{message.id}/edited/{edited_at.isoformat()}",
            scope=place.scope(str(message.author.id)),
            message_id=place.message_id(message.id),
            text=text,
            at=edited_at,
            role=self._context.roles.of(message.author),
            files=attached.files,
            images=attached.images,
            is_addressed=is_addressed,
            address=self._address(message) or Address.OPEN,
            of_event=str(message.id),
        )
        person = str(message.author.id)
        with nullcontext() if is_addressed else replying_to(person, by_direct_message(self._context, person)):
            await self._context.sink(event)

    def _deletions(self, gone: discord.RawBulkMessageDeleteEvent) -> None:
        for message_id in sorted(gone.message_ids):
            self._start_deletion(message_id, gone)

    def _start_deletion(
        self, message_id: int, gone: discord.RawMessageDeleteEvent | discord.RawBulkMessageDeleteEvent
    ) -> None:
        at = self._context.clock()
        self._gone[message_id] = True
        start_delivery(
            self._context,
            self._addressed.get(message_id) or (gone.channel_id,),
            gone,
            lambda place: PersonDeletion(
                event_id=f"{message_id}/deleted",
                scope=place.scope(SOMEBODY),
                message_id=place.message_id(message_id),
                at=at,
                of_event=str(message_id),
            ),
        )

"""Facts about a message: whether a person wrote it, its server, what it replies to, whether it is for others."""

import logging
from functools import partial

import discord

from bot.adapters.discord.directory import ChannelInfo
from bot.adapters.discord.incoming.context import HandlerContext
from bot.errors import MessengerError
from bot.model import Address, ThreadSoFar, Unaddressed

log = logging.getLogger(__name__)

_WHOLE_THREAD = 100
"""Messages of one page. Of a longer thread nobody looks up who wrote in it."""
_PERSON_TYPES = (discord.MessageType.default, discord.MessageType.reply)
"""Types of messages that people write; all others are notices of Discord."""


def is_by_person(message: discord.Message) -> bool:
    """Whether a person wrote it, rather than a bot or Discord itself."""
    return not message.author.bot and message.webhook_id is None and message.type in _PERSON_TYPES


def order_key(message: discord.Message) -> tuple[int, ...]:
    """The key of messages that are handled in order: those of a thread or direct conversation, else one person's."""
    channel = message.channel
    is_one_conversation = isinstance(channel, discord.Thread) or guild_id(message) is None
    return (channel.id,) if is_one_conversation else (channel.id, message.author.id)


def guild_id(message: discord.Message) -> int | None:
    """The server of a message, also while it is unavailable; None for direct messages."""
    if message.guild is not None:
        return message.guild.id
    return getattr(message.channel, "guild_id", None)


def reply_target(message: discord.Message, place: ChannelInfo) -> str:
    """The id of the message it replies to, in the same place; empty without one."""
    reference = message.reference
    is_here = reference is not None and reference.channel_id == message.channel.id
    return place.message_id(reference.message_id) if reference and is_here and reference.message_id else ""


def replied_to(message: discord.Message, context: HandlerContext) -> discord.Message | None:
    """The bot's message that this one replies to; None if it replies to no message of the bot."""
    replied = message.reference.resolved if message.reference else None
    if isinstance(replied, discord.Message) and replied.author.id == context.client.me:
        return replied
    return None


def unaddressed_message(
    message: discord.Message, place: ChannelInfo, address: Address, text: str, context: HandlerContext
) -> Unaddressed:
    """A message without a mention, with the facts that decide whether it is for the bot."""
    replied, reference = replied_to(message, context), message.reference
    others = [user for user in message.mentions if user.id != context.client.me]
    replies_elsewhere = reference is not None and reference.message_id is not None and replied is None
    return Unaddressed(
        scope=place.scope(str(message.author.id)),
        text=text,
        address=address,
        read_thread=partial(thread_so_far, message, context),
        replied_to=place.message_id(replied.id) if replied is not None else "",
        is_for_others=bool(others or message.role_mentions or message.mention_everyone or replies_elsewhere),
    )


async def thread_so_far(message: discord.Message, context: HandlerContext) -> ThreadSoFar | None:
    """The thread before a message; None if Discord cannot tell, or it is long. Its creator counts as taking part."""
    channel, what = message.channel, f"looking at what was said in thread {message.channel.id}"
    try:
        newest_first = await context.rest.all_of(
            what, lambda: channel.history(limit=_WHOLE_THREAD, before=message), again=False
        )
    except MessengerError as error:
        log.info("could not read thread %s: %s", channel.id, error)
        return None
    if len(newest_first) == _WHOLE_THREAD:
        return None
    people = {each.author.id for each in newest_first if not each.author.bot}
    if isinstance(channel, discord.Thread):
        people.add(channel.owner_id)
    last = newest_first[0] if newest_first else None
    return ThreadSoFar(
        people=frozenset(str(each) for each in people - {context.client.me}),
        is_last_ours=last is not None and last.author.id == context.client.me,
        last_text=last.content if last is not None else "",
    )

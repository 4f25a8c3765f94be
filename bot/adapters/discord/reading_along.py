"""What people wrote to each other before a message, looked up when the bot is asked something there."""

from collections.abc import Sequence

import discord

from bot.adapters.discord.context import HandlerContext
from bot.adapters.discord.directory import address
from bot.adapters.discord.plain_text import plain
from bot.errors import MessengerError
from bot.model import Remark
from memory.model import Scope


async def remarks(
    handlers: HandlerContext, scope: Scope, message_id: str, wanted: Sequence[str], last: int
) -> list[Remark]:
    """The messages of people with these ids, and the last ones before this; oldest first. What is gone is left out.

    Without the intent Message Content, Discord shows only the text of messages to the bot.
    """
    asked = address(scope.channel, message_id)
    if asked is None:
        return []
    place, before = asked
    found: dict[int, discord.Message] = {}
    for each in (address(scope.channel, _in_thread(scope, message)) for message in wanted):
        message = await fetched(handlers, *each) if each else None
        if message is not None:
            found[message.id] = message
    if last:
        channel = _channel(handlers, place)

        async def read() -> list[discord.Message]:
            return [each async for each in channel.history(limit=last, before=discord.Object(before))]

        found |= {each.id: each for each in await handlers.rest(f"reading channel {place}", read)}
    return [
        Remark(
            message_id=str(each.id) if str(each.channel.id) == scope.channel else f"{scope.thread}-{each.id}",
            person=str(each.author.id),
            text=plain(each.content, _names(each)),
            at=each.created_at,
        )
        for each in sorted(found.values(), key=lambda each: each.id)
        if not each.author.bot and each.webhook_id is None and each.content and each.id != before
    ]


def _in_thread(scope: Scope, message_id: str) -> str:
    """A thread has the id of the message it began with, which stands in the channel."""
    return message_id if message_id != scope.thread else f"{scope.channel}-{message_id}"


async def fetched(handlers: HandlerContext, place: int, message_id: int) -> discord.Message | None:
    """A message; None if it is gone or may not be read. Raises `MessengerError` kinds that may pass."""
    channel = _channel(handlers, place)
    try:
        return await handlers.rest(f"reading message {message_id}", lambda: channel.fetch_message(message_id))
    except MessengerError as error:
        if error.retryable:
            raise
        return None


def _channel(handlers: HandlerContext, place: int) -> discord.abc.Messageable:
    """The channel or thread as it is known, for only then Discord's library knows what its messages mention."""
    known = handlers.client.get_channel(place)
    return known if isinstance(known, discord.abc.Messageable) else handlers.client.get_partial_messageable(place)


def _names(message: discord.Message) -> dict[str, str]:
    """What a message mentions, by id: channels only where everybody of the server may look."""
    open_to_all = [each for each in message.channel_mentions if _is_open(each)]
    named = (*message.role_mentions, *open_to_all)
    return {str(one.id): one.name for one in named} | {str(user.id): user.display_name for user in message.mentions}


def _is_open(channel: discord.abc.GuildChannel | discord.Thread) -> bool:
    place = channel.parent if isinstance(channel, discord.Thread) else channel
    return place is not None and place.permissions_for(place.guild.default_role).view_channel

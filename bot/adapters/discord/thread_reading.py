"""Looks at what was said in a thread before a message."""

import logging

import discord

from bot.adapters.discord.context import HandlerContext
from bot.errors import MessengerError
from bot.model import ThreadSoFar

log = logging.getLogger(__name__)

_WHOLE_THREAD = 100
"""Messages of one page. In a longer thread it is not looked who said something."""


async def so_far(message: discord.Message, handlers: HandlerContext) -> ThreadSoFar | None:
    """What was said before; None when Discord cannot say, or the thread is long. Whoever began it took part in it."""
    channel = message.channel

    async def read() -> list[discord.Message]:
        return [each async for each in channel.history(limit=_WHOLE_THREAD, before=message)]

    try:
        newest_first = await handlers.rest(f"looking at what was said in thread {channel.id}", read, again=False)
    except MessengerError as error:
        log.info("what was said in thread %s is not known: %s", channel.id, error)
        return None
    if len(newest_first) == _WHOLE_THREAD:
        return None
    people = {each.author.id for each in newest_first if not each.author.bot}
    if isinstance(channel, discord.Thread):
        people.add(channel.owner_id)
    last = newest_first[0] if newest_first else None
    return ThreadSoFar(
        people=frozenset(str(each) for each in people - {handlers.me}),
        is_last_ours=last is not None and last.author.id == handlers.me,
        last_text=last.content if last is not None else "",
    )

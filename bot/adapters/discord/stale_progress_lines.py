"""Removes progress lines that a killed process left, whose stop buttons do nothing."""

import logging
from datetime import datetime, timedelta

import discord

from bot.adapters.discord.client import Client
from bot.adapters.discord.rest import UNKNOWN_MESSAGE, Rest, code_of
from bot.adapters.discord.views import is_stop_line
from bot.adapters.ttl_cache import TtlCache
from bot.errors import MessengerError
from memory.ports import Clock

log = logging.getLogger(__name__)

_MOST_CHANNELS = 5000
_NEWEST = 100
"""Messages looked through: what one request brings."""


class StaleProgressLines:
    """Removes such lines, once in each channel and thread. `begun` is when this process began."""

    def __init__(self, client: Client, rest: Rest, clock: Clock, *, begun: datetime) -> None:
        self._client = client
        self._rest = rest
        self._begun = begun
        self._seen: TtlCache[int, bool] = TtlCache(clock, size=_MOST_CHANNELS, keep=timedelta(days=1))

    async def take_away(self, channel: int) -> None:
        """Remove them from a channel, unless it was done before."""
        if self._seen.get(channel):
            return
        self._seen.put(channel, True)
        where = self._client.get_partial_messageable(channel)

        async def newest() -> list[discord.Message]:
            return [message async for message in where.history(limit=_NEWEST)]

        try:
            for message in await self._rest(f"reading channel {channel}", newest, again=False):
                if message.author.id == self._client.me and message.created_at < self._begun and is_stop_line(message):
                    await self._rest(f"taking a line away in channel {channel}", message.delete)
        except MessengerError as error:
            if code_of(error) != UNKNOWN_MESSAGE:
                log.info("could not remove a stale progress line: %s", error)

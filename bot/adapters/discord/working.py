"""While the bot works on something, Discord shows that it is typing."""

import asyncio
import logging

import discord

from bot.adapters.discord.rest import Rest
from bot.errors import MessengerError

log = logging.getLogger(__name__)

_AGAIN_S = 8.0
"""Discord shows typing for ten seconds."""


class Working:
    """Shows in which channels and threads work goes on."""

    def __init__(self, client: discord.Client, rest: Rest) -> None:
        self._client = client
        self._rest = rest
        self._shown: dict[int, asyncio.Task[None]] = {}

    def show(self, channel: int, is_on: bool) -> None:
        """Begin or end; doing either twice is fine."""
        if not is_on:
            shown = self._shown.pop(channel, None)
            if shown is not None:
                shown.cancel()
        elif channel not in self._shown:
            self._shown[channel] = asyncio.create_task(self._keep(channel))

    def is_on(self, channel: int) -> bool:
        """Whether the bot works on something there."""
        return channel in self._shown

    async def _keep(self, channel: int) -> None:
        where = self._client.get_partial_messageable(channel)
        try:
            while True:
                await self._rest(f"showing typing in channel {channel}", where.typing, again=False)
                await asyncio.sleep(_AGAIN_S)
        except MessengerError as error:
            log.info("typing is not shown: %s", error)

    async def close(self) -> None:
        """End everywhere."""
        shown = list(self._shown.values())
        self._shown.clear()
        for task in shown:
            task.cancel()
        await asyncio.gather(*shown, return_exceptions=True)

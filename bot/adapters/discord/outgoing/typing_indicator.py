"""Shows that the bot is working: the typing indicator, later a progress line with a stop button.

Also removes progress lines that a killed process left.
"""

import asyncio
import logging
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

import discord
from cachetools import TTLCache

from bot.adapters.discord.client import Client
from bot.adapters.discord.outgoing.markdown import one_line
from bot.adapters.discord.rest import UNKNOWN_MESSAGE, Rest, code_of, nonce_for
from bot.adapters.discord.views import STOP, is_stop_line, row
from bot.errors import MessengerError
from memory.ports import Clock, NewId

log = logging.getLogger(__name__)

_AGAIN_S = 8.0
"""Discord shows typing for ten seconds."""
LINE_AFTER_S = 6.0
"""Seconds until the progress line appears."""
PACE_S = 1.5
"""Seconds between two changes of the line: a channel allows five in five seconds."""
_LONGEST_LINE = 200


class _TypingTask:
    """Work in one channel, with the tasks that show it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.changed = asyncio.Event()
        self.ended = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []


class TypingIndicator:
    """Shows in which channels and threads the bot is working."""

    def __init__(self, client: discord.Client, rest: Rest, *, new_id: NewId) -> None:
        self._client = client
        self._rest = rest
        self._new_id = new_id
        self._shown: dict[int, _TypingTask] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def show(self, channel: int, text: str) -> None:
        """Show or update what the bot is doing in a channel; an empty text ends it. Both may be repeated."""
        work = self._shown.get(channel)
        if not text:
            self._end(channel)
        elif work is not None:
            work.text = text
            work.changed.set()
        else:
            work = self._shown[channel] = _TypingTask(text)
            typing, line = (asyncio.create_task(show(channel, work)) for show in (self._type, self._tell))
            work.tasks = [typing, line]

    def is_on(self, channel: int) -> bool:
        """Whether the bot works on something there."""
        return channel in self._shown

    async def close(self) -> None:
        """End all indicators."""
        for channel in list(self._shown):
            self._end(channel)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _end(self, channel: int) -> None:
        work = self._shown.pop(channel, None)
        if work is None:
            return
        work.ended.set()
        work.changed.set()
        typing, line = work.tasks
        typing.cancel()
        # The line's task is not cancelled: a line that is being sent has to be removed too.
        self._ending.add(line)
        line.add_done_callback(self._ending.discard)

    async def _type(self, channel: int, _: _TypingTask) -> None:
        where = self._client.get_partial_messageable(channel)
        try:
            while True:
                await self._rest(f"showing typing in channel {channel}", where.typing, again=False)
                await asyncio.sleep(_AGAIN_S)
        except MessengerError as error:
            log.info("could not show the typing indicator: %s", error)

    async def _tell(self, channel: int, work: _TypingTask) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(work.ended.wait(), LINE_AFTER_S)
            return
        try:
            await self._keep_line(channel, work)
        except MessengerError as error:
            log.info("could not show progress: %s", error)

    async def _keep_line(self, channel: int, work: _TypingTask) -> None:
        """Send the line, update it, and remove it at the end."""
        where, what = self._client.get_partial_messageable(channel), f"showing the work in channel {channel}"
        shown_text, once = work.text, nonce_for(self._new_id())

        async def send() -> discord.Message:
            return await where.send(_line(shown_text), view=row(STOP), nonce=once, silent=True, suppress_embeds=True)

        # With the nonce a second try returns the first line: an unknown one would stay.
        line = await self._rest(what, send)
        try:
            while not work.ended.is_set():
                await work.changed.wait()
                work.changed.clear()
                if work.text != shown_text and not work.ended.is_set():
                    shown_text = work.text
                    await self._rest(what, partial(line.edit, content=_line(shown_text)), again=False)
                    with suppress(TimeoutError):
                        await asyncio.wait_for(work.ended.wait(), PACE_S)
        finally:
            try:
                await self._rest(what, line.delete)
            except MessengerError as error:
                if code_of(error) != UNKNOWN_MESSAGE:
                    raise


def _line(text: str) -> str:
    return f"⏳ {one_line(text, _LONGEST_LINE)}"


_MOST_CHANNELS = 5000
_NEWEST = 100
"""Messages searched: as many as one request returns."""


class StaleProgressLines:
    """Removes progress lines of killed processes, once in each channel. `started_at` is when this process started."""

    def __init__(self, client: Client, rest: Rest, clock: Clock, *, started_at: datetime) -> None:
        self._client = client
        self._rest = rest
        self._started_at = started_at
        self._seen: TTLCache[int, bool, datetime] = TTLCache(_MOST_CHANNELS, timedelta(days=1), clock)

    async def remove(self, channel: int) -> None:
        """Remove stale progress lines from a channel, unless that was done before."""
        if self._seen.get(channel):
            return
        self._seen[channel] = True
        where, what = self._client.get_partial_messageable(channel), f"reading channel {channel}"
        try:
            for message in await self._rest.all_of(what, lambda: where.history(limit=_NEWEST), again=False):
                if (
                    message.author.id == self._client.me
                    and message.created_at < self._started_at
                    and is_stop_line(message)
                ):
                    await self._rest(f"taking a line away in channel {channel}", message.delete)
        except MessengerError as error:
            if code_of(error) != UNKNOWN_MESSAGE:
                log.info("could not remove a stale progress line: %s", error)

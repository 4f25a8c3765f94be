"""Runs one platform in this process: waits for its login, and ends when another process takes that."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass

from bot.app.processes.logins import Login, SharedLogin
from bot.app.processes.shards import ShardKeeper
from bot.errors import MessengerError
from bot.ports import EventSink, Messenger

TakeOver = Callable[[Messenger], Awaitable[None]]
"""Finishes a dead process's work on a platform, before this process runs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformRunner:
    """Runs a messenger while its login is held."""

    messenger: Messenger
    login: Login | SharedLogin
    shards: ShardKeeper | None = None
    """The keeper of this process's shards, if processes share the platform by shards."""

    @property
    def is_sole_holder(self) -> bool:
        """Whether the login is held by this process alone."""
        return isinstance(self.login, Login) and self.login.is_held

    async def run(self, sink: EventSink, take_over: TakeOver) -> None:
        """Wait for the login and run the platform. Raises `MessengerError` when another process took the login."""
        if not self.login.is_held:
            await self.login.taken()
            await take_over(self.messenger)
        async with self.shards or nullcontext():
            await self._run(sink)

    async def _run(self, sink: EventSink) -> None:
        running, lost = asyncio.create_task(self.messenger.run(sink)), asyncio.create_task(self.login.lost())
        try:
            await asyncio.wait({running, lost}, return_when=asyncio.FIRST_COMPLETED)
            if lost.done():
                await self.messenger.close()
                raise MessengerError(f"another process is on {self.messenger.platform} now")
            await running
        finally:
            running.cancel()
            lost.cancel()
            await asyncio.gather(running, lost, return_exceptions=True)

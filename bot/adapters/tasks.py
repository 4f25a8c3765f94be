"""Order among tasks, and trying again: a lock for each key, a gate for events, retried calls."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from typing import TypeVar

from bot.errors import MessengerError, MessengerUnavailable, RateLimited

log = logging.getLogger(__name__)

T = TypeVar("T")

Sleep = Callable[[float], Awaitable[None]]
"""How a messenger waits."""
TRIES = 3
"""Calls that may be repeated are made this often."""
_LONGEST_PAUSE_S = 60.0


class KeyedLock:
    """Lets one in at a time for each key, first come first served."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def __call__(self, key: Hashable) -> AsyncIterator[None]:
        """Wait for those with the same key that came before."""
        lock, waiting = self._locks.get(key) or (asyncio.Lock(), 0)
        self._locks[key] = (lock, waiting + 1)
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._locks[key]
            if waiting == 1:
                del self._locks[key]
            else:
                self._locks[key] = (lock, waiting - 1)


class FairGate:
    """Lets one through in each turn of the event loop, first come first served; how many are inside does not matter.

    Both platforms' libraries begin a task for every event that they read from their socket, and all of those run to
    their first wait within one turn of the loop: with hundreds of them everything else stands still meanwhile.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def pass_through(self) -> None:
        """Wait for those that came before, and let the loop do everything else that is ready."""
        async with self._lock:
            await asyncio.sleep(0)


async def retried(call: Callable[[], Awaitable[T]], sleep: Sleep, tries: int = TRIES) -> T:
    """The answer of a call that is made again when it raises `MessengerUnavailable`."""
    for attempt in range(1, tries):
        try:
            return await call()
        except MessengerUnavailable:
            await sleep(attempt)
    return await call()


async def until_reachable(
    connect: Callable[[], Awaitable[object]], sleep: Sleep, platform: str, *, as_asked: bool = False
) -> None:
    """Try again, ever more slowly, for as long as the platform is out of reach. Raises every other error.

    `as_asked`: it waits as long as the platform asks to, where that is longer.
    """
    pause_s = 1.0
    while True:
        try:
            await connect()
        except MessengerError as error:
            if not error.retryable:
                raise
            asked_s = error.retry_after_s if as_asked and isinstance(error, RateLimited) else 0.0
            wait_s = max(pause_s, asked_s)
            log.warning("not connected to %s, trying again in %g s: %s", platform, wait_s, error)
            await sleep(wait_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        else:
            return

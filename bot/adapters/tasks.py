"""Order among tasks, and their end: a lock for each key, a gate for events, work that ends with the messenger."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Hashable
from contextlib import asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


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


async def unless(ended: asyncio.Event, work: Awaitable[T]) -> T | None:
    """The work's result; None as soon as the end comes, which cancels it."""
    wanted, end = asyncio.ensure_future(work), asyncio.ensure_future(ended.wait())
    try:
        await asyncio.wait({wanted, end}, return_when=asyncio.FIRST_COMPLETED)
        return wanted.result() if wanted.done() and not ended.is_set() else None
    finally:
        wanted.cancel()
        end.cancel()
        await asyncio.gather(wanted, end, return_exceptions=True)

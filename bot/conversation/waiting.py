"""Waits for work: unless an event cancels it, or until it has ended elsewhere."""

import asyncio
from collections.abc import Awaitable, Hashable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


async def unless(event: asyncio.Event, work: Awaitable[T]) -> T | None:
    """The result of the work; None if the event is set before, which cancels the work."""
    wanted, is_set = asyncio.ensure_future(work), asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({wanted, is_set}, return_when=asyncio.FIRST_COMPLETED)
        return wanted.result() if wanted.done() and not event.is_set() else None
    finally:
        wanted.cancel()
        is_set.cancel()
        await asyncio.gather(wanted, is_set, return_exceptions=True)


class WorkInProgress:
    """Work that others may wait for, by key."""

    def __init__(self) -> None:
        self._ended: dict[Hashable, list[asyncio.Event]] = {}

    @contextmanager
    def begun(self, key: Hashable) -> Iterator[None]:
        """The work with this key goes on inside."""
        ended = asyncio.Event()
        self._ended.setdefault(key, []).append(ended)
        try:
            yield
        finally:
            ended.set()
            self._ended[key].remove(ended)
            if not self._ended[key]:
                del self._ended[key]

    async def ended(self, key: Hashable, within_s: float) -> None:
        """Wait until all work with this key that has begun is over, at most so many seconds."""
        waits = [asyncio.ensure_future(each.wait()) for each in self._ended.get(key, ())]
        try:
            if waits:
                await asyncio.wait(waits, timeout=within_s)
        finally:
            for each in waits:
                each.cancel()

    def is_going_on(self, key: Hashable) -> bool:
        """Whether there is work with this key."""
        return key in self._ended

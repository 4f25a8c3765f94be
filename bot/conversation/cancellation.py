"""Waits for work that an event cancels."""

import asyncio
from collections.abc import Awaitable
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

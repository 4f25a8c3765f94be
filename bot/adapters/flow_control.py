"""Flow control for messengers: locks by key, background tasks, retries, and a rate limit for authors.

Platforms mark other bots, and these are ignored. The rate limit is for programs that look like a person: two of them
would answer each other without end. A limited person is told so once, privately. What they teach still counts, but
without a reply, as a program might answer it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from cachetools import TTLCache

from bot.errors import MessengerError, MessengerUnavailable, RateLimited
from memory.ports import Clock

log = logging.getLogger(__name__)

T = TypeVar("T")

Sleep = Callable[[float], Awaitable[None]]
"""Waits for some seconds."""
_Work = Callable[[], Coroutine[Any, Any, None]]
TRIES = 3
"""How often a call that may be repeated is tried."""
_LONGEST_PAUSE_S = 60.0
_MOST_WATCHED = 5000


class KeyedLock:
    """One lock for each key, first come first served."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def __call__(self, key: Hashable) -> AsyncIterator[None]:
        """Hold the lock of a key."""
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
    """Lets one task through in each turn of the event loop, first come first served.

    Both platforms' libraries start a task for every event that they read from their socket, and all of these would run
    to their first wait within one turn of the loop. Hundreds of them would block everything else.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def pass_through(self) -> None:
        """Wait for earlier tasks, and let the loop run everything else that is ready."""
        async with self._lock:
            await asyncio.sleep(0)


class Tasks:
    """Background tasks. Those with the same key run in the order they were started."""

    def __init__(self, platform: str) -> None:
        self._platform = platform
        self._in_order = KeyedLock()
        self._fair_gate = FairGate()
        self._running: set[asyncio.Task[None]] = set()

    def start(self, key: Hashable, work: _Work) -> asyncio.Task[None]:
        """Start a task after the earlier ones with the same key. What it raises is logged."""
        task = asyncio.create_task(self._run(key, work))
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def _run(self, key: Hashable, work: _Work) -> None:
        async with self._in_order(key):
            await self._fair_gate.pass_through()
            await work()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, MessengerError):
            log.warning("could not reply to a person on %s: %s", self._platform, error)
        elif error is not None:
            log.error("failed to handle a %s event: %s", self._platform, error, exc_info=error)

    async def finished(self) -> None:
        """Wait until no task is left."""
        while self._running:
            await asyncio.wait(self._running)


async def with_retries(call: Callable[[], Awaitable[T]], sleep: Sleep, tries: int = TRIES) -> T:
    """Make a call, and repeat it if it raises `MessengerUnavailable`."""
    for attempt in range(1, tries):
        try:
            return await call()
        except MessengerUnavailable:
            await sleep(attempt)
    return await call()


async def connect_with_retries(
    connect: Callable[[], Awaitable[object]], sleep: Sleep, platform: str, *, honours_retry_after: bool = False
) -> None:
    """Connect, with retries and growing pauses while the platform cannot be reached. Raises every other error.

    With `honours_retry_after` a pause is at least as long as the platform asks for.
    """
    pause_s = 1.0
    while True:
        try:
            await connect()
        except MessengerError as error:
            if not error.retryable:
                raise
            asked_s = error.retry_after_s if honours_retry_after and isinstance(error, RateLimited) else 0.0
            wait_s = max(pause_s, asked_s)
            log.warning("not connected to %s, trying again in %g s: %s", platform, wait_s, error)
            await sleep(wait_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        else:
            return


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A rate limit: after `most` messages within `window`, further ones are refused for the time `rest`."""

    most: int
    window: timedelta
    rest: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refused message."""

    rest: timedelta
    """How long messages are refused from now on."""
    is_first: bool
    """Whether it is the first refused one, after which the person is told."""


LIMITS = (
    Limit(most=20, window=timedelta(minutes=1), rest=timedelta(minutes=1)),
    Limit(most=120, window=timedelta(hours=1), rest=timedelta(hours=1)),
)
"""The first limit stops programs that answer at once, the second slower ones."""


class RateLimiter:
    """Counts messages by key; a key is an author in a conversation."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        longest = max(max(limit.window, limit.rest) for limit in LIMITS)
        self._recent: TTLCache[Hashable, list[datetime], datetime] = TTLCache(_MOST_WATCHED, longest, clock)
        self._resting: TTLCache[Hashable, datetime, datetime] = TTLCache(_MOST_WATCHED, longest, clock)
        self._longest = longest

    def refused(self, key: Hashable) -> Refusal | None:
        """Count a message; returns a refusal if it is beyond a limit, and is not counted."""
        now = self._clock()
        until = self._resting.get(key)
        if until is not None and now < until:
            return Refusal(rest=until - now, is_first=False)
        recent = [at for at in self._recent.get(key) or () if now - at < self._longest]
        for limit in LIMITS:
            if sum(now - at < limit.window for at in recent) >= limit.most:
                self._resting[key] = now + limit.rest
                log.warning("%s is above the rate limit and is not answered for %s", key, limit.rest)
                return Refusal(rest=limit.rest, is_first=True)
        self._recent[key] = [*recent, now]
        return None

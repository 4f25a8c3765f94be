"""The thread pool on which every call of synchronous memory runs, and work that an event cancels."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from heapq import heappop, heappush
from itertools import count
from threading import get_ident
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_READY = 1
"""How many calls are queued in the pool, so that a free thread always finds one."""

_priority: ContextVar[int] = ContextVar("rank", default=0)
_priorities = count(1)


@contextmanager
def after_earlier_work() -> Iterator[None]:
    """Calls made in this context have a lower priority than those of earlier contexts.

    So of many messages that arrive at once the first is answered first, instead of all at the end. Calls outside of
    such a context, which store incoming events, go before all of them.
    """
    token = _priority.set(next(_priorities))
    try:
        yield
    finally:
        _priority.reset(token)


class _PrioritySemaphore:
    """A semaphore that admits the lowest priority number next, and among equal ones the earliest."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._arrivals = count()

    async def __aenter__(self) -> None:
        if self._free:
            self._free -= 1
            return
        waiter = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (_priority.get(), next(self._arrivals), waiter))
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._next()  # admitted and cancelled at once: admit another
            raise

    async def __aexit__(self, *_: object) -> None:
        self._next()

    def _next(self) -> None:
        while self._waiting:
            _, _, waiter = heappop(self._waiting)
            if not waiter.done():
                waiter.set_result(None)
                return
        self._free += 1


class Executor:
    """Runs blocking calls in a few threads: SQLite has one writer, and the embedder uses one core.

    Further calls wait on the event loop. So under load few results return to the loop at once, and the work of hundreds
    of conversations is spread over many turns of the loop.
    """

    def __init__(self, threads: int = 2, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="memory")
        self._slots = _PrioritySemaphore(threads + _READY)
        self._monotonic = monotonic
        self._started_at: dict[int, float] = {}
        """When each thread started its present call, by thread id."""

    async def __call__(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function in the pool. Calls of one priority start in the order they were made."""
        async with self._slots:
            return await asyncio.get_running_loop().run_in_executor(
                self._pool, self._timed, partial(copy_context().run, function, *args, **kwargs)
            )

    def as_async(self, function: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
        """An asynchronous version of a blocking function."""

        async def called(*args: P.args, **kwargs: P.kwargs) -> R:
            return await self(function, *args, **kwargs)

        return called

    def _timed(self, call: Callable[[], R]) -> R:
        self._started_at[get_ident()] = self._monotonic()
        try:
            return call()
        finally:
            del self._started_at[get_ident()]

    @property
    def longest_s(self) -> float:
        """For how many seconds the oldest running call has run; 0 if none runs."""
        now = self._monotonic()
        return max((now - started_at for started_at in list(self._started_at.values())), default=0.0)

    def close(self) -> None:
        """Wait for running calls and stop the threads. May be called twice."""
        self._pool.shutdown(wait=True)


async def run_unless(event: asyncio.Event, work: Awaitable[R]) -> R | None:
    """The result of the work; None if the event is set before, which cancels the work."""
    wanted, is_set = asyncio.ensure_future(work), asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({wanted, is_set}, return_when=asyncio.FIRST_COMPLETED)
        return wanted.result() if wanted.done() and not event.is_set() else None
    finally:
        wanted.cancel()
        is_set.cancel()
        await asyncio.gather(wanted, is_set, return_exceptions=True)

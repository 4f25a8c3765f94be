"""The thread pool on which every call of synchronous memory runs."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
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
"""Calls that lie ready for a thread that becomes free."""

_priority: ContextVar[int] = ContextVar("rank", default=0)
_priorities = count(1)


@contextmanager
def after_earlier_work() -> Iterator[None]:
    """Calls made in this context wait behind the calls of work that began before.

    So of many messages that come at once the first is answered first, instead of all of them at the very end. Calls
    outside, which take in what happened, go before all of them.
    """
    token = _priority.set(next(_priorities))
    try:
        yield
    finally:
        _priority.reset(token)


class _PrioritySemaphore:
    """A semaphore that lets the lowest rank go next; of equal ones the one that waits longest."""

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
                self._next()  # it had its turn, and will not take it
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

    Calls above that number wait on the loop, so that under load few results come back to it at once: what hundreds of
    conversations go on to do is spread over many turns of the loop instead of one long one.
    """

    def __init__(self, threads: int = 2, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="memory")
        self._slots = _PrioritySemaphore(threads + _READY)
        self._monotonic = monotonic
        self._started_at: dict[int, float] = {}
        """When each thread began what it does now, by its id."""

    async def __call__(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Await the call's result; its exceptions pass through. Calls of one rank begin in the order they were made."""
        async with self._slots:
            return await asyncio.get_running_loop().run_in_executor(
                self._pool, self._timed, partial(copy_context().run, function, *args, **kwargs)
            )

    def of(self, function: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
        """The function, to be awaited: whoever calls it need not know that it blocks."""

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
        """For how many seconds the oldest of the running calls has run; 0 if none runs."""
        now = self._monotonic()
        return max((now - started_at for started_at in list(self._started_at.values())), default=0.0)

    def close(self) -> None:
        """Wait for running calls and stop the threads. Closing twice is fine."""
        self._pool.shutdown(wait=True)

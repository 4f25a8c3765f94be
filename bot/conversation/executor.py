"""The thread pool on which every call of synchronous memory runs."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from threading import get_ident
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_READY = 1
"""Calls that lie ready for a thread that becomes free."""


class Executor:
    """Runs blocking calls beside the event loop. Few threads: SQLite has one writer, the embedder one core.

    Calls above that number wait on the loop, so that under load few results come back to it at once: what hundreds of
    conversations go on to do is spread over many turns of the loop instead of one long one.
    """

    def __init__(self, threads: int = 2, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="memory")
        self._turns = asyncio.Semaphore(threads + _READY)
        self._monotonic = monotonic
        self._begun: dict[int, float] = {}
        """When each thread began what it does now, by its id."""

    async def __call__(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Await the call's result; its exceptions pass through. Calls begin in the order they were made."""
        async with self._turns:
            return await asyncio.get_running_loop().run_in_executor(
                self._pool, self._timed, partial(copy_context().run, function, *args, **kwargs)
            )

    def _timed(self, call: Callable[[], R]) -> R:
        self._begun[get_ident()] = self._monotonic()
        try:
            return call()
        finally:
            del self._begun[get_ident()]

    @property
    def longest_s(self) -> float:
        """For how many seconds the oldest of the running calls has run; 0 if none runs."""
        now = self._monotonic()
        return max((now - begun for begun in list(self._begun.values())), default=0.0)

    def close(self) -> None:
        """Wait for running calls and stop the threads. Closing twice is fine."""
        self._pool.shutdown(wait=True)

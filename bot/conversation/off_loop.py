"""The one hand-over from the asynchronous bot to synchronous memory: every call runs on this small pool of threads."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_READY = 1
"""Calls that lie ready for a thread that becomes free."""


class OffLoop:
    """Runs blocking calls beside the event loop. Few threads: SQLite has one writer, the embedder one core.

    Calls above that number wait on the loop, so that under load few results come back to it at once: what hundreds of
    conversations go on to do is spread over many turns of the loop instead of one long one.
    """

    def __init__(self, threads: int = 2) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="memory")
        self._turns = asyncio.Semaphore(threads + _READY)

    async def __call__(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Await the call's result; its exceptions pass through. Calls begin in the order they were made."""
        async with self._turns:
            return await asyncio.get_running_loop().run_in_executor(self._pool, partial(function, *args, **kwargs))

    def close(self) -> None:
        """Wait for running calls and stop the threads. Closing twice is fine."""
        self._pool.shutdown(wait=True)

"""The one hand-over from the asynchronous bot to synchronous memory: every call runs on this small pool of threads."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class OffLoop:
    """Runs blocking calls beside the event loop. Few threads: SQLite has one writer, the embedder one core."""

    def __init__(self, threads: int = 4) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="memory")

    async def __call__(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Await the call's result; its exceptions pass through."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(function, *args, **kwargs))

    def close(self) -> None:
        """Wait for running calls and stop the threads. Closing twice is fine."""
        self._pool.shutdown(wait=True)

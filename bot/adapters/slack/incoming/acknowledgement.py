"""Acknowledges clicks and commands: after the work if that is quick, else before Slack's time limit.

Slack shows an interaction as failed if it is not acknowledged within three seconds, and does not send it again. The
acknowledgement waits for the work, so that real failures are shown, but not beyond that limit.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

log = logging.getLogger(__name__)

Ack = Callable[..., Awaitable[object]]

DEADLINE_S = 2.0


class TimelyAcknowledgement:
    """Runs the handler of an interaction and acknowledges it in time."""

    def __init__(self) -> None:
        self._working: set[asyncio.Task[None]] = set()

    async def __call__(self, ack: Ack, work: Coroutine[Any, Any, None]) -> None:
        """Acknowledge when the work is done, or when it takes long. Raises what the work raises in time."""
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        done, _ = await asyncio.wait({task}, timeout=DEADLINE_S)
        if done:
            task.result()
        else:
            task.add_done_callback(_log_failure)
        await ack()

    async def finish(self) -> None:
        """Wait for work that was acknowledged before it was done."""
        await asyncio.gather(*self._working, return_exceptions=True)


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("failed to handle an acknowledged event: %s", error, exc_info=error)

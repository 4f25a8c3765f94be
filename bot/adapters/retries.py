"""Trying again while a platform is out of reach."""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from bot.errors import MessengerError, MessengerUnavailable, RateLimited

T = TypeVar("T")

log = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[None]]
"""How a messenger waits."""
TRIES = 3
"""Calls that may be repeated are made this often."""
_LONGEST_PAUSE_S = 60.0


async def retried(call: Callable[[], Awaitable[T]], sleep: Sleep, tries: int = TRIES) -> T:
    """The answer of a call that is made again when it raises `MessengerUnavailable`."""
    for attempt in range(1, tries):
        try:
            return await call()
        except MessengerUnavailable:
            await sleep(attempt)
    return await call()


async def until_reachable(
    connect: Callable[[], Awaitable[object]], sleep: Sleep, platform: str, *, as_asked: bool = False
) -> None:
    """Try again, ever more slowly, for as long as the platform is out of reach. Raises every other error.

    `as_asked`: it waits as long as the platform asks to, where that is longer.
    """
    pause_s = 1.0
    while True:
        try:
            await connect()
        except MessengerError as error:
            if not error.retryable:
                raise
            asked_s = error.retry_after_s if as_asked and isinstance(error, RateLimited) else 0.0
            wait_s = max(pause_s, asked_s)
            log.warning("not connected to %s, trying again in %g s: %s", platform, wait_s, error)
            await sleep(wait_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        else:
            return

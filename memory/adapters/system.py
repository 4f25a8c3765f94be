"""The system's clock and the source of ids. All other code takes them as parameters."""

import secrets
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from memory.ports import Clock


def utc_now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)


class TimeOrderedIds:
    """Ids of 24 hexadecimal digits that sort by creation: microseconds since 1970, then 40 random bits.

    Each id of one instance is larger than the one before, even if the clock stops or runs backwards.
    """

    def __init__(self, clock: Clock = utc_now, chance: Callable[[int], int] = secrets.randbits) -> None:
        self._clock = clock
        self._chance = chance
        self._last = 0
        self._lock = threading.Lock()

    def __call__(self) -> str:
        """A new id."""
        with self._lock:
            now = int(self._clock().timestamp() * 1_000_000)
            self._last = max(now, self._last + 1)
            return f"{self._last:014x}{self._chance(40):010x}"

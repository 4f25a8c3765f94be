"""Limits how often something may be done, by key."""

import time
from collections.abc import Callable, Hashable

_MOST_KEPT = 1000


class TokenBuckets:
    """A token bucket for each key: `per_minute` tokens a minute, and at most as many at once."""

    def __init__(self, per_minute: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._monotonic = monotonic
        self._left: dict[Hashable, tuple[float, float]] = {}

    def wait_s(self, *keys: Hashable) -> float:
        """0, or the seconds until each of these keys has a token."""
        return max(0.0, *((1 - self._now(key)) * 60 / self._per_minute for key in keys))

    def take(self, *keys: Hashable) -> None:
        """Take a token of each, also one that is not there yet. Full buckets are dropped, which bounds the size."""
        now = self._monotonic()
        for key in keys:
            self._left[key] = (self._now(key) - 1, now)
        if len(self._left) > _MOST_KEPT:
            self._left = {key: kept for key, kept in self._left.items() if self._now(key) < self._per_minute}

    def _now(self, key: Hashable) -> float:
        now = self._monotonic()
        left, since = self._left.get(key, (float(self._per_minute), now))
        return min(self._per_minute, left + (now - since) * self._per_minute / 60)

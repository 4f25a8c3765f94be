"""A bounded cache with an expiry time, which can still return an expired entry (`last`)."""

from collections import OrderedDict
from collections.abc import Hashable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from memory.ports import Clock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class TtlCache(Generic[K, V]):
    """At most `size` entries, none older than `ttl`; the oldest go first."""

    def __init__(self, clock: Clock, *, size: int, ttl: timedelta) -> None:
        self._clock = clock
        self._size = size
        self._ttl = ttl
        self._entries: OrderedDict[K, tuple[datetime, V]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The value of a key, unless it expired."""
        entry = self._entries.get(key)
        if entry is None or self._clock() - entry[0] > self._ttl:
            return None
        return entry[1]

    def last(self, key: K) -> V | None:
        """The value of a key, even if it expired, unless newer entries displaced it."""
        entry = self._entries.get(key)
        return None if entry is None else entry[1]

    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""
        self._entries[key] = (self._clock(), value)
        self._entries.move_to_end(key)
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)

    def drop(self, key: K) -> None:
        """Remove a key."""
        self._entries.pop(key, None)

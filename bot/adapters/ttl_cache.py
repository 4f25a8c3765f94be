"""A bounded memory of what was seen lately: losing it costs a look-up, never an answer."""

from collections import OrderedDict
from collections.abc import Hashable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from memory.ports import Clock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class TtlCache(Generic[K, V]):
    """At most `size` entries, none older than `keep`; the oldest go first."""

    def __init__(self, clock: Clock, *, size: int, keep: timedelta) -> None:
        self._clock = clock
        self._size = size
        self._keep = keep
        self._entries: OrderedDict[K, tuple[datetime, V]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """What was put there, if it is still remembered."""
        entry = self._entries.get(key)
        if entry is None or self._clock() - entry[0] > self._keep:
            return None
        return entry[1]

    def last(self, key: K) -> V | None:
        """What was put there, however long ago, unless newer entries took its place."""
        entry = self._entries.get(key)
        return None if entry is None else entry[1]

    def put(self, key: K, value: V) -> None:
        """Remember it from now on."""
        self._entries[key] = (self._clock(), value)
        self._entries.move_to_end(key)
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)

    def drop(self, key: K) -> None:
        """Forget it now."""
        self._entries.pop(key, None)

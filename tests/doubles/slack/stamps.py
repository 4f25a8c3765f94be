"""Time stamps and ids as Slack makes them: unique, growing, and the same in every run."""

from collections import Counter
from collections.abc import Callable


class Stamps:
    """Hands out ids. `clock` gives seconds since the epoch."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last_us = 0
        self._counts: Counter[str] = Counter()

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._clock()

    def ts(self) -> str:
        """A message's `ts`: seconds and six digits, never the same twice."""
        self._last_us = max(self._last_us + 1, int(self._clock() * 1_000_000))
        seconds, micros = divmod(self._last_us, 1_000_000)
        return f"{seconds}.{micros:06d}"

    def id(self, prefix: str) -> str:
        """`Ev00000001`, `Ev00000002`, ..."""
        return f"{prefix}{self.number(prefix):08d}"

    def number(self, kind: str = "order") -> int:
        """1, 2, 3, ... for each kind. The plain one orders everything that crosses the wire."""
        self._counts[kind] += 1
        return self._counts[kind]

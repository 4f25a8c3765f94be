"""Discord's ids: text of digits that carry their time."""

from collections.abc import Callable
from datetime import UTC, datetime

DISCORD_EPOCH_MS = 1_420_070_400_000
_TIME_SHIFT = 22
"""The lowest 22 bits of an id number what was made within one millisecond; the rest is the time."""


class Snowflakes:
    """Each id is larger than the one before, even if the clock stands still or runs backwards."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._last = 0

    def __call__(self) -> str:
        """A fresh id."""
        milliseconds = int(self._clock().timestamp() * 1000) - DISCORD_EPOCH_MS
        self._last = max(milliseconds << _TIME_SHIFT, self._last + 1)
        return str(self._last)


def time_of(snowflake: str) -> datetime:
    """When an id was made."""
    return datetime.fromtimestamp(((int(snowflake) >> _TIME_SHIFT) + DISCORD_EPOCH_MS) / 1000, UTC)


def shard_of(guild_id: str, shard_count: int) -> int:
    """The shard that hears of a guild; direct messages (no guild) are shard 0's."""
    return (int(guild_id) >> _TIME_SHIFT) % shard_count if guild_id else 0

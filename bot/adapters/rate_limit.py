"""Limits the messages of one author in one conversation, against loops with other bots.

Other bots are ignored wherever a platform marks them. What is left is an account that only looks like a person's: two
such programs would answer each other for ever. A person who meets the limit is told so once in each rest, privately;
what they teach counts all the same, without a word, for a word might be answered.
"""

import logging
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.adapters.ttl_cache import TtlCache
from memory.ports import Clock

log = logging.getLogger(__name__)

_MOST_WATCHED = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The limit: after more than `most` messages within `window`, further ones are not taken in for `rest`."""

    most: int
    window: timedelta
    rest: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A message beyond the limit."""

    rest: timedelta
    """How long it goes on."""
    is_first: bool
    """Whether it is the first of this rest: the one to say so at."""


LIMITS = (
    Limit(most=20, window=timedelta(minutes=1), rest=timedelta(minutes=1)),
    Limit(most=120, window=timedelta(hours=1), rest=timedelta(hours=1)),
)
"""The first catches programs that answer at once, the second those that take their time."""


class RateLimiter:
    """Counts messages for each key. A key names an author and a conversation."""

    def __init__(self, clock: Clock, limits: tuple[Limit, ...] = LIMITS) -> None:
        self._clock = clock
        self._limits = limits
        longest = max(max(limit.window, limit.rest) for limit in limits)
        self._recent: TtlCache[Hashable, list[datetime]] = TtlCache(clock, size=_MOST_WATCHED, keep=longest)
        self._resting: TtlCache[Hashable, datetime] = TtlCache(clock, size=_MOST_WATCHED, keep=longest)
        self._longest = longest

    def refused(self, key: Hashable) -> Refused | None:
        """Why one more message of this key is beyond the limit; None if it is within, and is counted."""
        now = self._clock()
        until = self._resting.get(key)
        if until is not None and now < until:
            return Refused(rest=until - now, is_first=False)
        recent = [at for at in self._recent.get(key) or () if now - at < self._longest]
        for limit in self._limits:
            if sum(now - at < limit.window for at in recent) >= limit.most:
                self._resting.put(key, now + limit.rest)
                log.warning("%s is above the rate limit and is not answered for %s", key, limit.rest)
                return Refused(rest=limit.rest, is_first=True)
        self._recent.put(key, [*recent, now])
        return None

"""How sure a share, a mean or a difference of two of them is: 95 % intervals. Pure.

Shares: Wilson's score interval, and Newcombe's method 10 for the difference of two (Statistics in Medicine 17, 1998,
873-890). Means: the normal interval with each group's own variance.
"""

import math
from dataclasses import dataclass

_Z = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate, and between what it lies with 95 % confidence."""

    value: float
    low: float
    high: float

    @property
    def holds_zero(self) -> bool:
        """Whether there may be nothing to it."""
        return self.low <= 0.0 <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Measured amounts, as their number, sum and sum of squares."""

    count: int
    sum: float
    squares: float

    @property
    def mean(self) -> float:
        """The mean; there must be one at least."""
        return self.sum / self.count

    @property
    def error(self) -> float:
        """The mean's variance; there must be two at least."""
        spread = max(0.0, self.squares - self.sum * self.mean)
        return spread / (self.count - 1) / self.count


def share(hits: int, total: int) -> Interval:
    """The share of a sample that is not empty."""
    value = hits / total
    middle = value + _Z**2 / (2 * total)
    reach = _Z * math.sqrt(value * (1 - value) / total + _Z**2 / (4 * total**2))
    scale = 1 + _Z**2 / total
    return Interval(value=value, low=max(0.0, (middle - reach) / scale), high=min(1.0, (middle + reach) / scale))


def difference_of_shares(one: Interval, other: Interval) -> Interval:
    """How much larger one share is than the other."""
    value = one.value - other.value
    low = value - math.hypot(one.value - one.low, other.high - other.value)
    high = value + math.hypot(one.high - one.value, other.value - other.low)
    return Interval(value=value, low=low, high=high)


def mean(sample: Moments) -> Interval:
    """The mean of at least two amounts."""
    reach = _Z * math.sqrt(sample.error)
    return Interval(value=sample.mean, low=sample.mean - reach, high=sample.mean + reach)


def difference_of_means(one: Moments, other: Moments) -> Interval:
    """How much larger one mean is than the other, each of at least two amounts."""
    value, reach = one.mean - other.mean, _Z * math.sqrt(one.error + other.error)
    return Interval(value=value, low=value - reach, high=value + reach)

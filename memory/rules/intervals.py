"""95 % confidence intervals of shares, means and their differences.

Shares: Wilson's score interval, and Newcombe's method 10 for the difference of two (Statistics in Medicine 17, 1998,
873-890). Means: the normal interval with each group's own variance.
"""

import math
from dataclasses import dataclass

_Z = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its 95 % confidence interval."""

    value: float
    low: float
    high: float

    @property
    def holds_zero(self) -> bool:
        """Whether the interval contains 0."""
        return self.low <= 0.0 <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """A sample as its count, sum and sum of squares."""

    count: int
    sum: float
    squares: float

    @property
    def mean(self) -> float:
        """The mean of one or more amounts."""
        return self.sum / self.count

    @property
    def error(self) -> float:
        """The variance of the mean, for two or more amounts."""
        spread = max(0.0, self.squares - self.sum * self.mean)
        return spread / (self.count - 1) / self.count


def share(hits: int, total: int) -> Interval:
    """The share of `hits` in a sample that is not empty."""
    value = hits / total
    middle = value + _Z**2 / (2 * total)
    reach = _Z * math.sqrt(value * (1 - value) / total + _Z**2 / (4 * total**2))
    scale = 1 + _Z**2 / total
    return Interval(value=value, low=max(0.0, (middle - reach) / scale), high=min(1.0, (middle + reach) / scale))


def difference_of_shares(one: Interval, other: Interval) -> Interval:
    """One share minus the other."""
    value = one.value - other.value
    low = value - math.hypot(one.value - one.low, other.high - other.value)
    high = value + math.hypot(one.high - one.value, other.value - other.low)
    return Interval(value=value, low=low, high=high)


def mean(sample: Moments) -> Interval:
    """The mean of at least two amounts."""
    reach = _Z * math.sqrt(sample.error)
    return Interval(value=sample.mean, low=sample.mean - reach, high=sample.mean + reach)


def difference_of_means(one: Moments, other: Moments) -> Interval:
    """One mean minus the other, each of at least two amounts."""
    value, reach = one.mean - other.mean, _Z * math.sqrt(one.error + other.error)
    return Interval(value=value, low=value - reach, high=value + reach)

"""95 % intervals: what is printed in Newcombe's papers of 1998, and laws."""

import pytest
from hypothesis import given, strategies as st

from memory.rules.intervals import Moments, difference_of_means, difference_of_shares, mean, share


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_shares(hits: int, total: int, low: float, high: float) -> None:
    found = share(hits, total)
    assert (found.value, round(found.low, 4), round(found.high, 4)) == (hits / total, low, high)


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
    ],
)
def test_differences_of_shares(one: tuple[int, int], other: tuple[int, int], low: float, high: float) -> None:
    found = difference_of_shares(share(*one), share(*other))
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_means() -> None:
    sample = Moments(count=4, sum=10.0, squares=30.0)  # 1, 2, 3, 4: variance 5/3
    found = mean(sample)
    assert (found.value, round(found.low, 4), round(found.high, 4)) == (2.5, 1.2348, 3.7652)
    between = difference_of_means(sample, Moments(count=2, sum=2.0, squares=2.0))
    assert (between.value, round(between.low, 4)) == (1.5, 0.2348)
    assert not between.holds_zero


@given(st.integers(1, 500).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))), st.integers(1, 9))
def test_more_of_the_same_is_surer(sample: tuple[int, int], times: int) -> None:
    hits, total = sample
    few, many = share(hits, total), share(hits * (times + 1), total * (times + 1))
    ends = [few.low, many.low, many.value, many.high, few.high]
    assert ends == pytest.approx(sorted(ends))
    assert difference_of_shares(few, few).holds_zero

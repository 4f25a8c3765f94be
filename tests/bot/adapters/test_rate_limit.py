"""The guard against loops: who writes like a program is not heard for a while."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st

from bot.adapters.rate_limit import LIMITS, Limit, RateLimiter

START = datetime(2026, 1, 1, tzinfo=UTC)


class Hand:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def test_a_program_that_answers_at_once_is_cut_off_and_heard_again_after_the_rest() -> None:
    clock = Hand()
    pace = RateLimiter(clock)
    assert [pace.refused("bot") is None for _ in range(21)] == [True] * 20 + [False]
    clock.now += timedelta(seconds=59)
    assert pace.refused("bot") is not None
    clock.now += timedelta(seconds=2)
    assert pace.refused("bot") is None


def test_a_program_that_takes_its_time_is_cut_off_within_the_hour() -> None:
    clock, heard = Hand(), 0
    pace = RateLimiter(clock)
    for _ in range(600):
        heard += pace.refused("bot") is None
        clock.now += timedelta(seconds=6)
    assert heard == 120


def test_a_busy_person_is_always_heard() -> None:
    clock = Hand()
    pace = RateLimiter(clock)
    for _ in range(500):
        assert pace.refused("ana") is None
        clock.now += timedelta(seconds=31)


def test_one_key_does_not_silence_another() -> None:
    pace = RateLimiter(Hand())
    while pace.refused("bot") is None:
        pass
    assert pace.refused("ana") is None


@given(st.lists(st.integers(min_value=0, max_value=90), max_size=200))
def test_never_more_than_the_limit_in_any_window(gaps_s: list[int]) -> None:
    clock = Hand()
    pace, heard = RateLimiter(clock), list[datetime]()
    for gap_s in gaps_s:
        clock.now += timedelta(seconds=gap_s)
        if pace.refused("x") is None:
            heard.append(clock.now)
    for limit in LIMITS:
        assert all(_within(heard, at, limit) <= limit.most for at in heard)


def _within(heard: list[datetime], at: datetime, limit: Limit) -> int:
    return sum(timedelta(0) <= at - other < limit.window for other in heard)

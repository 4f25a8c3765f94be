"""The fair gate gives the loop its turns between events; who writes like a program is not heard for a while."""

import asyncio
from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st

from bot.adapters.flow_control import LIMITS, FairGate, Limit, RateLimiter

START = datetime(2026, 1, 1, tzinfo=UTC)


async def test_one_passes_in_each_turn_of_the_loop_and_in_the_order_they_came() -> None:
    fair_gate, loop, turn = FairGate(), asyncio.get_running_loop(), 0
    passed: list[tuple[int, int]] = []

    def count() -> None:
        nonlocal turn
        turn += 1
        loop.call_soon(count)

    async def enter(number: int) -> None:
        await fair_gate.pass_through()
        passed.append((turn, number))

    loop.call_soon(count)
    await asyncio.gather(*(enter(number) for number in range(50)))
    assert [number for _, number in passed] == list(range(50))
    assert len({turn for turn, _ in passed}) == 50


async def test_one_that_gives_up_waiting_holds_nobody_up() -> None:
    fair_gate = FairGate()
    first, second, third = (asyncio.create_task(fair_gate.pass_through()) for _ in range(3))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(first, third)
    assert second.cancelled()


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

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from memory.rules.recurrence import MOST_APART, ONCE, Recurrence, Repeat, instant, next_due

BERLIN = ZoneInfo("Europe/Berlin")
MOMENTS = st.datetimes(datetime.fromisoformat("2026-01-01"), datetime.fromisoformat("2030-01-01"))
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]).map(
    ZoneInfo
)


def test_nine_is_nine_on_the_wall_in_summer_and_in_winter() -> None:
    first = datetime.fromisoformat("2026-10-24T09:00")
    due = [first.replace(tzinfo=BERLIN).astimezone(UTC)]
    for _ in range(2):
        following = next_due(first, BERLIN, Recurrence(Repeat.DAY), due[-1])
        assert following is not None
        due.append(following)
    assert due == [datetime(2026, 10, 24, 7, tzinfo=UTC), *(datetime(2026, 10, day, 8, tzinfo=UTC) for day in (25, 26))]


def test_a_time_that_clocks_skip_is_an_hour_later_and_one_shown_twice_is_the_first() -> None:
    assert instant(datetime.fromisoformat("2026-03-29T02:30"), BERLIN).astimezone(BERLIN).hour == 3
    assert instant(datetime.fromisoformat("2026-10-25T02:30"), BERLIN) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("repeat", "first", "after", "due"),
    [
        (ONCE, "2026-11-25T09:00", "2026-11-25T08:59", "2026-11-25T09:00"),
        (ONCE, "2026-11-25T09:00", "2026-11-25T09:00", None),
        (Recurrence(Repeat.WEEKDAY), "2026-11-27T09:00", "2026-11-27T09:00", "2026-11-30T09:00"),
        (Recurrence(Repeat.WEEK), "2026-11-23T09:00", "2026-12-10T00:00", "2026-12-14T09:00"),
        (Recurrence(Repeat.DAY, 3), "2026-11-23T09:00", "2026-11-24T00:00", "2026-11-26T09:00"),
        (Recurrence(Repeat.WEEK, 2), "2026-11-23T09:00", "2026-11-23T09:00", "2026-12-07T09:00"),
        (Recurrence(Repeat.MONTH, 3), "2026-11-30T09:00", "2026-11-30T09:00", "2027-02-28T09:00"),
        (Recurrence(Repeat.YEAR, 2), "2026-11-23T09:00", "2026-11-23T09:00", "2028-11-23T09:00"),
        (Recurrence(Repeat.MONTH), "2026-01-31T09:00", "2026-02-01T00:00", "2026-02-28T09:00"),
        (Recurrence(Repeat.MONTH), "2026-01-31T09:00", "2026-02-28T09:00", "2026-03-31T09:00"),
        (Recurrence(Repeat.YEAR), "2028-02-29T09:00", "2028-03-01T00:00", "2029-02-28T09:00"),
    ],
)
def test_when_it_is_due_next(repeat: Recurrence, first: str, after: str, due: str | None) -> None:
    utc = ZoneInfo("UTC")
    found = next_due(datetime.fromisoformat(first), utc, repeat, datetime.fromisoformat(after).replace(tzinfo=UTC))
    assert found == (datetime.fromisoformat(due).replace(tzinfo=UTC) if due else None)


@given(
    first=MOMENTS,
    zone=ZONES,
    repeat=st.builds(Recurrence, st.sampled_from(list(Repeat)[1:]), st.integers(1, MOST_APART)),
    after=MOMENTS,
)
def test_what_recurs_is_always_due_again_and_later(
    first: datetime, zone: ZoneInfo, repeat: Recurrence, after: datetime
) -> None:
    assert Recurrence.read(str(repeat)) == repeat
    moment = after.replace(tzinfo=UTC)
    due = next_due(first, zone, repeat, moment)
    assert due is not None
    assert due > moment
    assert due >= instant(first, zone)
    on_the_wall = due.astimezone(zone).replace(tzinfo=None)
    assert abs(on_the_wall - datetime.combine(on_the_wall.date(), first.time())) <= timedelta(hours=1)

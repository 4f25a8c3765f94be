from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.agent.tools.when import LONGEST, read_when
from bot.errors import ToolRetry
from memory.rules.recurrence import Recurrence

NOW = datetime(2026, 11, 24, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "first", "repeat"),
    [
        ("tomorrow at 9", "2026-11-25T09:00", ""),
        ("Tomorrow", "2026-11-25T09:00", ""),
        ("tomorrow morning at 8", "2026-11-25T08:00", ""),
        ("in 20 minutes", "2026-11-24T14:20", ""),
        ("in half an hour", "2026-11-24T14:30", ""),
        ("monday at 10", "2026-11-30T10:00", ""),
        ("next friday at 3pm", "2026-11-27T15:00", ""),
        ("friday afternoon", "2026-11-27T14:00", ""),
        ("at 9", "2026-11-25T09:00", ""),
        ("15:30", "2026-11-24T15:30", ""),
        ("tonight", "2026-11-24T20:00", ""),
        ("tomorrow at noon", "2026-11-25T12:00", ""),
        ("on 3 December at 14:30", "2026-12-03T14:30", ""),
        ("2027-01-31 08:15", "2027-01-31T08:15", ""),
        ("every day at 9", "2026-11-25T09:00", "day"),
        ("every evening at 19", "2026-11-24T19:00", "day"),
        ("daily at 7", "2026-11-25T07:00", "day"),
        ("every weekday at 8:30", "2026-11-25T08:30", "weekday"),
        ("every Monday at 10:00", "2026-11-30T10:00", "week"),
        ("every two weeks on Friday at 9", "2026-11-27T09:00", "2 week"),
        ("every other Monday at 10", "2026-11-30T10:00", "2 week"),
        ("every 3 days at 8:00", "2026-11-25T08:00", "3 day"),
        ("quarterly", "2026-11-25T09:00", "3 month"),
        ("every month", "2026-11-25T09:00", "month"),
    ],
)
def test_what_people_say(text: str, first: str, repeat: str) -> None:
    when = read_when(text, NOW)
    assert (when.first, when.repeat) == (datetime.fromisoformat(first), Recurrence.read(repeat))


def test_two_hours_are_two_hours_whatever_is_done_to_the_clocks() -> None:
    night = datetime(2026, 3, 29, 1, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert read_when("in 2 hours", night).first == datetime.fromisoformat("2026-03-29T04:30")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "blah",
        "x" * (LONGEST + 1),
        "every",
        "99:99",
        "at at at",
        "every 0 weeks",
        "every 99 days",
        "every two weekdays",
    ],
)
def test_what_is_no_time_is_answered_with_examples(text: str) -> None:
    with pytest.raises(ToolRetry, match="tomorrow at 9"):
        read_when(text, NOW)


def test_a_span_ends_when_it_is_over_and_a_time_begins_with_its_minute() -> None:
    now = NOW.replace(second=40)
    shown = [f"{read_when(text, now).first}" for text in ("in 1 minute", "in 30 seconds", "tomorrow at 9")]
    assert shown == ["2026-11-24 14:01:40", "2026-11-24 14:01:10", "2026-11-25 09:00:00"]

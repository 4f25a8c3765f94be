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
        ("tomorrow at three", "2026-11-25T03:00", ""),
        ("at nine o'clock", "2026-11-25T09:00", ""),
        ("8 o'clock in the evening", "2026-11-24T20:00", ""),
        ("in two hours", "2026-11-24T16:00", ""),
        ("in twenty-five minutes", "2026-11-24T14:25", ""),
        ("in 1 hour and 30 minutes", "2026-11-24T15:30", ""),
        ("in 3 days at noon", "2026-11-27T12:00", ""),
        ("in 2 days and 3 hours", "2026-11-26T17:00", ""),
        ("the day after tomorrow at 10", "2026-11-26T10:00", ""),
        ("December 3rd, 2027 at 3pm", "2027-12-03T15:00", ""),
        ("15 jan 10:00", "2027-01-15T10:00", ""),
        ("15.1.2027", "2027-01-15T09:00", ""),
        ("2027-01-31T08:15", "2027-01-31T08:15", ""),
        ("at 5:30pm", "2026-11-24T17:30", ""),
        ("tomorrow at half past 9", "2026-11-25T09:30", ""),
        ("at half past nine tomorrow", "2026-11-25T09:30", ""),
        ("quarter past five in the afternoon", "2026-11-24T17:15", ""),
        ("tomorrow at quarter to one", "2026-11-25T12:45", ""),
        ("tomorrow at quarter to 0", "2026-11-25T23:45", ""),
        ("in an hour and a half", "2026-11-24T15:30", ""),
        ("tomorrow at 2:15 pm", "2026-11-25T14:15", ""),
        ("tomorrow evening at 7", "2026-11-25T19:00", ""),
        ("friday afternoon at 3:30", "2026-11-27T15:30", ""),
        ("every evening at 7", "2026-11-24T19:00", "day"),
        ("every evening", "2026-11-24T18:00", "day"),
        ("every night at 10", "2026-11-24T22:00", "day"),
        ("every other morning at 6:30", "2026-11-25T06:30", "2 day"),
        ("this evening at 7", "2026-11-24T19:00", ""),
        ("this afternoon at 3", "2026-11-24T15:00", ""),
        ("tonight at 9", "2026-11-24T21:00", ""),
        ("tonight at 11:30 pm", "2026-11-24T23:30", ""),
        ("tomorrow night", "2026-11-25T20:00", ""),
    ],
)
def test_what_people_say(text: str, first: str, repeat: str) -> None:
    when = read_when(text, NOW)
    assert (when.first, when.repeat) == (datetime.fromisoformat(first), Recurrence.read(repeat))


@pytest.mark.parametrize(
    ("now", "text", "first"),
    [
        ("2026-11-30T21:50", "at 5", "2026-12-01T05:00"),
        ("2026-11-30T21:50", "at 23:00", "2026-11-30T23:00"),
        ("2026-12-31T21:50", "9:30", "2027-01-01T09:30"),
        ("2026-12-31T21:50", "noon", "2027-01-01T12:00"),
        ("2026-01-31T21:50", "every day at 7pm", "2026-02-01T19:00"),
        ("2026-01-31T21:50", "5 pm", "2026-02-01T17:00"),
        ("2026-12-31T21:50", "on the 1st at 9", "2027-01-01T09:00"),
        ("2026-11-30T21:50", "at 9 in the morning", "2026-12-01T09:00"),
        ("2026-11-30T12:00", "tomorrow at 5 in the afternoon", "2026-12-01T17:00"),
        ("2026-11-30T12:00", "monday at 5pm", "2026-11-30T17:00"),
        ("2026-11-30T12:00", "every Monday at 17:00", "2026-11-30T17:00"),
        ("2026-11-30T12:00", "next monday at 5pm", "2026-12-07T17:00"),
        ("2026-11-30T12:00", "on monday at 9", "2026-12-07T09:00"),
        ("2026-11-30T12:00", "5pm on monday", "2026-11-30T17:00"),
        ("2026-11-30T12:00", "on monday the 7th at 9", "2026-12-07T09:00"),
        ("2026-11-30T12:00", "on monday the 14th at 9", "2026-12-14T09:00"),
        ("2026-11-30T12:00", "friday 25 december", "2026-12-25T09:00"),
        ("2026-11-30T12:00", "on monday, 14 december at 10:00", "2026-12-14T10:00"),
        ("2026-11-15T12:00", "on the 15th", "2026-12-15T09:00"),
        ("2026-11-15T12:00", "the 15th at 14:30", "2026-11-15T14:30"),
        ("2026-01-31T12:00", "31st at 9", "2026-03-31T09:00"),
        ("2026-02-03T12:00", "every month on the 2nd at 5pm", "2026-03-02T17:00"),
    ],
)
def test_a_time_or_a_day_alone_is_the_next_one_also_where_a_month_ends(now: str, text: str, first: str) -> None:
    assert read_when(text, datetime.fromisoformat(now).replace(tzinfo=UTC)).first == datetime.fromisoformat(first)


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
        "tomorrow at 25:00",
        "on friday at 9:60",
        "tomorrow at 13pm",
        "on the 32nd at 9",
        "the 0th",
        "friday 24 december",
        "on monday the 8th",
        "in july on monday",
        "next year tomorrow",
        "tonight at 1",
        "tonight at 12",
        "9",
        "in 10",
        "friday 5",
        "5 on friday",
        "every monday 9",
        "tomorrow 17",
        "17.30 tomorrow",
        "tomorrow 9-10am",
        "in 1h30",
        "in 5 hours at 9:00",
        "tomorrow at nine thirty",
        "at half to nine tomorrow",
        "tomorrow week",
        "this week",
        "1/2",
        "3.12.",
        "tomorrow at 9am pst",
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

"""When something that recurs is due, by the clock on the wall of a time zone, across daylight saving."""

from calendar import monthrange
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import StrEnum

_FAR = 400
"""Days within which every rule has a next time, but for the last of February."""


class Repeat(StrEnum):
    """How often something is due."""

    ONCE = ""
    DAY = "day"
    WEEKDAY = "weekday"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


def instant(local: datetime, zone: tzinfo) -> datetime:
    """The moment when clocks in a zone show this: the first of two, and an hour later where they skip it."""
    return local.replace(tzinfo=zone).astimezone(UTC)


def next_due(first: datetime, zone: tzinfo, repeat: Repeat, after: datetime) -> datetime | None:
    """The first moment after another one, of something that was due first at a local time; None if that is over.

    What is due on the 31st is due on the last day of shorter months.
    """
    if repeat is Repeat.ONCE:
        due = instant(first, zone)
        return due if due > after else None
    day = max(first.date(), after.astimezone(zone).date())
    for _ in range(_FAR):
        if _is_due(first.date(), day, repeat):
            due = instant(datetime.combine(day, first.time()), zone)
            if due > after:
                return due
        day += timedelta(days=1)
    return None


def _is_due(first: date, day: date, repeat: Repeat) -> bool:
    match repeat:
        case Repeat.DAY:
            return True
        case Repeat.WEEKDAY:
            return day.weekday() < 5
        case Repeat.WEEK:
            return (day - first).days % 7 == 0
        case _:
            is_day = day.day == min(first.day, monthrange(day.year, day.month)[1])
            return is_day and (repeat is Repeat.MONTH or day.month == first.month)

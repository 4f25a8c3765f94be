"""Due times of recurring things in a time zone's local time, across daylight saving."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import StrEnum

_DAYS_SEARCHED = 400
"""Days that are searched for the next time, multiplied by `Recurrence.every`."""
MOST_APART = 60
"""The largest `Recurrence.every`."""


class Repeat(StrEnum):
    """The unit of a recurrence."""

    ONCE = ""
    DAY = "day"
    WEEKDAY = "weekday"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Recurrence:
    """How often something is due: each week, every 2 weeks."""

    unit: Repeat = Repeat.ONCE
    every: int = 1
    """1 to `MOST_APART`."""

    @classmethod
    def read(cls, text: str) -> "Recurrence":
        """Parse the result of `str`: `week`, `2 week`."""
        every, _, unit = text.rpartition(" ")
        return cls(Repeat(unit), int(every or 1))

    def __str__(self) -> str:
        return self.unit.value if self.every == 1 else f"{self.every} {self.unit.value}"


ONCE = Recurrence()


def instant(local: datetime, zone: tzinfo) -> datetime:
    """The UTC time of a naive local time in a zone: the first if it occurs twice, an hour later if it is skipped."""
    return local.replace(tzinfo=zone).astimezone(UTC)


def next_due(first: datetime, zone: tzinfo, repeat: Recurrence, after: datetime) -> datetime | None:
    """The first due time after `after`, in UTC, of something first due at a naive local time; None if there is none.

    In months without its day, it is due on their last day.
    """
    if repeat.unit is Repeat.ONCE:
        due = instant(first, zone)
        return due if due > after else None
    day = max(first.date(), after.astimezone(zone).date())
    for _ in range(_DAYS_SEARCHED * repeat.every):
        if _is_due(first.date(), day, repeat):
            due = instant(datetime.combine(day, first.time()), zone)
            if due > after:
                return due
        day += timedelta(days=1)
    return None


def _is_due(first: date, day: date, repeat: Recurrence) -> bool:
    days, every = (day - first).days, repeat.every
    months = (day.year - first.year) * 12 + day.month - first.month
    match repeat.unit:
        case Repeat.DAY:
            return days % every == 0
        case Repeat.WEEKDAY:
            return day.weekday() < 5
        case Repeat.WEEK:
            return days % (7 * every) == 0
        case _:
            apart = every if repeat.unit is Repeat.MONTH else 12 * every
            return months % apart == 0 and day.day == min(first.day, monthrange(day.year, day.month)[1])

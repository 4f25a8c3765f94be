"""The calendar that times are kept in: years 1 to 9999, in UTC."""

from datetime import UTC, datetime


def is_in_calendar(moment: datetime) -> bool:
    """Whether an aware time has a date in UTC. Near the ends of the calendar a time zone may put it outside."""
    if moment.tzinfo is UTC:
        return True
    try:
        moment.astimezone(UTC)
    except OverflowError:
        return False
    return True

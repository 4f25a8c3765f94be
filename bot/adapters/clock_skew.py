"""The difference between this machine's clock and a platform's, by the `Date` header of its answers."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from bot.adapters.check_result import CheckResult, fault, fine, warning

WARN = timedelta(seconds=60)

_REMEDY = "let this machine keep its time by NTP, for example timedatectl set-ntp true"


def clock_finding(code: str, platform: str, date: str, now: datetime, *, limit: timedelta | None = None) -> CheckResult:
    """Compare `now` with a `Date` header, which has whole seconds.

    From `limit` on the platform's requests are refused; without one a wrong clock is only a warning.
    """
    try:
        there = parsedate_to_datetime(date)
    except ValueError:
        return fine(code, f"the clock was not compared: {platform} did not say what time it is")
    skew = now - (there if there.tzinfo else there.replace(tzinfo=UTC))
    side = "ahead of" if skew > timedelta(0) else "behind"
    what = f"this machine's clock is {abs(skew).total_seconds():.0f} s {side} {platform}'s"
    if limit is not None and abs(skew) >= limit:
        return fault(code, f"{what}: signed requests are refused", _REMEDY)
    if abs(skew) > WARN:
        return warning(code, f"{what}: what happened before and after a restart may be confused", _REMEDY)
    return fine(code, f"this machine's clock agrees with {platform}'s")

"""The result of one check of `goodbot doctor`: a stable code, a text and, where something is wrong, the remedy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from bot.config import DiscordSettings, SlackSettings
from bot.errors import MessengerError

WARN = timedelta(seconds=60)
"""The clock difference above which there is a warning."""
_REMEDY = "let this machine keep its time by NTP, for example timedatectl set-ntp true"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of one check. A result that is ok and has a remedy is a warning."""

    code: str
    what: str
    ok: bool = True
    remedy: str = ""


def passed(code: str, what: str) -> CheckResult:
    """A result that is ok."""
    return CheckResult(code=code, what=what)


def warning(code: str, what: str, remedy: str) -> CheckResult:
    """A result that is ok, with a remedy for what should be looked at."""
    return CheckResult(code=code, what=what, remedy=remedy)


def failed(code: str, what: str, remedy: str) -> CheckResult:
    """A result that is not ok, with the remedy."""
    return CheckResult(code=code, what=what, ok=False, remedy=remedy)


def request_failed(code: str, error: MessengerError, network: str) -> CheckResult:
    """The result of a failed request to a platform; `network` is the remedy if it cannot be reached."""
    return failed(code, str(error), network if error.retryable else "see the message")


def who_decides(
    code: str,
    settings: DiscordSettings | SlackSettings,
    groups: Mapping[str, str],
    named_in_chat: Sequence[str],
    remedy: str,
) -> CheckResult:
    """The result that tells who may approve for others; a warning with the remedy if nobody may.

    `groups` has the platform's groups in words, each with the value of its setting, as "teachers".
    """
    admins = [*(group for group, role in groups.items() if role == "admins"), *settings.admins]
    teachers = [
        *(group for group, role in groups.items() if role == "teachers"),
        *settings.teachers,
        *(f"{each} (named in chat)" for each in named_in_chat),
    ]
    if not admins and not teachers:
        return warning(code, "nobody may approve for others what people teach: it waits for ever", remedy)
    named = {"administrators": admins, "teachers": teachers}
    return passed(code, "; ".join(f"{role}: {', '.join(people)}" for role, people in named.items() if people))


def clock_result(code: str, platform: str, date: str, now: datetime, *, limit: timedelta | None = None) -> CheckResult:
    """Compare `now` with a `Date` header, which has whole seconds.

    A difference of `limit` or more is a fault, as the platform's requests are refused; otherwise a warning at most.
    """
    try:
        there = parsedate_to_datetime(date)
    except ValueError:
        return passed(code, f"the clock was not compared: {platform} did not say what time it is")
    skew = now - (there if there.tzinfo else there.replace(tzinfo=UTC))
    side = "ahead of" if skew > timedelta(0) else "behind"
    what = f"this machine's clock is {abs(skew).total_seconds():.0f} s {side} {platform}'s"
    if limit is not None and abs(skew) >= limit:
        return failed(code, f"{what}: signed requests are refused", _REMEDY)
    if abs(skew) > WARN:
        return warning(code, f"{what}: what happened before and after a restart may be confused", _REMEDY)
    return passed(code, f"this machine's clock agrees with {platform}'s")

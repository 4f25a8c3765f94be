"""Parses times in English: "tomorrow at 9", "in 20 minutes", "every weekday at 8:30"."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from bot.errors import ToolRetry
from memory.rules.recurrence import MOST_APART, ONCE, Recurrence, Repeat

LONGEST = 80
"""The most characters of a time."""
_WEEK = timedelta(days=7)
_MORNING = time(9)
"""The time of day if only a day is given."""
_EVERY = re.compile(
    r"(?:every|each)\s(?:(?P<every>\d{1,2}|other|second|third|fourth|two|three|four|five|six|ten|twelve)\s)?"
    r"(?P<unit>day|morning|afternoon|evening|night|weekday|week|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"s?\b(?P<rest>.*)"
)
_NUMBERS = {"": 1, "other": 2, "second": 2, "third": 3, "fourth": 4}
_NUMBERS |= {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10, "twelve": 12}
_ADVERBS = {
    "daily": Recurrence(Repeat.DAY),
    "weekly": Recurrence(Repeat.WEEK),
    "biweekly": Recurrence(Repeat.WEEK, 2),
    "fortnightly": Recurrence(Repeat.WEEK, 2),
    "monthly": Recurrence(Repeat.MONTH),
    "quarterly": Recurrence(Repeat.MONTH, 3),
    "yearly": Recurrence(Repeat.YEAR),
}
_UNITS = {
    "day": Repeat.DAY,
    "morning": Repeat.DAY,
    "afternoon": Repeat.DAY,
    "evening": Repeat.DAY,
    "night": Repeat.DAY,
    "weekday": Repeat.WEEKDAY,
    "week": Repeat.WEEK,
    "month": Repeat.MONTH,
    "year": Repeat.YEAR,
}
_BARE_HOUR = re.compile(r"\b(at\s)(\d{1,2})(?!\d|:|h|\s?[ap]\.?m)")
_HAS_TIME = re.compile(
    r"\d:\d\d|\d\s?[ap]\.?m|\bnoon\b|\bmidnight\b|\bin\s(?:an?|\d+|\w+)\s(?:min|h|sec)|\d\s(?:min|hour|hr|sec)"
)
_CLOCK = r"(?:at\s)?\d{1,2}(?::\d\d(?:\s?[ap]\.?m\.?)?|\s?[ap]\.?m\.?)"
_TIME_ALONE = re.compile(_CLOCK)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = r"(?:on\s)?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b,?"
_WEEKDAY_ALONE = re.compile(rf"(?:{_CLOCK}\s)?{_WEEKDAY}(?:\s{_CLOCK})?")
_DAY_OF_MONTH = re.compile(
    rf"(?:{_WEEKDAY}\s|on\s)?(?:the\s)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)(?:\s(?P<time>{_CLOCK}))?"
)
_NO_TIME = re.compile(
    r"(?<![\w:])(?:(?:2[4-9]|[3-9]\d):\d\d|\d{1,2}:[6-9]\d|(?:0|1[3-9]|[2-9]\d)(?::\d\d)?\s?[ap]\.?m)\b"
)
"""A time that no clock shows, such as 25:00 or 13pm. The parser would ignore it beside a day."""
_IS_SPAN = re.compile(r"in\s.*(?:hour|minute|min|second|sec)s?$")
_WORDS = {
    "half an hour": "30 minutes",
    "an hour and a half": "90 minutes",
    "noon": "12:00",
    "midday": "12:00",
    "midnight": "00:00",
    "this (?=(?:morning|afternoon|evening)\\b)": "today ",
    "tonight": "today night",
}
_IN_THE = re.compile(r"\b(at\s)?(0?[1-9]|1[0-2])(:\d\d)?\sin\sthe\s(morning|afternoon|evening)\b")
_DAY_PARTS = {"morning": "9:00", "afternoon": "14:00", "evening": "18:00", "night": "20:00"}
_LATE_PART = re.compile(r"\s(?:afternoon|evening|night)\b")
_LATE_HOUR = re.compile(r"\b(at\s(?:0?[1-9]|1[01])|(?:0?[1-9]|1[01])(?=:))(:\d\d)?(?!\d|:|\s?[ap]\.?m)")
"""A time of the clock's first half, which "tomorrow evening at 7" says of its second."""
_MAYBE_NEXT_DAY = re.compile(r"\snight\b.*\bat\s(?:0?[1-4]|12)(?!\d)|\bat\s(?:0?[1-4]|12)(?!\d).*\snight\b")
"""Nobody can tell of which day: "tonight at 1"."""
_HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SPELLED = "|".join(_HOURS)
_HOUR = re.compile(rf"\b(?:at\s)?(\d\d?|{_SPELLED})\so['’]clock\b|\bat\s({_SPELLED})\b")
_MINUTES = {"half past": 30, "quarter past": 15, "quarter to": 45}
_QUARTER = re.compile(rf"\b(?:at\s)?({'|'.join(_MINUTES)})\s(\d\d?|{_SPELLED})\b(?!:)")
_NUMBER = rf"(?:\d+(?:\.\d+)?\s?|(?:(?:{_SPELLED}|\w+teen|\w+ty)[\s-])+)"
_DAY, _YEAR = r"\d\d?(?:st|nd|rd|th)?", r"(?:,?\s\d{4}\b)?"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
_READ = re.compile(
    r"(?<![\d:.])(?P<clock>\d\d?(?:(?::\d\d){1,2}(?:\s?[ap]\.?m)?|\s?[ap]\.?m)\b)"
    rf"|(?P<span>{_NUMBER}(?:(?:hour|hr|minute|min|second|sec)s?|[hms])\b)|{_NUMBER}(?:day|week|month|year)s?\b"
    rf"|{_DAY}\.?\s?(?:of\s)?{_MONTH}{_YEAR}|{_MONTH}\.?\s{_DAY}\b(?!:){_YEAR}|\b\d{{4}}-\d\d?-\d\d?(?:t|\b)"
    r"|(?<![\d./])(?P<one>\d\d?)[./](?P<other>\d\d?)(?:[./]\d\d(?:\d\d)?)?(?!\d)\.?"
)
"""The numbers of a time that the parser reads. Others, as in "friday 5", it ignores or takes for a month."""
_UNREAD = re.compile(
    rf"\d|\b(?:{_SPELLED}|\w+teen|(?:twen|thir|for|fif)ty|half|quarter|past|this\s(?:week|month|year)"
    r"|(?:tomorrow|day)\sweek)\b"
)


@dataclass(frozen=True, slots=True)
class DueTime:
    """A local time, and how often it recurs."""

    first: datetime
    """Naive, in the person's time zone."""
    repeat: Recurrence = ONCE


def read_when(text: str, now: datetime) -> DueTime:
    """Read a time. `now` is aware, in the person's zone. Blocking. Raises `ToolRetry` with examples."""
    here, now = now, now.replace(tzinfo=None)
    words = " ".join(text.casefold().split()).strip(" .,!?")
    if not words or len(words) > LONGEST:
        raise _unclear(text)
    repeat, words = _repeat_of(words)
    plain = _plain(words)
    first = _parsed(plain, now) if words else datetime.combine(now.date(), _MORNING)
    if first is None or _is_other_day(plain, first, now):
        raise _unclear(text)
    is_next = words.startswith("next ")
    if not is_next and _WEEKDAY_ALONE.fullmatch(plain) and first - _WEEK > now:  # the parser never takes it for today
        first -= _WEEK
    is_span = _IS_SPAN.match(plain) is not None
    if is_span:  # elapsed time, also across a change to or from summer time
        first = (here.astimezone(UTC) + (first - now)).astimezone(here.tzinfo).replace(tzinfo=None)
    while first <= now and repeat != ONCE and first.date() >= now.date() - timedelta(days=1):
        first += timedelta(days=7 if repeat.unit is Repeat.WEEK else 1)
    return DueTime(first if is_span else first.replace(second=0, microsecond=0), repeat)  # a span keeps its seconds


def _repeat_of(words: str) -> tuple[Recurrence, str]:
    """The recurrence, and the rest of the text, which says when it begins."""
    adverb, _, rest = words.partition(" ")
    if adverb in _ADVERBS:
        return _ADVERBS[adverb], rest
    found = _EVERY.fullmatch(words)
    if found is None:
        return ONCE, words
    unit, rest, number = found["unit"], found["rest"].strip(), found["every"] or ""
    every = _NUMBERS.get(number) or int(number)
    if not 1 <= every <= MOST_APART or (every > 1 and unit == "weekday"):
        raise _unclear(words)
    if unit in _UNITS:
        return Recurrence(_UNITS[unit], every), f"{rest} {unit}" if unit in _DAY_PARTS else rest
    return Recurrence(Repeat.WEEK, every), f"{unit} {rest}".strip()


def _plain(words: str) -> str:
    """The text in words that dateparser understands."""
    for word, plain in _WORDS.items():
        words = re.sub(rf"\b{word}\b", plain, words)
    words = _QUARTER.sub(_clock_time, words)
    words = _HOUR.sub(lambda at: f"at {_digits(at[1] or at[2])}", words)
    words = _IN_THE.sub(lambda at: f"at {at[2]}{at[3] or ''} {'am' if at[4] == 'morning' else 'pm'}", words)
    if _MAYBE_NEXT_DAY.search(words):
        return ""
    if _LATE_PART.search(words):
        words = _LATE_HOUR.sub(lambda at: f"{at[1]}{at[2] or ':00'} pm", words)
    for part, at in _DAY_PARTS.items():
        words = words.replace(f" {part}", "" if _HAS_TIME.search(_BARE_HOUR.sub(r"\1\2:00", words)) else f" at {at}")
    words = words.replace("next ", "", 1) if re.match(r"next \w+day", words) else words
    return _BARE_HOUR.sub(r"\1\2:00", words).strip()


def _clock_time(at: re.Match[str]) -> str:
    """The time "at 9:30" for "half past nine"."""
    hour, minutes = int(_digits(at[2])), _MINUTES[at[1]]
    if minutes == 45:
        hour = 23 if hour == 0 else hour - 1 or 12
    return f"at {hour}:{minutes}"


def _digits(hour: str) -> str:
    return str(_HOURS.index(hour) + 1) if hour in _HOURS else hour


def _parsed(words: str, now: datetime) -> datetime | None:
    if _NO_TIME.search(words):
        return None
    # For these two the parser returns wrong months: of "at 9" on the last day of a month, and of "on the 1st".
    if _TIME_ALONE.fullmatch(words):
        found = _by_dateparser(f"today {words}", now)
        return found if found is None or found > now else found + timedelta(days=1)
    if of_month := _DAY_OF_MONTH.fullmatch(words):
        today = _by_dateparser(f"today {of_month['time']}", now) if of_month["time"] else None
        return _next_day_of_month(int(of_month["day"]), today.time() if today else _MORNING, now)
    return _by_dateparser(words, now) if _is_read(words) else None


def _is_read(words: str) -> bool:
    """Whether the parser reads all numbers of a text, which say one time."""
    found = list(_READ.finditer(words))
    clocks, spans = (sum(each[kind] is not None for each in found) for kind in ("clock", "span"))
    dates = [(int(each["one"]), int(each["other"])) for each in found if each["one"]]
    is_day = all(1 <= min(date) <= 12 and (max(date) > 12 or date[0] == date[1]) for date in dates)  # which is the day?
    return clocks + min(spans, 1) < 2 and is_day and _UNREAD.search(_READ.sub("", words)) is None


def _is_other_day(words: str, found: datetime, now: datetime) -> bool:
    """Whether the text names a day that the parser ignored: "friday 24 december", where that is a Thursday."""
    weekdays = {name for name in _WEEKDAYS if name in words}
    is_tomorrow = re.search(r"(?<!after )(?<!from )\btomorrow\b", words) is not None
    return (weekdays != set() and weekdays != {_WEEKDAYS[found.weekday()]}) or (
        is_tomorrow and found.date() != now.date() + timedelta(days=1)
    )


def _next_day_of_month(day: int, at: time, now: datetime) -> datetime | None:
    """The next time that it is this day of a month; months without it are left out. None if none has it."""
    for months in range(3):  # of two months in a row, one has any day up to the 31st
        years, month = divmod(now.month - 1 + months, 12)
        if 1 <= day <= monthrange(now.year + years, month + 1)[1]:
            found = datetime.combine(date(now.year + years, month + 1, day), at)
            if found > now:
                return found
    return None


def _by_dateparser(words: str, now: datetime) -> datetime | None:
    import dateparser  # takes 0.3 s, which a start does not need

    settings = {"PREFER_DATES_FROM": "future", "RELATIVE_BASE": now}
    try:
        found = dateparser.parse(words, languages=["en"], settings=settings)
    except (ValueError, OverflowError, RecursionError):
        return None
    if found is None or found.tzinfo is not None:
        return None  # of another time zone, where it may be another day
    naive: datetime = found
    if not _HAS_TIME.search(words) and (naive.date() != now.date() or naive.time() == time()):
        naive = datetime.combine(naive.date(), _MORNING)
    return naive


def _unclear(text: str) -> ToolRetry:
    return ToolRetry(
        f"I cannot tell when “{text[:LONGEST]}” is. Say it like: tomorrow at 9; in 20 minutes; on 3 December at 14:30; "
        "every Monday at 10; every two weeks on Friday at 9; every weekday at 8:30."
    )

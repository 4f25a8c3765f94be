"""Finds a request for a reminder: "remind me tomorrow at 9 to call Ana", "remind me to call Ana in 20 minutes"."""

import re
from collections.abc import Mapping

_LONGEST = 600
_WHEN_CHARACTERS = 80
_BEGIN = re.compile(
    r"(?:please\s|can\syou\s|could\syou\s|hey\s|and\s){0,3}(?:remind\sme|set\sa\sreminder)\b(?:\sfor\sme\b)?",
    re.IGNORECASE,
)
_TIME_WORD = re.compile(
    r"(?:in|at|on|every|each|next|this|the|a|an|of|and|day|after|before|today|tonight|tomorrow|noon|midnight|morning|"
    r"afternoon|evening|daily|weekly|biweekly|fortnightly|monthly|quarterly|yearly|"
    r"other|second|third|fourth|weekday|weekdays|week|month|year|hour|hours|minutes?|mins?|seconds?|"
    r"days|weeks|months|half|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|am|pm|o'clock|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|\d[\d:./-]{0,15}(?:st|nd|rd|th|am|pm|h)?|(?:half|quarter)_(?:past|to)_\w{1,10})",
    re.IGNORECASE,
)
_STARTS = frozenset(
    {"in", "at", "on", "every", "each", "next", "this", "today", "tonight", "tomorrow", "daily", "weekly", "monthly"}
    | {"biweekly", "fortnightly", "quarterly", "yearly"}
    | {"the", "noon", "midnight"}
    | {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
)
_PREPOSITIONS = frozenset({"in", "at", "on", "every", "each"})
_BELONGS = frozenset({"of", "before", "after", "until", "till", "from", "by", "since"})
"""Words after which a day is no time to remind at: "two days before friday", "the talk of monday"."""
_JOINS = (" to ", " that ", " about ", ": ")
_SPOKEN_TIME = re.compile(
    r"\b(half(?= past)|quarter) (past|to) "
    r"(?=\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)",
    re.IGNORECASE,
)
"""The beginning of "quarter to nine", which is one word while the request is read: its "to" joins nothing."""
_AS_ONE_WORD = re.compile(r"\b(half|quarter)_(past|to)_", re.IGNORECASE)


def find_reminder(goal: str) -> Mapping[str, str]:
    """`what` to remind of and `when`, in the words of the goal; empty if it asks for no reminder.

    `when` is empty if the goal says no time, as in "remind me to call Ana".
    """
    text = " ".join(goal.split()).rstrip(".!?")
    begin = _BEGIN.match(text) if len(text) <= _LONGEST else None
    if begin is None:
        return {}
    rest = _SPOKEN_TIME.sub(r"\1_\2_", f" {text[begin.end() :].strip(' ,')}")
    joins = sorted((at, join) for join in _JOINS if (at := rest.find(join)) >= 0)
    if not joins:
        return {}
    at, join = joins[0]
    found = _around(rest[:at].strip(" ,"), join, rest[at + len(join) :].strip())
    return {name: _AS_ONE_WORD.sub(r"\1 \2 ", words) for name, words in found.items()}


def _around(before: str, join: str, after: str) -> Mapping[str, str]:
    """What is asked for by the words before and after the one that joins them."""
    if before:
        is_time = all(word == "end" or _TIME_WORD.fullmatch(word) for word in before.replace(",", " ").split())
        return {"what": after, "when": before} if after and is_time else {}
    return _time_at_end(after) or ({"what": after, "when": ""} if after and join == " to " else {})


def _time_at_end(text: str) -> Mapping[str, str]:
    """Split a text before the words about time at its end."""
    words = text.split()
    first = len(words)
    while first > 0 and _TIME_WORD.fullmatch(words[first - 1].strip(",")):
        first -= 1
    start = next((at for at in range(first, len(words)) if words[at].casefold() in _STARTS), None)
    if not start:
        return {}
    if words[start - 1].casefold() in _BELONGS and words[start].casefold() not in _PREPOSITIONS:
        return {}
    when = " ".join(words[start:])
    return {"what": " ".join(words[:start]).rstrip(","), "when": when} if len(when) <= _WHEN_CHARACTERS else {}

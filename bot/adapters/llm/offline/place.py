"""Finds the place in a sentence: "what time is it in New York right now?" is about New York."""

import re

_SMALL = r"(?:de|da|do|del|la|le|of|the|and|sur|am)"
_CAPITALISED = r"[^\W\d_a-zà-ÿ][\w.'’/+-]*+"
# Possessive words with single spaces, so that a name can be matched in one way only.
_NAME = rf"{_CAPITALISED}(?: (?:{_SMALL}[ -])*{_CAPITALISED})*"
_LOWER_CASE = r"[^\W\d_][\w.'’/+-]*+(?: [^\W\d_][\w-]*+){0,2}"
_AFTER_PREPOSITION = re.compile(rf"\b(?:[Ii]n|IN|[Aa]t|[Ff]or)\s+(?:the\s+)?(?P<place>{_NAME}|{_LOWER_CASE})")
_BEFORE_TIME = re.compile(rf"(?P<place>{_NAME})(?P<time>\s++time\b)?")
_NOT_A_PLACE = re.compile(
    r"(?:moment|morning|afternoon|evening|night|noon|midnight|times?|days?|now|today|tomorrow|yesterday|weeks?|months?|"
    r"years?|minutes?|hours?|seconds?|general|advance|total|case|fact|me|us|you|all|home|work|our|my|your|it|this|that|"
    r"there|here|an?|what|which|january|february|march|april|may|june|july|august|september|october|november|december|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
_REST = re.compile(
    r"\s+(?:right\s+now|now|today|currently|at\s+the\s+moment|please|time|is\s+it|or|when|if|then|"
    r"and(?!\s+(?-i:[^\W\d_a-zà-ÿ]))|and\s+(?:who|what|which|when|where|why|how|is|are|do|does|can|tell|show))\b.*",
    re.IGNORECASE,
)
_ANOTHER = re.compile(rf"(?:,\s*+|(?:,|\s)\s*+(?P<and>and|&)\s++)(?:in\s++)?(?P<place>{_NAME})")
"""The continuation of a place with the next one: "in Paris, Tokyo and in Berlin"."""


def find_place(text: str) -> str:
    """The first place after "in", "at" or "for", or before "time"; empty if there is none.

    Places that follow it after "and", "&" or commas are included.
    """
    for match in _AFTER_PREPOSITION.finditer(text):
        place = _REST.sub("", match["place"])
        if place.strip(" .,'’") and not _NOT_A_PLACE.match(place):
            return _with_others(text, match.start("place"), match.start("place") + len(place))
    named = next((match["place"] for match in _BEFORE_TIME.finditer(text) if match["time"]), "")
    return "" if _ASKS.match(named) else named


def _with_others(text: str, start: int, end: int) -> str:
    """The place at this position, with the following ones up to the last "and" or "&"."""
    listed = end
    while (more := _ANOTHER.match(text, end)) is not None and not _NO_PLACE.match(more["place"]):
        end = more.end()
        listed = end if more["and"] or " and " in more["place"] else listed
    return text[start:listed].strip(" .,'’")


_NO_PLACE = re.compile(
    rf"{_NOT_A_PLACE.pattern}|(?:who|when|where|why|how|is|are|does?|did|can|could|will|please|i)\b", re.IGNORECASE
)
_ASKS = re.compile(r"(?:what|which|current|the|local|exact|tell|give|show|at|any|some|no)\b", re.IGNORECASE)

"""Reads a choice in words: "2", "the second one", "none of these", "yes" to a single option. Pure.

English and German only.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.conversation.feedback.approval_words import THUMB

_NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ORDINALS = ("first|erste", "second|zweite", "third|dritte", "fourth|vierte", "fifth|fünfte")
_CHOICE = re.compile(
    r"(?:(?:yes|yeah|yep|ok(?:ay)?|no|ja|nein)\b[,.!:\s]+)?\(?(?:(?:option|number|nr\.?|nummer|the|das|die|der|den)\s+|#)*"
    rf"(?:(?P<number>[1-9])(?:\ufe0f?\u20e3|(?P<th>st|nd|rd|th))?|:(?P<named>{'|'.join(_NAMES)}):"
    rf"|{'|'.join(f'(?P<n{n}>(?:{each})[rns]?)' for n, each in enumerate(_ORDINALS, start=1))}"
    r"|(?P<last>last|letzte[rns]?)"
    r"|(?P<none>(?:none|neither|kein(?:e[rs]?|s))(?: (?:of|davon|von)(?: (?:these|them|those|the above|beiden))?)?"
    r"|no|nope|nah|nein|nö|no thanks|nichts davon)"
    r"|(?P<yes>yes|yep|yeah|yup|ja|jo|sure|exactly|correct|genau|(?:that|this)(?: one|(?:'s| is) it)))"
    r"(?:\s+(?:one|option))?(?:[,\s]+(?:please|pls|thanks|thank you|bitte|danke))?[\s.!)]*",
    re.IGNORECASE,
)
_CONSENTS = re.compile(r"(?:ok(?:ay)?|go ahead|do it|please do|go for it|mach(?: das| es)?)[\s.!]*", re.IGNORECASE)
_ONE = re.compile(r"\b(?:the|one|option|das|die|der|den)\b", re.IGNORECASE)
"""In "the second one", which only chooses, where "second" alone may not."""
_NONE_OF = re.compile(r"none|neither|keine?[rs]?\b", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class ChoiceInWords:
    """What a message says about the options of the question before it."""

    number: int = 0
    """The number named, from 1; -1 for the last option; 0 if none is named."""
    is_place: bool = False
    """The number is certainly the place in the list ("the second")."""
    is_yes: bool = False
    is_none: bool = False
    consents: bool = False
    """It only lets something happen ("do it"), and names no option."""
    only_chooses: bool = False
    """It has no other sense, where "no" or "yes" may judge an answer."""


def read_choice(text: str) -> ChoiceInWords | None:
    """What a message chooses; None for any other message."""
    text = text.strip()
    if thumb := THUMB.fullmatch(text):
        is_up = thumb["up"] is not None
        return ChoiceInWords(is_yes=is_up, is_none=not is_up)
    found = _CHOICE.fullmatch(text)
    if found is None:
        return ChoiceInWords(consents=True) if _CONSENTS.fullmatch(text) else None
    number = int(found["number"] or 0) or (_NAMES.index(found["named"].lower()) + 1 if found["named"] else 0)
    place = next((n for n in range(1, len(_ORDINALS) + 1) if found[f"n{n}"]), -1 if found["last"] else 0)
    is_place = bool(place or found["th"])
    is_yes, is_none = found["yes"] is not None, found["none"] is not None
    only_chooses = bool(number or (place and _ONE.search(text)) or _NONE_OF.match(found["none"] or ""))
    return ChoiceInWords(number or place, is_place, is_yes=is_yes, is_none=is_none, only_chooses=only_chooses)


def number_of(choice: ChoiceInWords, text: str, options: Sequence[str]) -> int | None:
    """The number of the option that a message chooses, from 1; 0 if it is not clear which, None if it is none of them.

    `options` are their words. Who writes "2" to "In 5 minutes" and "In 2 minutes" may mean either.
    """
    same = [number for number, words in enumerate(options, start=1) if _bare(words) == _bare(text)]
    if len(same) == 1:
        return same[0]
    if choice.is_yes:
        return 1 if len(options) == 1 else 0
    number = len(options) if choice.number == -1 else choice.number
    if not 1 <= number <= len(options):
        return None
    others = [words for place, words in enumerate(options, start=1) if place != number]
    is_elsewhere = any(str(number) in _DIGITS.findall(words) for words in others)
    return 0 if is_elsewhere and not choice.is_place else number


def _bare(words: str) -> str:
    return words.strip(" .!“”\"'").casefold()

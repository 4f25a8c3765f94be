"""Similarity of embeddings and of texts, and the opposition of questions with similar words but different meanings.

Embeddings hardly distinguish such questions.
"""

import math
import re
from collections.abc import Sequence
from enum import Flag, auto
from typing import TYPE_CHECKING

from memory.rules.use_detection import content_words

if TYPE_CHECKING:
    from memory.model import Vector


COMPARED_CHARACTERS = 2_000
"""Characters of a text that are compared; embedders read no more than a few hundred words."""

_OPPOSITE_WORDS = (
    "open/close opening/closing start/end begin/end first/last before/after earliest/latest add/remove "
    "create/delete reset/delete install/uninstall enable/disable activate/deactivate lock/unlock mute/unmute on/off "
    "connect/disconnect subscribe/unsubscribe upload/download buy/sell arrive/leave join/leave login/logout "
    "minimum/maximum min/max increase/decrease allowed/forbidden can/cannot old/new internal/external "
    "morning/evening this/next this/last today/tomorrow yesterday/tomorrow summer/winter"
)
_OPPOSITES = tuple(pair.split("/") for pair in _OPPOSITE_WORDS.split())
_NAME = re.compile(r"(?<![.?!:] )(?<!^)\b(?:[A-Z][^\W\d_]+|[A-Z]{2,})\b|(?<![\w.])\d[\d.,:/-]*(?!\w)")
_NUMBER = re.compile(r"(?<![\w.])[A-Za-z]{0,3}\d[\d.,:/-]*(?!\w)")

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

_ASKED_FOR: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE))
    for kind, pattern in (
        ("count", r"how\s+(?:many|much)"),
        ("person", r"who|whose|whom"),
        ("place", r"where"),
        ("moment", r"when|what\s+time"),
        ("reason", r"why"),
    )
)


def cosine(left: "Sequence[float] | Vector | None", right: "Sequence[float] | Vector | None") -> float:
    """The cosine of two vectors, -1..1, rounded to 12 decimals so that 0.5 is exactly 0.5.

    0 if one is missing or zero, if dimensions differ, or if a number or the product is not finite.
    """
    if left is None or right is None or len(left) != len(right):
        return 0.0
    import numpy as np  # not for those who only import this module

    one, other = np.asarray(left, np.float64), np.asarray(right, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = math.sqrt(one @ one) * math.sqrt(other @ other)
        return _bounded(round(float(one @ other) / lengths, 12)) if 0 < lengths < math.inf else 0.0


def unit_cosine(left: "Vector", right: "Vector") -> float:
    """The cosine of two vectors of unit length, -1..1; 0 if dimensions differ or a number is not finite."""
    return _bounded(float(left @ right)) if len(left) == len(right) else 0.0


def _bounded(cosine: float) -> float:
    return max(-1.0, min(1.0, cosine)) if math.isfinite(cosine) else 0.0


def word_similarity(left: str, right: str) -> float:
    """The Dice coefficient of the content words of two texts, 0..1; 0 if either has none."""
    one, other = content_words(left), content_words(right)
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


class Opposition(Flag):
    """Ways in which two similar questions ask for different things."""

    NAME = auto()
    """Each has a proper name, an acronym or a number that the other does not mention."""
    NUMBER = auto()
    """Each has a number that the other lacks ("room 10", "room 105", "Q1")."""
    ASKED_FOR = auto()
    """They ask for different kinds of things (a place, a count, a person, ...)."""
    WORD = auto()
    """One has the opposite of a word of the other ("open", "close")."""


def opposition(one: str, other: str) -> Opposition:
    """All ways in which two questions ask for different things; falsy if there is none."""
    one, other = one[:COMPARED_CHARACTERS], other[:COMPARED_CHARACTERS]
    found = Opposition(0)
    if _has_name_missing_in(one, other) and _has_name_missing_in(other, one):
        found |= Opposition.NAME
    mine, yours = _numbers(one), _numbers(other)
    if mine - yours and yours - mine:
        found |= Opposition.NUMBER
    wanted, offered = _asked_for(one), _asked_for(other)
    if wanted and offered and wanted != offered:
        found |= Opposition.ASKED_FOR
    if _say_the_opposite(one, other):
        found |= Opposition.WORD
    return found


def are_opposed(one: str, other: str) -> bool:
    """Whether two questions ask for different things in any way."""
    return bool(opposition(one, other))


def words(text: str) -> list[str]:
    """The case-folded words of a text, without what follows an apostrophe."""
    return [re.split(r"['’]", word)[0] for word in _WORD.findall(text.casefold())]


def _numbers(text: str) -> set[str]:
    return {number.rstrip(".,:/-").casefold() for number in _NUMBER.findall(text)}


def _asked_for(question: str) -> str:
    """The kind of thing the question word asks for; empty for general words such as "what" and "how"."""
    return next((kind for kind, pattern in _ASKED_FOR if pattern.search(question)), "")


def _say_the_opposite(one: str, other: str) -> bool:
    mine, yours = _stems(set(words(one))), _stems(set(words(other)))
    return any(
        left in here and right in there and right not in here and left not in there
        for left, right in _OPPOSITES
        for here, there in ((mine, yours), (yours, mine))
    )


def _has_name_missing_in(one: str, other: str) -> bool:
    mentioned = other.casefold()
    return any(name.casefold() not in mentioned for name in _NAME.findall(one))


def _stems(found: set[str]) -> set[str]:
    """The words, and each without endings of verbs: "closes" gives "clos" and "close"."""
    long = [word for word in found if len(word) > 4]
    return found | {re.sub(ending, "", word) for ending in ("(?:e?s|e?d|ing)$", "[sd]$") for word in long}

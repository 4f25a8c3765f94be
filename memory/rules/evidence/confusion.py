"""How often taught answers are confused with each other: each lesson is asked for as if it had not been taught.

Where answers are about things that are much alike, more of what reaches a confidence is wrong than elsewhere, and the
threshold must be higher before anybody said so (leave-one-out cross-validation).
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from memory.rules.evidence.threshold import LOWEST, MOST_OF_ONE, share_wrong

USUAL = 10.0
"""How many wrong answers, of as many as are usual, the first guess stands for: that there is as much confusion as
elsewhere (measured: `memory/rules/evidence/README.md`)."""

MARGIN = 0.5
"""Standard errors by which more is taken to be wrong than was: that of a count is its root (Poisson)."""


class LeftOut(NamedTuple):
    """What would be answered to one lesson's question without the lesson, where another one teaches its answer, too."""

    author: str
    """Whose word it is by which the lesson counts for others; where nobody's is, whoever wrote it."""
    is_known: bool
    """Whether somebody's is."""
    confidence: float
    """0 where no other lesson teaches its answer, which tells nothing."""
    is_right: bool


def confusion(lessons: Iterable[LeftOut]) -> float:
    """How many times as many would be wrong as usually are at their confidence, above 0; 1 where nothing was taught.

    Pure; the order does not matter. Of several authors each counts for at most `MOST_OF_ONE` lessons, and for at most
    `USUAL` more or fewer wrong ones than usual, so that nobody more than halves it or much more than doubles it. Where
    somebody's word counts for others, nobody else counts: as for the threshold itself.
    """
    every = list(lessons)
    counted = [each for each in every if each.is_known] or every
    by_author: dict[str, list[LeftOut]] = {each.author: [] for each in counted}
    for each in counted:
        if each.confidence >= LOWEST / 100:
            by_author[each.author].append(each)
    wrong = expected = 0.0
    for of_one in by_author.values():
        wrong_of_one = float(sum(not each.is_right for each in of_one))
        expected_of_one = sum(share_wrong(each.confidence) for each in sorted(of_one))
        if len(by_author) > 1:
            share = min(1.0, MOST_OF_ONE / max(1, len(of_one)))
            wrong_of_one, expected_of_one = share * wrong_of_one, share * expected_of_one
            wrong_of_one = min(wrong_of_one, expected_of_one + USUAL)
            expected_of_one = min(expected_of_one, wrong_of_one + USUAL)
        wrong += wrong_of_one
        expected += expected_of_one
    return (wrong + MARGIN * math.sqrt(wrong) + USUAL) / (expected + USUAL)

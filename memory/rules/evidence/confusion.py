"""Confusion: how often taught answers are mistaken for each other, by leave-one-out cross-validation.

If answers are about similar things, more of those at a confidence are wrong than usual, and the threshold has to be
higher before anybody has judged answers.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from memory.rules.evidence.threshold import LOWEST, MOST_OF_ONE, share_wrong

PRIOR_WRONG = 10.0
"""The strength of the prior that confusion is 1, in expected wrong answers (measured:
`memory/rules/evidence/README.md`)."""

MARGIN = 0.5
"""Standard errors that are added to the count of wrong answers; that of a count is its square root (Poisson)."""


class LeftOut(NamedTuple):
    """The answer to a lesson's question without the lesson."""

    author: str
    """The person whose vote makes the lesson count for others; if there is none, its author."""
    is_known: bool
    """Whether there is such a person."""
    confidence: float
    """0 if no other lesson teaches the same answer: then the result is not counted."""
    is_right: bool


def confusion(lessons: Iterable[LeftOut]) -> float:
    """The ratio of wrong answers to those expected at their confidence (`share_wrong`), above 0; 1 without lessons.

    Pure; the order does not matter. Of several authors each counts for at most `MOST_OF_ONE` lessons, and for at most
    `PRIOR_WRONG` more or fewer wrong answers than expected, so that one author can halve it at most and hardly more
    than double it. If any lesson `is_known`, only these count, as for the threshold itself.
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
            wrong_of_one = min(wrong_of_one, expected_of_one + PRIOR_WRONG)
            expected_of_one = min(expected_of_one, wrong_of_one + PRIOR_WRONG)
        wrong += wrong_of_one
        expected += expected_of_one
    return (wrong + MARGIN * math.sqrt(wrong) + PRIOR_WRONG) / (expected + PRIOR_WRONG)

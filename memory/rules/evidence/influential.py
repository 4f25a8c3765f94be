"""Which lessons are worth showing: those that move the beliefs most, each of another candidate and of its true sign."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory.model.evidence import Evidence, InfluentialLesson

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Observation, Posterior

INFLUENTIAL = 0.05
"""The least a lesson must add to a belief, or take from it, to be worth showing."""


def influential_places(observations: Sequence["Observation"], found: "Posterior", *, is_sure: bool) -> list[int]:
    """The places of the lessons that may be shown, largest effect first.

    Only if all lessons about its candidate together say what it says: an approval that the others outweigh is not shown
    as right, a refusal that they outweigh not as wrong. Nor is a refusal of the best candidate, if that `is_sure`,
    whatever made it so.
    """
    import numpy as np

    if not observations:
        return []
    columns = np.array([each.candidates[0] for each in observations])
    signs = np.where([each.approves for each in observations], 1, -1)
    own = found.effects[np.arange(len(columns)), columns]
    together = np.bincount(columns, own, minlength=len(found.values))[columns]
    is_true = (signs * own >= INFLUENTIAL) & (signs * together > 0)
    may_be_wrong = np.ones(len(columns), bool) if not is_sure else columns != found.values.argmax()
    is_true &= np.where(signs > 0, found.values[columns] > 0, may_be_wrong)
    return [place for place in np.argsort(-np.abs(own).round(9), kind="stable").tolist() if is_true[place]]


def most_influential(influential: Sequence[InfluentialLesson], most: int) -> list[InfluentialLesson]:
    """At most so many of different candidates, best first: from two on of both signs, where there are both."""
    first: dict[int, InfluentialLesson] = {}
    for lesson in influential:
        first.setdefault(lesson.candidate, lesson)
    chosen = list(first.values())[:most]
    other = next((each for each in first.values() if chosen and each.approves != chosen[0].approves), None)
    if other is not None and most >= 2 and other not in chosen and len({each.approves for each in chosen}) == 1:
        chosen[-1] = other
    return chosen


def may_be_shown(influential: InfluentialLesson, evidence: Evidence, *, is_decided: bool) -> bool:
    """Whether it was decided; or is proposed, and for what the evidence is sure of, which may be followed then."""
    is_best = influential.approves and evidence.is_sure and influential.belief == evidence.beliefs[0].value
    return is_decided or is_best

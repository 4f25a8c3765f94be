"""Reliability of people: how often each refuses right answers, from their votes on nearly certain ones.

People refuse by mistake, or because they do not like an answer. The share of nearly certain answers (`CERTAIN`) that a
person refuses beyond `SLIPS` estimates how often. The judgements of such a person count less for the threshold
(`memory.rules.evidence.threshold`), and their thumbs count less as evidence (`memory.services.recall.evidence`).
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memory.model.evidence import JudgementCount

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix

CERTAIN = 40
"""Confidence, in hundredths, from which evidence is nearly certain."""
SLIPS = 0.02
"""The share of nearly certain answers that are wrong."""
PRIOR_JUDGEMENTS = 15.0
"""The weight of priors, in judgements on nearly certain answers: of the usual share for one person's share, and of
`SLIPS` for the usual share."""
INFORMATIVE_FROM = 5
"""How many of these judgements a person needs to count for the usual share."""
MOST_UNRELIABLE = 0.45
"""The limit of unreliability; at 0.5 a person's verdicts would be random."""
LEAST_RELIABLE = 0.4
"""The limit of reliability as evidence, because people who refuse much may be right about their own questions."""


class PeopleCounts(NamedTuple):
    """Counts of judgements by person and confidence."""

    actors: tuple[str, ...]
    """The people whose judgements count: those who count for others, or all if there are none."""
    judged: "Matrix"
    """Shape (people, 2, 101): how often each said right, and wrong, at each confidence in hundredths."""
    checked: "Matrix"
    """The same for judgements from which reliability is estimated (`Judgement.is_checked`)."""


def by_person(counts: Iterable[JudgementCount]) -> PeopleCounts:
    """The counts of the people who count, in alphabetical order. Pure; the order of the counts does not matter."""
    import numpy as np  # slow to import

    every = list(counts)
    every = [each for each in every if each.is_known] or every
    if not every:
        return PeopleCounts((), np.zeros((0, 2, 101)), np.zeros((0, 2, 101)))
    actors, confidences, are_right, _, are_checked, numbers = zip(*every, strict=True)
    people, rows = np.unique(actors, return_inverse=True)
    judged, checked = np.zeros((2, len(people), 2, 101))
    places = (rows, np.where(are_right, 0, 1), np.clip(confidences, 0, 100))
    np.add.at(judged, places, numbers)
    np.add.at(checked, places, np.multiply(numbers, are_checked))
    return PeopleCounts(tuple(people.tolist()), judged, checked)


def unreliability(judged: "Matrix") -> "Matrix":
    """Shape (people,): the share of right answers that each refuses, 0..`MOST_UNRELIABLE`.

    `judged` is `PeopleCounts.judged`. With few judgements a share is near the usual one (the median).
    """
    import numpy as np

    number, refused = _certain(judged)
    informative = number >= INFORMATIVE_FROM
    usual = float(np.median(refused[informative] / number[informative])) if informative.any() else SLIPS
    count = float(number[informative].sum())
    usual = (usual * count + PRIOR_JUDGEMENTS * SLIPS) / (count + PRIOR_JUDGEMENTS)
    return _beyond_slips(number, refused, usual)


def reliability(people: PeopleCounts) -> Mapping[str, float]:
    """The reliability of people who refuse right answers, `LEAST_RELIABLE` up to but not including 1, in steps of 0.01.

    It is 1 - 2u for the probability u of refusing a right answer; 0 would be random. People with 1 are left out,
    including those who approve of everything. Each has it from their own record alone: only from answers to their own
    questions, or those that another known member who did not ask approved. An asker can make the bot certain of
    anything for themself, and others may rightly refuse that; so it takes two people to harm the record of a third.
    """
    left = (1 - 2 * _beyond_slips(*_certain(people.checked), SLIPS)).clip(LEAST_RELIABLE, 1).round(2).tolist()
    return {actor: share for actor, share in zip(people.actors, left, strict=True) if share < 1}


def _certain(judged: "Matrix") -> "tuple[Matrix, Matrix]":
    """(Number of judgements on nearly certain answers, number of these that say wrong), each of shape (people,)."""
    certain = judged[:, :, CERTAIN:].sum(axis=2)
    return certain.sum(axis=1), certain[:, 1]


def _beyond_slips(number: "Matrix", refused: "Matrix", usual: float) -> "Matrix":
    """The share refused beyond `SLIPS`, shrunk to the usual share if there are few judgements."""
    shares: Matrix = ((refused + PRIOR_JUDGEMENTS * usual) / (number + PRIOR_JUDGEMENTS) - SLIPS).clip(
        0, MOST_UNRELIABLE
    )
    return shares

"""How often each person refuses what is right: their thumbs on answers whose evidence was nearly certain tell it.

People refuse by mistake, or because they did not like an answer. Where evidence is nearly certain (`CERTAIN`), what one
person refuses beyond `SLIPS` tells how often they do. The threshold counts the judgements of such a person for less
(`memory.rules.evidence.threshold`), and their thumbs say less as evidence (`memory.services.recall.evidence`).
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memory.model.evidence import JudgementCount

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix

CERTAIN = 40
"""Confidence, in hundredths, from which evidence is as good as certain ..."""
SLIPS = 0.02
"""... and the share of answers that are wrong all the same."""
ALIKE = 15.0
"""How many judgements on certain answers a person needs to be judged by these as much as by what is usual; and people
together, for what is usual to be judged by theirs as much as by `SLIPS`."""
INFORMATIVE_FROM = 5
"""How many of them a person needs to have a part in what is usual."""
MOST_UNRELIABLE = 0.45
"""At 0.5 a person's word would be chance."""
LEAST_RELIABLE = 0.4
"""The least that is left of a person's word as evidence: who refuses much may be right, about what is for them."""


class PeopleCounts(NamedTuple):
    """What people judged, by person and confidence."""

    actors: tuple[str, ...]
    """Those who count: whoever's word counts for others; everybody, where nobody's does."""
    judged: "Matrix"
    """Shape (people, 2, 101): how often each of them said right, and wrong, at each confidence in hundredths."""
    checked: "Matrix"
    """The same of the judgements that tell how far they can be relied on (`Judgement.is_checked`)."""


def by_person(counts: Iterable[JudgementCount]) -> PeopleCounts:
    """What those who count judged; people in alphabetical order. Pure; the order of the counts does not matter."""
    import numpy as np  # not for those who only import this module

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
    """Shape (people,): how often each of them refuses what is right, 0..`MOST_UNRELIABLE`, given what they judged.

    With few judgements a person is taken to be like most.
    """
    import numpy as np

    number, refused = _certain(judged)
    informative = number >= INFORMATIVE_FROM
    usual = float(np.median(refused[informative] / number[informative])) if informative.any() else SLIPS
    count = float(number[informative].sum())
    usual = (usual * count + ALIKE * SLIPS) / (count + ALIKE)
    return _beyond_slips(number, refused, usual)


def reliability(people: PeopleCounts) -> Mapping[str, float]:
    """How far the word of those people can be relied on who refuse what is right, `LEAST_RELIABLE`..1, in hundredths.

    It is 1 - 2u for whoever does so with the probability u: 1 for those who never do, who are left out, and 0 would be
    chance. Each is judged by their own record alone, and only by answers to what they asked themselves, or of which
    another known member approved who did not ask: an asker can teach the bot to be certain of anything, for themself
    alone, and others who refuse that are right. It takes two to have somebody refuse what is wrong and certain.
    Whoever approves of all they see has 1 as well: nobody is taken to approve of what is wrong.
    """
    left = (1 - 2 * _beyond_slips(*_certain(people.checked), SLIPS)).clip(LEAST_RELIABLE, 1).round(2).tolist()
    return {actor: share for actor, share in zip(people.actors, left, strict=True) if share < 1}


def _certain(judged: "Matrix") -> "tuple[Matrix, Matrix]":
    """How many judgements each person has on answers whose evidence was nearly certain, and how many say wrong."""
    certain = judged[:, :, CERTAIN:].sum(axis=2)
    return certain.sum(axis=1), certain[:, 1]


def _beyond_slips(number: "Matrix", refused: "Matrix", usual: float) -> "Matrix":
    """The share refused beyond what is wrong, drawn to what is usual where the number is small."""
    shares: Matrix = ((refused + ALIKE * usual) / (number + ALIKE) - SLIPS).clip(0, MOST_UNRELIABLE)
    return shares

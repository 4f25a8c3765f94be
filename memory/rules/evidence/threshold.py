"""Judgements of answers, and the confidence from which to answer: the lowest at which few enough would be wrong.

It is counted from what people said of answers and questions so far, by confidence (`Judgement`). For each threshold,
the share of wrong ones among those that reach it is estimated, and a margin is added for how few were judged; the
lowest threshold within the budget is taken. So where few react, less is answered and more is asked.

- **Before anybody said anything** a prior stands for `PRIOR` judgements. It is what was measured on labelled messages
  (`tests/README.md`), taken to be wrong more often than there (`_prior`). It needs no margin.
- **People refuse what is right**: by mistake, or because they did not like it. Where evidence is nearly certain
  (`CERTAIN`), what one person refuses beyond `SLIPS` tells how often they do. So many of their refusals are left out,
  and they count for less; who refuses everything counts for next to nothing. With few judgements there, a person is
  taken to be like most.
- **Nobody decides alone**: of several people, each counts for at most `MOST_OF_ONE` judgements at any threshold. So
  `k` people who approve of everything lower an estimate to `n / (n + k MOST_OF_ONE)` of itself at worst, where the
  others and the prior count `n`; and those who refuse raise it, so that the bot asks more than it need.
- Where somebody's word counts for others (`Judgement.is_known`), nobody else counts.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from memory.model import ASK, TAP, Episode, Reaction, Vote
from memory.model.evidence import Evidence, EvidenceRecord, Judgement, JudgementCount
from memory.rules.evidence.weighing import ANSWER
from memory.rules.retrieval.answer_words import AnswerWords
from memory.rules.verdict import CORRECTION, ballots, fold_votes

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix

LOWEST, HIGHEST = 5, 60
"""The bounds of a threshold, in hundredths."""
MARGIN = 1.4
"""Standard errors by which more of what people judged is taken to be wrong: that of a count is its root (Poisson)..."""
FEW = 4.0
"""... of so many more than were counted, less the root of these: the first refusal in a new workspace is no reason to
ask about everything, and only what many refused has the whole margin."""
COUNTED_WRONG = 35
"""How many of the newest judgements are counted: so many that this number is wrong where the budget is met. What people
ask and what was taught changes, so not more ..."""
FEWEST_COUNTED, MOST_COUNTED = 350, 3500
"""... and within these bounds."""
CERTAIN = 40
"""Confidence, in hundredths, from which evidence is as good as certain ..."""
SLIPS = 0.02
"""... and the share of answers that are wrong all the same."""
PRIOR = 100.0
"""How many judgements the prior stands for."""
ALIKE = 15.0
"""How many judgements on certain answers a person needs to be judged by these as much as by what is usual; and people
together, for what is usual to be judged by theirs as much as by `SLIPS`."""
INFORMATIVE_FROM = 5
"""How many of them a person needs to have a part in what is usual."""
MOST_UNRELIABLE = 0.45
"""At 0.5 a person's word would be chance."""
MOST_OF_ONE = 100.0
"""For how many judgements one person counts at most, where there are others."""

_CONFIDENCES = range(LOWEST - 1, HIGHEST + 1)
"""What is told apart: the first is all below the bounds, the last all above."""
_THRESHOLDS = _CONFIDENCES[1:]
_PRIOR_ABOVE, _PRIOR_WRONG_ABOVE = 0.22, 0.003
"""Of the prior's judgements, the share at the highest confidence, and the share of these that say wrong."""


def is_followed(evidence: Evidence, node: Episode) -> bool:
    """Whether a node did or said what the best belief is in."""
    best = next(iter(evidence.beliefs), None)
    if best is None or best.action != node.action:
        return False
    return best.action != ANSWER or AnswerWords.of(best.text).says_the_same_as(AnswerWords.of(node.output))


def without_implied(votes: Iterable[Vote], reactions: Iterable[Reaction]) -> list[Vote]:
    """The votes as they were if nobody had corrected the answer: what a correction implies, nobody was asked for.

    People correct what is wrong and leave what is right, so these would make far more of the answers look wrong than
    are. Whoever also said 👎 has that vote. `reactions` are all there are on the answer.
    """
    every = list(votes)
    if not any(_is_implied(each.source) for each in every):
        return every
    own = fold_votes(each for each in reactions if not _is_implied(each.source))
    own_votes = {(each.node_id, each.actor): each for each in own}
    found: list[Vote] = []
    for vote in every:
        if not _is_implied(vote.source):
            found.append(vote)
        elif own_vote := own_votes.get((vote.node_id, vote.actor)):
            found.append(replace(own_vote, is_limited=vote.is_limited, standing=vote.standing))
    return found


def _is_implied(source: str) -> bool:
    return source.startswith(f"{CORRECTION}:")


def judgements_of(
    root: Episode, evidence: EvidenceRecord, votes: Iterable[Vote], weights: Mapping[str, float]
) -> list[Judgement]:
    """One judgement for each voter who has one, by voter. Pure; the order of the votes does not matter.

    `evidence` is that of the answer's first node `root`, `weights` what each voter weighs for others. A vote on the
    best candidate says whether it was right. Whoever taps on another one says that it was not, and so does "none of
    these", which is a 👎 on the question. Any other vote says nothing of it; nor does what became of a question
    that was asked although the evidence was sure, as about another thing.
    """
    if not evidence.beliefs:
        return []
    confidence = min(100, max(0, int(evidence.confidence * 100 + 1e-9)))
    return [
        Judgement(
            workspace=root.workspace,
            run_id=root.run_id,
            actor=vote.actor,
            at=root.created_at,
            confidence=confidence,
            is_right=is_right,
            is_known=weights.get(vote.actor, 1.0) > 0 and not vote.is_limited,
        )
        for vote, is_right in _on_the_best(root, evidence, ballots(root, votes))
    ]


def _on_the_best(root: Episode, evidence: EvidenceRecord, votes: Iterable[Vote]) -> Iterator[tuple[Vote, bool]]:
    """The votes that say whether the best candidate was right, by voter."""
    for vote in sorted(votes, key=lambda vote: vote.actor):
        if evidence.is_sure and (root.action == ASK or vote.source == TAP):
            continue
        if evidence.is_followed:
            yield vote, vote.value > 0
        elif vote.value < 0 if root.action == ASK else vote.value > 0 and vote.source == TAP:
            yield vote, False


def threshold(counts: Iterable[JudgementCount], budget: float) -> float:
    """The confidence from which to answer, `LOWEST`..`HIGHEST` hundredths.

    `budget` is the share of answers that may be wrong, 0..1. Pure; the order of the counts does not matter. Below
    `CERTAIN`, more refusals never lower it and more approvals never raise it; nor does a larger budget.
    """
    judged, wrong = judged_from(counts)
    _, prior_wrong = _prior()
    for n, judged_there, wrong_there, expected in zip(_THRESHOLDS, judged, wrong, prior_wrong, strict=True):
        margin = MARGIN * (math.sqrt(max(0.0, wrong_there - expected) + FEW) - math.sqrt(FEW))
        if wrong_there + margin <= budget * judged_there:
            return n / 100
    return HIGHEST / 100


def newest_counted(budget: float) -> int:
    """How many of the newest judgements `threshold` is counted from, for the share of answers that may be wrong."""
    return min(MOST_COUNTED, max(FEWEST_COUNTED, round(COUNTED_WRONG / budget)))


def judged_from(counts: Iterable[JudgementCount]) -> tuple[Sequence[float], Sequence[float]]:
    """How many judgements count of what each threshold lets through, and how many of them say wrong; with the prior.

    For each threshold from `LOWEST` to `HIGHEST` hundredths.
    """
    import numpy as np  # not for those who only import this module

    people, prior_judged, prior_wrong = _by_person(counts), *_prior()
    if not len(people):
        return list(map(float, prior_judged)), list(map(float, prior_wrong))
    unreliable = _unreliability(people)
    approved, refused = (people[:, side, ::-1].cumsum(axis=1)[:, ::-1] for side in (0, 1))
    # Of what is right, as many are refused by mistake for each that is approved.
    wrong = np.maximum(0, refused - unreliable / (1 - unreliable) * approved)
    worth = (1 - 2 * unreliable) ** 2
    judged, wrong = (approved + wrong) * worth, wrong * worth
    if len(people) > 1:
        share_counted = np.minimum(1, MOST_OF_ONE / np.maximum(judged, 1e-9))
        judged, wrong = judged * share_counted, wrong * share_counted
    judged, wrong = judged.sum(axis=0)[1:] + prior_judged, wrong.sum(axis=0)[1:] + prior_wrong
    return list(map(float, judged)), list(map(float, wrong))


def _by_person(counts: Iterable[JudgementCount]) -> "Matrix":
    """Shape (people, 2, confidences): how often each of those who count said right, and wrong."""
    import numpy as np

    every = list(counts)
    every = [each for each in every if each.is_known] or every
    if not every:
        return np.zeros((0, 2, len(_CONFIDENCES)))
    actors, confidences, are_right, _, numbers = zip(*every, strict=True)
    people, rows = np.unique(actors, return_inverse=True)
    judged: Matrix = np.zeros((len(people), 2, len(_CONFIDENCES)))
    places = np.clip(confidences, _CONFIDENCES[0], HIGHEST) - _CONFIDENCES[0]
    np.add.at(judged, (rows, np.where(are_right, 0, 1), places), numbers)
    return judged


def _unreliability(people: "Matrix") -> "Matrix":
    """Shape (people, 1): how often each of them refuses what is right."""
    import numpy as np

    certain = people[:, :, CERTAIN - _CONFIDENCES[0] :].sum(axis=2)
    judged, refused = certain.sum(axis=1), certain[:, 1]
    informative = judged >= INFORMATIVE_FROM
    usual = float(np.median(refused[informative] / judged[informative])) if informative.any() else SLIPS
    count = float(judged[informative].sum())
    usual = (usual * count + ALIKE * SLIPS) / (count + ALIKE)
    own = (refused + ALIKE * usual) / (judged + ALIKE) - SLIPS
    unreliable: Matrix = np.clip(own, 0, MOST_UNRELIABLE)[:, None]
    return unreliable


@cache
def _prior() -> "tuple[Matrix, Matrix]":
    """At each threshold: of the prior's judgements, how many reach it, and how many of these say wrong.

    Of labelled messages in streams with reactions, corrections and mistakes, a fifth or so had a confidence of 0.6
    and more, and the others became rarer from 0.05 on; of those at confidence c, 0.01 + 0.47 exp(-9.5 c) were wrong. In
    a new workspace most messages are of a kind that nobody taught yet, so more is taken to be wrong.
    """
    import numpy as np

    middles = (np.array(_THRESHOLDS) + 0.5) / 100
    frequent = np.exp(-1.7 * middles)
    frequent[-1] = 0
    frequent *= (1 - _PRIOR_ABOVE) / frequent.sum()
    frequent[-1] = _PRIOR_ABOVE
    wrong = frequent * (0.02 + 0.6 * np.exp(-9 * middles))
    wrong[-1] = frequent[-1] * _PRIOR_WRONG_ABOVE
    judged, wrong = (PRIOR * each[::-1].cumsum()[::-1] for each in (frequent, wrong))
    return judged, wrong

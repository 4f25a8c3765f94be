"""Judgements of answers, and the confidence from which to answer: the lowest at which few enough would be wrong.

It is counted from what people said of answers and questions so far, by confidence (`Judgement`). For each threshold,
the share of wrong ones among those that reach it is estimated, and a margin is added for how few were judged; the
lowest threshold within the budget is taken. So where few react, less is answered and more is asked.

- **Before anybody said anything** a prior stands for `PRIOR` judgements. It is what was measured on labelled messages
  (`memory/rules/evidence/README.md`), taken to be wrong more often than there (`_prior`), and as many times more often
  as what was taught is confused with each other (`memory.rules.evidence.confusion`). It needs no margin.
- **People refuse what is right** (`memory.rules.evidence.reliability`). So many of their refusals are left out, and
  they count for less; who refuses everything counts for next to nothing.
- **Nobody decides alone**: of several people, each counts for at most `MOST_OF_ONE` judgements at any threshold. So
  `k` people who approve of everything lower an estimate to `n / (n + k MOST_OF_ONE)` of itself at worst, where the
  others and the prior count `n`; and those who refuse raise it, so that the bot asks more than it need.
- Where somebody's word counts for others (`Judgement.is_known`), nobody else counts.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from memory.model import ASK, TAP, Episode, Reaction, Vote
from memory.model.evidence import Evidence, EvidenceRecord, Judgement, JudgementCount, Threshold
from memory.rules.evidence.judged_lesson import ANSWER
from memory.rules.evidence.reliability import PeopleCounts, by_person, reliability, unreliability
from memory.rules.retrieval.answer_words import AnswerWords
from memory.rules.verdict import CORRECTION, ballots, fold_votes

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix

LOWEST, HIGHEST = 5, 60
"""The bounds of a threshold, in hundredths."""
MARGIN = 1.4
"""Standard errors by which more of what people judged is taken to be wrong: that of a count is its root (Poisson).
So many at a budget of `USUAL_BUDGET`, and the more, the smaller it is: whoever allows few wants to be surer of them,
..."""
USUAL_BUDGET = 0.05
FEW = 4.0
"""... of so many more than were counted, less the root of these: the first refusal in a new workspace is no reason to
ask about everything, and only what many refused has the whole margin."""
COUNTED_WRONG = 35
"""How many of the newest judgements are counted: so many that this number is wrong where the budget is met. What people
ask and what was taught changes, so not more ..."""
FEWEST_COUNTED, MOST_COUNTED = 350, 3500
"""... and within these bounds."""
PRIOR = 100.0
"""How many judgements the prior stands for."""
MOST_OF_ONE = 100.0
"""For how many judgements one person counts at most, where there are others."""

_THRESHOLDS = range(LOWEST, HIGHEST + 1)
_PRIOR_ABOVE, _PRIOR_WRONG_ABOVE = 0.22, 0.003
"""Of the prior's judgements, the share at the highest confidence, and the share of these that say wrong."""


def is_followed(evidence: Evidence, node: Episode) -> bool:
    """Whether a node did or said what the best belief is in."""
    best = evidence.best
    if best is None or best.action != node.action:
        return False
    return best.action != ANSWER or AnswerWords.of(best.text).says_the_same_as(AnswerWords.of(node.output))


def without_implied(votes: Iterable[Vote], reactions: Iterable[Reaction]) -> list[Vote]:
    """The votes as they were if nobody had corrected the answer: what a correction implies, nobody was asked for.

    People correct what is wrong and leave what is right, so these would make far more of the answers look wrong than
    are. Whoever also said 👎 has that vote. `reactions` are all there are on the answer.
    """
    every = list(votes)
    if not any(is_implied(each.source) for each in every):
        return every
    own = fold_votes(each for each in reactions if not is_implied(each.source))
    own_votes = {(each.node_id, each.actor): each for each in own}
    found: list[Vote] = []
    for vote in every:
        if not is_implied(vote.source):
            found.append(vote)
        elif own_vote := own_votes.get((vote.node_id, vote.actor)):
            found.append(replace(own_vote, is_limited=vote.is_limited, standing=vote.standing))
    return found


def is_implied(source: str) -> bool:
    """Whether a vote of this source only follows from a correction."""
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
    given = [
        (vote, is_right, weights.get(vote.actor, 1.0) > 0 and not vote.is_limited)
        for vote, is_right in _on_the_best(root, evidence, ballots(root, votes))
    ]
    approving = {vote.actor for vote, is_right, is_known in given if is_right and is_known} - {root.person}
    return [
        Judgement(
            workspace=root.workspace,
            run_id=root.run_id,
            actor=vote.actor,
            at=root.created_at,
            confidence=confidence,
            is_right=is_right,
            is_known=is_known,
            is_checked=vote.actor == root.person or not approving <= {vote.actor},
        )
        for vote, is_right, is_known in given
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


def threshold(counts: Iterable[JudgementCount], budget: float, confusion: float = 1.0) -> float:
    """The confidence from which to answer, `LOWEST`..`HIGHEST` hundredths.

    `budget` is the share of answers that may be wrong, 0..1; `confusion` how many times as many as usual are before
    anybody says so. Pure; the order of the counts does not matter. Below `CERTAIN`, more refusals never lower it and
    more approvals never raise it; nor does a larger budget, or less confusion.
    """
    return _lowest(*judged_from(counts, confusion), budget, confusion)


def first_threshold(budget: float) -> float:
    """The threshold where nobody judged anything yet."""
    return _lowest(*_prior(1.0), budget, 1.0)


def counted_threshold(
    workspace: str, counts: Iterable[JudgementCount], budget: float, confusion: float = 1.0
) -> Threshold:
    """The `threshold` of a workspace, and who cannot quite be relied on (`reliability`), as they are kept."""
    people = by_person(counts)
    return Threshold(
        workspace=workspace,
        budget=budget,
        value=_lowest(*_judged(people, confusion), budget, confusion),
        confusion=confusion,
        reliability=reliability(people),
    )


def _lowest(judged: Iterable[float], wrong: Iterable[float], budget: float, confusion: float) -> float:
    _, prior_wrong = _prior(confusion)
    errors = MARGIN * USUAL_BUDGET / budget
    for n, judged_there, wrong_there, expected in zip(_THRESHOLDS, judged, wrong, prior_wrong, strict=True):
        margin = errors * (math.sqrt(max(0.0, wrong_there - expected) + FEW) - math.sqrt(FEW))
        if wrong_there + margin <= budget * judged_there:
            return n / 100
    return HIGHEST / 100


def newest_counted(budget: float) -> int:
    """How many of the newest judgements `threshold` is counted from, for the share of answers that may be wrong."""
    return min(MOST_COUNTED, max(FEWEST_COUNTED, round(COUNTED_WRONG / budget)))


def judged_from(counts: Iterable[JudgementCount], confusion: float = 1.0) -> tuple[Sequence[float], Sequence[float]]:
    """How many judgements count of what each threshold lets through, and how many of them say wrong; with the prior.

    For each threshold from `LOWEST` to `HIGHEST` hundredths.
    """
    return _judged(by_person(counts), confusion)


def _judged(everybody: PeopleCounts, confusion: float) -> tuple[Sequence[float], Sequence[float]]:
    import numpy as np  # not for those who only import this module

    (actors, people, _), prior_judged, prior_wrong = everybody, *_prior(confusion)
    if not actors:
        return list(map(float, prior_judged)), list(map(float, prior_wrong))
    unreliable = unreliability(people)[:, None]
    approved, refused = (people[:, side, ::-1].cumsum(axis=1)[:, ::-1] for side in (0, 1))
    approved, refused = (each[:, LOWEST : HIGHEST + 1] for each in (approved, refused))
    # Of what is right, as many are refused by mistake for each that is approved.
    wrong = np.maximum(0, refused - unreliable / (1 - unreliable) * approved)
    worth = (1 - 2 * unreliable) ** 2
    judged, wrong = (approved + wrong) * worth, wrong * worth
    if len(actors) > 1:
        share_counted = np.minimum(1, MOST_OF_ONE / np.maximum(judged, 1e-9))
        judged, wrong = judged * share_counted, wrong * share_counted
    judged, wrong = judged.sum(axis=0) + prior_judged, wrong.sum(axis=0) + prior_wrong
    return list(map(float, judged)), list(map(float, wrong))


def share_wrong(confidence: float) -> float:
    """Of answers with this confidence, the share taken to be wrong before anybody says so.

    Of labelled messages in streams with reactions, corrections and mistakes it was 0.01 + 0.47 exp(-9.5 c). In a new
    workspace most messages are of a kind that nobody taught yet, so more is taken to be wrong.
    """
    return 0.02 + 0.66 * math.exp(-9 * confidence)


@lru_cache(maxsize=64)
def _prior(confusion: float) -> "tuple[Matrix, Matrix]":
    """At each threshold: of the prior's judgements, how many reach it, and how many of these say wrong.

    Of the same messages as `share_wrong`, a fifth or so had a confidence of 0.6 and more, and the others became rarer
    from 0.05 on.
    """
    import numpy as np

    middles = (np.array(_THRESHOLDS) + 0.5) / 100
    frequent = np.exp(-1.7 * middles)
    frequent[-1] = 0
    frequent *= (1 - _PRIOR_ABOVE) / frequent.sum()
    frequent[-1] = _PRIOR_ABOVE
    wrong = frequent * [share_wrong(each) for each in middles]
    wrong[-1] = frequent[-1] * _PRIOR_WRONG_ABOVE
    wrong = np.minimum(frequent, confusion * wrong)
    judged, wrong = (PRIOR * each[::-1].cumsum()[::-1] for each in (frequent, wrong))
    return judged, wrong

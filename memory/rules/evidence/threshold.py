"""The threshold: the lowest confidence at which few enough answers would be wrong.

It is computed from people's judgements of answers and questions (`memory.rules.verdict.judgements_of`). For each
possible threshold, the share of wrong ones among judgements that reach it is estimated, with a margin for small
numbers; the lowest threshold within the error budget is taken. So with few judgements, less is answered and more is
asked.

- **Prior.** It stands for `PRIOR_JUDGEMENTS` judgements, as measured on labelled messages
  (`memory/rules/evidence/README.md`), but wrong more often than there (`_prior`), and that times the confusion of
  taught answers (`memory.rules.evidence.confusion`). It needs no margin.
- **People refuse right answers** (`memory.rules.evidence.reliability`). The expected number of such refusals is left
  out, and these people's judgements count less; a person who refuses everything counts for next to nothing.
- **Nobody decides alone.** Of several people, each counts for at most `MOST_OF_ONE` judgements at any threshold. So `k`
  people who approve of everything lower an estimate to `n / (n + k MOST_OF_ONE)` of itself at worst, if the others and
  the prior count `n`. People who refuse raise it, and the bot asks more than needed.
- If anybody's judgements count for others (`Judgement.is_known`), only such judgements count.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from memory.model.evidence import JudgementCount, Threshold
from memory.rules.evidence.reliability import PeopleCounts, by_person, reliability, unreliability

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix

LOWEST, HIGHEST = 5, 60
"""The bounds of a threshold, in hundredths."""
MARGIN = 1.4
"""Standard errors that are added to the count of wrong judgements; that of a count is its square root (Poisson).
The margin is proportional to `USUAL_BUDGET / budget`, as a smaller budget needs more certainty."""
USUAL_BUDGET = 0.05
"""The error budget at which the margin has `MARGIN` standard errors."""
MARGIN_OFFSET = 4.0
"""Makes the margin `sqrt(wrong + MARGIN_OFFSET) - sqrt(MARGIN_OFFSET)` standard errors: a first refusal in a new
workspace adds little, and only many refusals have nearly the whole margin."""
COUNTED_WRONG = 35
"""As many of the newest judgements count as have this number of wrong ones at the budget. Older ones do not, because
questions and lessons change."""
FEWEST_COUNTED, MOST_COUNTED = 350, 3500
"""Limits of the number of judgements that count."""
PRIOR_JUDGEMENTS = 100.0
"""How many judgements the prior stands for."""
MOST_OF_ONE = 100.0
"""The most judgements for which one of several people counts."""

_THRESHOLDS = range(LOWEST, HIGHEST + 1)
_PRIOR_ABOVE, _PRIOR_WRONG_ABOVE = 0.22, 0.003
"""The share of the prior's judgements at the highest threshold, and the share of these that are wrong."""


def threshold(counts: Iterable[JudgementCount], budget: float, confusion: float = 1.0) -> float:
    """The confidence from which to answer, from `LOWEST` to `HIGHEST` hundredths.

    `budget` is the share of answers that may be wrong, 0..1; `confusion` multiplies the prior's wrong answers. Pure;
    the order of the counts does not matter. Below the confidence `CERTAIN`, more refusals never lower the threshold,
    and more approvals never raise it. A larger budget or less confusion never raises it.
    """
    return _lowest(*judged_from(counts, confusion), budget, confusion)


def first_threshold(budget: float) -> float:
    """The threshold without any judgements."""
    return _lowest(*_prior(1.0), budget, 1.0)


def counted_threshold(
    workspace: str, counts: Iterable[JudgementCount], budget: float, confusion: float = 1.0
) -> Threshold:
    """The `threshold` of a workspace and people's `reliability`, as they are stored."""
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
        margin = errors * (math.sqrt(max(0.0, wrong_there - expected) + MARGIN_OFFSET) - math.sqrt(MARGIN_OFFSET))
        if wrong_there + margin <= budget * judged_there:
            return n / 100
    return HIGHEST / 100


def newest_counted(budget: float) -> int:
    """How many of the newest judgements count for this error budget."""
    return min(MOST_COUNTED, max(FEWEST_COUNTED, round(COUNTED_WRONG / budget)))


def judged_from(counts: Iterable[JudgementCount], confusion: float = 1.0) -> tuple[Sequence[float], Sequence[float]]:
    """(Judgements that reach each threshold, those of them that say wrong), weighted, with the prior.

    Each has one number for each threshold from `LOWEST` to `HIGHEST` hundredths.
    """
    return _judged(by_person(counts), confusion)


def _judged(everybody: PeopleCounts, confusion: float) -> tuple[Sequence[float], Sequence[float]]:
    import numpy as np  # slow to import

    (actors, people, _), prior_judged, prior_wrong = everybody, *_prior(confusion)
    if not actors:
        return list(map(float, prior_judged)), list(map(float, prior_wrong))
    unreliable = unreliability(people)[:, None]
    approved, refused = (people[:, side, ::-1].cumsum(axis=1)[:, ::-1] for side in (0, 1))
    approved, refused = (each[:, LOWEST : HIGHEST + 1] for each in (approved, refused))
    # For each approved right answer, u / (1 - u) right ones are refused.
    wrong = np.maximum(0, refused - unreliable / (1 - unreliable) * approved)
    worth = (1 - 2 * unreliable) ** 2
    judged, wrong = (approved + wrong) * worth, wrong * worth
    if len(actors) > 1:
        share_counted = np.minimum(1, MOST_OF_ONE / np.maximum(judged, 1e-9))
        judged, wrong = judged * share_counted, wrong * share_counted
    judged, wrong = judged.sum(axis=0) + prior_judged, wrong.sum(axis=0) + prior_wrong
    return list(map(float, judged)), list(map(float, wrong))


def share_wrong(confidence: float) -> float:
    """The prior share of wrong answers at this confidence c.

    For labelled messages in streams with reactions, corrections and mistakes it was 0.01 + 0.47 exp(-9.5 c). It is
    higher here, because in a new workspace nothing similar was taught for most messages.
    """
    return 0.02 + 0.66 * math.exp(-9 * confidence)


@lru_cache(maxsize=64)
def _prior(confusion: float) -> "tuple[Matrix, Matrix]":
    """(The prior's judgements that reach each threshold, those of them that say wrong).

    Of the messages behind `share_wrong`, about a fifth had a confidence of at least 0.6; lower confidences were less
    frequent the higher they were, from 0.05 on.
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
    judged, wrong = (PRIOR_JUDGEMENTS * each[::-1].cumsum()[::-1] for each in (frequent, wrong))
    return judged, wrong

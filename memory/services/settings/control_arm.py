"""The control arm: a share of the runs that get no lessons, to measure what lessons are worth by comparison."""

from dataclasses import dataclass

from memory.model import Recollection, Scope, StageCounts
from memory.ports import ArmCount
from memory.rules.chat_settings import CONTROL_ARM
from memory.rules.control_arm import is_control
from memory.rules.intervals import Interval, Moments, difference_of_means, difference_of_shares, mean, share
from memory.services.core import Core
from memory.services.settings.chat_settings import settings_at

LEAST = 20
"""The fewest answers in each arm from which a difference is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMeasure:
    """One measure in both arms."""

    name: str
    with_lessons: Interval | None
    """None where nothing was measured, as in the fields below."""
    without: Interval | None
    difference: Interval | None
    """The difference: with lessons minus without."""
    least: int
    """The number of answers measured, in the arm that has fewer."""

    @property
    def is_enough(self) -> bool:
        """Whether there are enough answers to report a difference."""
        return self.difference is not None and self.least >= LEAST


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmComparison:
    """The comparison of both arms since the first run without lessons."""

    with_lessons: ArmCount
    without: ArmCount
    approved: ComparedMeasure
    """The share of the judged answers that people approved of."""
    corrected: ComparedMeasure
    """The share of the answers that were corrected."""
    cost: ComparedMeasure
    """US dollars for each answer."""


@dataclass(frozen=True, slots=True)
class ControlArm:
    """The use cases of runs without lessons, which are marked in their recalls (`Retrieval.is_control`)."""

    _core: Core

    def has(self, scope: Scope, run_id: str) -> bool:
        """Whether a run is in the control arm, by the share set in chat or else in the settings file."""
        with self._core.store.read() as tx:
            chosen = settings_at(self._core, tx, scope.workspace, scope.channel).get(CONTROL_ARM)
        share = float(chosen.value) if chosen else self._core.control_arm
        return is_control(run_id, share, self._core.chance)

    def recall(self, goal: str) -> Recollection:
        """The empty recall that such a run gets."""
        return Recollection(
            retrieval_id=self._core.new_id(),
            goal=goal,
            exemplars=(),
            counts=StageCounts(),
            vector=self._core.embedded(goal),
            is_control=True,
        )

    def compare(self, workspace: str) -> ArmComparison | None:
        """Compare the arms in a workspace; None if no run was without lessons. One SQL statement."""
        with self._core.store.read() as tx:
            arms = {each.is_control: each for each in tx.totals.arms(workspace)}
        if True not in arms:
            return None
        one, other = arms.get(False, ArmCount(is_control=False)), arms[True]
        return ArmComparison(
            with_lessons=one,
            without=other,
            approved=_shares(
                "approved",
                (one.approved, one.approved + one.rejected),
                (other.approved, other.approved + other.rejected),
            ),
            corrected=_shares("corrected", (one.corrected, one.answers), (other.corrected, other.answers)),
            cost=_means("cost", _costs(one), _costs(other)),
        )


def _shares(name: str, one: tuple[int, int], other: tuple[int, int]) -> ComparedMeasure:
    first, second = (share(hits, total) if total else None for hits, total in (one, other))
    between = difference_of_shares(first, second) if first and second else None
    return ComparedMeasure(
        name=name, with_lessons=first, without=second, difference=between, least=min(one[1], other[1])
    )


def _means(name: str, one: Moments, other: Moments) -> ComparedMeasure:
    first, second = (mean(each) if each.count > 1 else None for each in (one, other))
    between = difference_of_means(one, other) if first and second else None
    return ComparedMeasure(
        name=name, with_lessons=first, without=second, difference=between, least=min(one.count, other.count)
    )


def _costs(arm: ArmCount) -> Moments:
    return Moments(count=arm.answers, sum=arm.cost_usd, squares=arm.cost_squares)

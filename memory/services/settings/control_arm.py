"""The control arm: a share of the runs gets no lessons, so that what lessons are worth can be told from the others."""

from dataclasses import dataclass

from memory.model import Recollection, Scope, StageCounts
from memory.ports import ArmCount
from memory.rules.chat_settings import CONTROL_ARM
from memory.rules.control_arm import is_control
from memory.rules.intervals import Interval, Moments, difference_of_means, difference_of_shares, mean, share
from memory.services.core import Core
from memory.services.settings.chat_settings import settings_at

LEAST = 20
"""With fewer answers in an arm nothing is said of a difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One measure in both arms."""

    name: str
    with_lessons: Interval | None
    """None where nothing was measured; so below."""
    without: Interval | None
    difference: Interval | None
    """How much more it is with lessons."""
    least: int
    """The number of answers it rests on, in the arm that has fewer."""

    @property
    def is_enough(self) -> bool:
        """Whether there is enough to tell."""
        return self.difference is not None and self.least >= LEAST


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmComparison:
    """Both arms, since the first run without lessons."""

    with_lessons: ArmCount
    without: ArmCount
    approved: Compared
    """The share of the judged answers that people approved of."""
    corrected: Compared
    """The share of the answers that were corrected."""
    cost: Compared
    """US dollars for each answer."""


@dataclass(frozen=True, slots=True)
class ControlArm:
    """The use cases of runs without lessons. Which ones were is kept with their recalls (`Retrieval.is_control`)."""

    _core: Core

    def has(self, scope: Scope, run_id: str) -> bool:
        """Whether a run gets no lessons, by the share that was set in chat, else in the settings file."""
        with self._core.store.read() as tx:
            chosen = settings_at(self._core, tx, scope.workspace, scope.channel).get(CONTROL_ARM)
        share = float(chosen.value) if chosen else self._core.control_arm
        return is_control(run_id, share, self._core.chance)

    def recall(self, goal: str) -> Recollection:
        """What such a run gets for a goal: nothing."""
        return Recollection(
            retrieval_id=self._core.new_id(),
            goal=goal,
            exemplars=(),
            counts=StageCounts(),
            vector=self._core.embedded(goal),
            is_control=True,
        )

    def compare(self, workspace: str) -> ArmComparison | None:
        """What lessons changed in a workspace; None where no run went without. One statement."""
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


def _shares(name: str, one: tuple[int, int], other: tuple[int, int]) -> Compared:
    first, second = (share(hits, total) if total else None for hits, total in (one, other))
    between = difference_of_shares(first, second) if first and second else None
    return Compared(name=name, with_lessons=first, without=second, difference=between, least=min(one[1], other[1]))


def _means(name: str, one: Moments, other: Moments) -> Compared:
    first, second = (mean(each) if each.count > 1 else None for each in (one, other))
    between = difference_of_means(one, other) if first and second else None
    return Compared(
        name=name, with_lessons=first, without=second, difference=between, least=min(one.count, other.count)
    )


def _costs(arm: ArmCount) -> Moments:
    return Moments(count=arm.answers, sum=arm.cost_usd, squares=arm.cost_squares)

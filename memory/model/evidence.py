"""Evidence for a goal: beliefs in actions and answers, made of people's verdicts on similar goals."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, overload

RIVAL_DISCOUNT = 0.8
"""The share of the best rival's belief that is subtracted from the confidence (measured:
`memory/rules/evidence/README.md`)."""
PRIOR_DISCOUNT = 0.4
"""The share of the prior that is subtracted from the confidence, as descriptions promise too much (measured:
`memory/rules/evidence/README.md`)."""
MAX_UNTAUGHT = 0.12
"""The highest belief in an untaught candidate (`untaught_belief`)."""
INITIAL_THRESHOLD = 0.16
"""The threshold of a workspace without judgements (measured: `memory/rules/evidence/README.md`)."""
TIE = 0.02
"""If the two best beliefs differ by less, it is a tie, and neither is followed without asking."""

MIN_STORED = 0.005
"""Beliefs and effects with a smaller absolute value, which would be shown as 0.00, are not stored."""


class ActionText(NamedTuple):
    """An action an agent may choose, with its description."""

    name: str
    description: str

    @property
    def text(self) -> str:
        """The text that is compared with goals: the description, after the name if it does not contain that."""
        name = self.name.replace("_", " ").replace("-", " ")
        return self.description if name.casefold() in self.description.casefold() else f"{name}. {self.description}"


class LessonWeight(NamedTuple):
    """The effect of one lesson on one belief."""

    episode_id: str
    goal: str
    """The lesson's goal."""
    author: str
    """The only person behind the verdict; empty if there are several."""
    approves: bool
    """Whether the verdict was a success."""
    weight: float
    """The lesson's weight for this goal, -1..1. Repetitions and lessons on distant goals have little."""
    effect: float
    """What it adds to the belief: its weight times its verdict beyond the prior."""


class InfluentialLesson(NamedTuple):
    """A lesson that may be shown in a prompt, as all lessons on its candidate together agree with it."""

    episode_id: str
    candidate: int
    """The number of its candidate, equal for lessons about the same."""
    action: str
    """The action of its candidate: `answer`, or an action that was taken or that a person named."""
    approves: bool
    belief: float
    """The belief in its candidate."""


class Belief(NamedTuple):
    """The belief in one candidate: about 1 is certain, 0 is no evidence, below 0 is evidence against it."""

    action: str
    value: float
    prior: float
    """The belief without the nearest lessons: for an action, how well its description and all goals it was approved for
    fit the goal; 0 for an answer."""
    suggested: float = 0.0
    """The belief by which options are suggested in questions, where one member's verdict counts for more."""
    text: str = ""
    """The answer, if the action is `answer`."""
    weights: tuple[LessonWeight, ...] = ()
    """The lessons with the largest effects, largest first."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of the lessons that an answer comes from: those that speak for it, else all with an effect on it.

        A candidate that was only refused, for a distant goal, may be believed a little.
        """
        approving = [each.episode_id for each in self.weights if each.approves and each.weight > 0 and each.effect > 0]
        return tuple(approving or [each.episode_id for each in self.weights])


class UnreadBeliefs(Sequence[Belief]):
    """Beliefs that are computed when they are read. The strongest two are known before, which takes less time."""

    def __init__(self, strongest: Sequence[Belief], make: Callable[[], tuple[Belief, ...]]) -> None:
        self.strongest = strongest
        """The first two, without `suggested` and `weights`."""
        self._make = make

    @cached_property
    def _made(self) -> tuple[Belief, ...]:
        return self._make()

    @overload
    def __getitem__(self, place: int) -> Belief: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Belief, ...]: ...

    def __getitem__(self, place: int | slice) -> Belief | tuple[Belief, ...]:
        return self._made[place]

    def __len__(self) -> int:
        return len(self._made)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._made == tuple(other)

    def __hash__(self) -> int:
        return hash(self._made)

    def __repr__(self) -> str:
        return repr(self._made)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The beliefs in all candidates for one goal, strongest first."""

    beliefs: Sequence[Belief] = ()
    nearest: float = 0.0
    """The cosine of the nearest lesson's goal."""
    lessons: int = 0
    """How many lessons were weighed."""
    threshold: float = INITIAL_THRESHOLD
    """The confidence from which the best candidate is followed."""
    influential: tuple[InfluentialLesson, ...] = ()
    """The lessons that may be shown, largest effect first."""
    plan: str = ""
    """The id of the nearest lesson that split a goal into parts, which is no candidate; empty if there is none."""

    def without(self, actions: Collection[str]) -> "Evidence":
        """The evidence without the candidates of these actions."""
        return replace(self, beliefs=tuple(each for each in self.beliefs if each.action not in actions))

    @property
    def best(self) -> Belief | None:
        """The strongest belief, without `suggested` and `weights`, which are in `beliefs`."""
        return next(iter(self._strongest), None)

    @property
    def is_sure(self) -> bool:
        """Whether the best belief is good enough to be followed."""
        return is_sure(*best_and_rival(self._strongest, self.nearest), self.threshold)

    @property
    def rivals(self) -> tuple[Belief, ...]:
        """Candidates that lessons speak for and that would be sure without each other; empty if the best is sure."""
        strong = tuple(
            each
            for each in self.beliefs
            if is_sure(each.value, each.prior, untaught_belief(self.nearest), self.threshold)
            and each.value > each.prior
        )
        return strong if len(strong) > 1 and not self.is_sure else ()

    @property
    def confidence(self) -> float:
        """The best belief minus shares of its prior and its rival; decides between answering, asking, not knowing."""
        return confidence_in(*best_and_rival(self._strongest, self.nearest))

    @property
    def _strongest(self) -> Sequence[Belief]:
        return self.beliefs.strongest if isinstance(self.beliefs, UnreadBeliefs) else self.beliefs

    @property
    def record(self) -> "EvidenceRecord":
        """The record that is stored: beliefs and weights from `MIN_STORED` on, in four digits, no texts, no people."""
        return EvidenceRecord(
            beliefs=tuple(
                BeliefRecord(
                    action=belief.action,
                    value=round(belief.value, 4),
                    prior=round(belief.prior, 4),
                    weights=tuple(
                        WeightRecord(
                            episode_id=each.episode_id,
                            weight=round(each.weight, 4),
                            effect=round(each.effect, 4),
                            approves=each.approves,
                        )
                        for each in belief.weights
                        if abs(each.effect) >= MIN_STORED
                    ),
                )
                for belief in self.beliefs
                if max(abs(belief.value), abs(belief.value - belief.prior)) >= MIN_STORED
            ),
            nearest=round(self.nearest, 4),
            lessons=self.lessons,
            threshold=self.threshold,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightRecord:
    """The stored effect of one lesson on one belief. Texts are read from the lesson, as long as it exists."""

    episode_id: str
    weight: float
    effect: float
    approves: bool

    @property
    def is_for_another(self) -> bool:
        """Whether the lesson approved another candidate, and so lowered the belief in this one."""
        return self.approves and self.weight * self.effect < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefRecord:
    """A stored belief. The text of an answer is read from its lessons."""

    action: str
    value: float
    prior: float
    weights: tuple[WeightRecord, ...] = ()

    @property
    def taught(self) -> float:
        """What the lessons add to the prior."""
        return self.value - self.prior


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRecord:
    """The stored evidence of one recall."""

    beliefs: tuple[BeliefRecord, ...] = ()
    nearest: float = 0.0
    lessons: int = 0
    threshold: float = INITIAL_THRESHOLD
    is_followed: bool = False
    """Whether the node took the action, or gave the answer, of the best belief."""

    @property
    def confidence(self) -> float:
        """The confidence of the evidence (`Evidence.confidence`)."""
        return confidence_in(*best_and_rival(self.beliefs, self.nearest))

    @property
    def is_sure(self) -> bool:
        """Whether the best belief was good enough to be followed."""
        return is_sure(*best_and_rival(self.beliefs, self.nearest), self.threshold)

    @property
    def episode_ids(self) -> frozenset[str]:
        """The ids of the lessons that have a weight in it."""
        return frozenset(weight.episode_id for belief in self.beliefs for weight in belief.weights)


def untaught_belief(nearest: float) -> float:
    """The belief in an untaught candidate, 0..`MAX_UNTAUGHT`, given the cosine of the nearest lesson.

    It is the best candidate's rival unless another one is stronger, so that in a new workspace the only lesson does not
    answer questions unlike its own.
    """
    return MAX_UNTAUGHT * min(1.0, 3 * (1 - min(1.0, nearest)))


def confidence_in(belief: float, prior: float, rival: float) -> float:
    """The confidence in a candidate, given its belief, its prior, and the belief in its best rival."""
    return belief - PRIOR_DISCOUNT * prior - RIVAL_DISCOUNT * rival


def is_sure(belief: float, prior: float, rival: float, threshold: float) -> bool:
    """Whether a candidate may be followed: its confidence reaches the threshold, and there is no tie."""
    return confidence_in(belief, prior, rival) >= threshold and belief - rival >= TIE


def best_and_rival(
    strongest: "Sequence[Belief] | Sequence[BeliefRecord]", nearest: float
) -> tuple[float, float, float]:
    """The best belief, its prior, and the belief in its best rival."""
    value, prior = (strongest[0].value, strongest[0].prior) if strongest else (0.0, 0.0)
    second = strongest[1].value if len(strongest) > 1 else 0.0
    return value, prior, max(second, untaught_belief(nearest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A person's judgement of an answer's best candidate, by a vote on the answer or a tap on a question."""

    workspace: str
    run_id: str
    actor: str
    at: datetime
    """When the answer was given."""
    confidence: int
    """The confidence of its evidence, in hundredths, rounded down, 0..100."""
    is_right: bool
    is_known: bool
    """Whether this person's vote counts for others."""
    is_checked: bool
    """Whether this person asked the question, or another known person who did not ask approved of the candidate."""


class JudgementCount(NamedTuple):
    """The number of equal judgements of one person."""

    actor: str
    confidence: int
    is_right: bool
    is_known: bool
    is_checked: bool = True
    number: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The stored threshold of a workspace, with the confusion and reliability. Raises `ValueError` if out of range."""

    workspace: str
    budget: float
    """The share of answers that may be wrong, for which it was computed."""
    value: float
    confusion: float = 1.0
    """The factor of the prior's wrong answers, above 0 (`memory.rules.evidence.confusion`)."""
    reliability: Mapping[str, float] = field(default_factory=dict[str, float])
    """The reliability of people who refuse right answers, above 0 and below 1, by person."""

    def __post_init__(self) -> None:
        if not (0 < self.budget < 1 and 0 <= self.value <= 1 and 0 < self.confusion < math.inf):
            raise ValueError(f"no threshold: {self.value!r} for {self.budget!r}, confused {self.confusion!r} times")

"""Evidence: what people's verdicts on similar goals say together about what could be done or said for one goal."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, overload

DOUBT = 0.8
"""How much of the best rival's belief is taken off the best one (measured: `memory/rules/evidence/README.md`)."""
UNPROVEN = 0.4
"""How much of what is believed without the lessons near it is taken off: a description promises more than it keeps
(measured: `memory/rules/evidence/README.md`)."""
UNKNOWN = 0.12
"""The most that is believed of whatever nobody has taught yet (`unknown`)."""
START = 0.16
"""The threshold of a workspace where nobody judged anything yet (measured: `memory/rules/evidence/README.md`)."""
TIE = 0.02
"""Two beliefs that differ by less are as good as each other: neither is followed without asking."""

KEPT_FROM = 0.005
"""A belief or an effect below this is 0.00 to a person, and not kept."""


class ActionText(NamedTuple):
    """An action an agent may choose, with the words that say what it does."""

    name: str
    description: str

    @property
    def text(self) -> str:
        """What is compared with a goal: the description, behind the name where it does not say that too."""
        name = self.name.replace("_", " ").replace("-", " ")
        return self.description if name.casefold() in self.description.casefold() else f"{name}. {self.description}"


class LessonWeight(NamedTuple):
    """What one lesson adds to one belief."""

    episode_id: str
    goal: str
    """What it was for."""
    author: str
    """Whose verdict it is; empty where several people or a teacher stand behind it."""
    approves: bool
    """Whether the verdict was a success."""
    weight: float
    """How much the lesson counts for this goal, -1..1: repetitions and lessons on other questions count little."""
    effect: float
    """What it adds to the belief: its weight times what it says beyond the prior."""


class InfluentialLesson(NamedTuple):
    """A lesson that may be shown to whoever decides: all lessons on what it speaks about say together what it says."""

    episode_id: str
    candidate: int
    """The same for lessons that speak about the same."""
    action: str
    """What it approved or refused: `answer`, or an action, which it took or which a person named in words."""
    approves: bool
    belief: float
    """The belief in what it approved or refused."""


class Belief(NamedTuple):
    """How far the evidence speaks for one candidate: about 1 is certain, 0 is nothing, below 0 is against it."""

    action: str
    value: float
    prior: float
    """What is believed without the lessons near it: how well the action's description and all goals it was approved
    for fit the goal, 0 for an answer."""
    suggested: float = 0.0
    """How far it is worth asking about, where that is more: the value if one member's word alone went farther."""
    text: str = ""
    """The answer, for the action `answer`."""
    weights: tuple[LessonWeight, ...] = ()
    """The lessons with the largest effects, largest first."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of the lessons that an answer comes from: those that speak for it, or else all that have its words.

        What was only refused, of a question quite unlike this one, may be believed a little.
        """
        approving = [each.episode_id for each in self.weights if each.approves and each.weight > 0 and each.effect > 0]
        return tuple(approving or [each.episode_id for each in self.weights])


class UnreadBeliefs(Sequence[Belief]):
    """Beliefs that are made when somebody reads them: how good the best is, is known in a part of the time."""

    def __init__(self, strongest: Sequence[Belief], make: Callable[[], tuple[Belief, ...]]) -> None:
        self.strongest = strongest
        """The first two, without how far they are suggested and what they rest on."""
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
    """Cosine of the nearest lesson: how near the goal is to anything known."""
    lessons: int = 0
    """How many lessons were weighed."""
    threshold: float = START
    """Confidence from which something is done or said here."""
    influential: tuple[InfluentialLesson, ...] = ()
    """The lessons that may be shown, largest effect first."""
    plan: str = ""
    """The nearest lesson on how to split a goal into parts, which is no candidate."""

    def without(self, actions: Collection[str]) -> "Evidence":
        """The same where these cannot be done."""
        return replace(self, beliefs=tuple(each for each in self.beliefs if each.action not in actions))

    @property
    def best(self) -> Belief | None:
        """The best belief, but for how far it is suggested and what it rests on: `beliefs` has that."""
        return next(iter(self._strongest), None)

    @property
    def is_sure(self) -> bool:
        """Whether the best belief is good enough to be followed."""
        return is_sure(*strength(self._strongest, self.nearest), self.threshold)

    @property
    def rivals(self) -> tuple[Belief, ...]:
        """The candidates that lessons speak for and that would be sure if there were no other; none where one is."""
        strong = tuple(
            each
            for each in self.beliefs
            if is_sure(each.value, each.prior, unknown(self.nearest), self.threshold) and each.value > each.prior
        )
        return strong if len(strong) > 1 and not self.is_sure else ()

    @property
    def confidence(self) -> float:
        """What decides between answering, asking and not knowing: the best belief, less of its prior and its rival."""
        return confidence_in(*strength(self._strongest, self.nearest))

    @property
    def _strongest(self) -> Sequence[Belief]:
        return self.beliefs.strongest if isinstance(self.beliefs, UnreadBeliefs) else self.beliefs

    @property
    def record(self) -> "EvidenceRecord":
        """What is kept of it: beliefs and weights that are worth it, in four digits, no texts and no people."""
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
                        if abs(each.effect) >= KEPT_FROM
                    ),
                )
                for belief in self.beliefs
                if max(abs(belief.value), abs(belief.value - belief.prior)) >= KEPT_FROM
            ),
            nearest=round(self.nearest, 4),
            lessons=self.lessons,
            threshold=self.threshold,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightRecord:
    """What one lesson added to one belief. Its texts are looked up in the lesson, as long as that is there."""

    episode_id: str
    weight: float
    effect: float
    approves: bool

    @property
    def is_for_another(self) -> bool:
        """Whether the lesson approved another candidate, and so took from this one what its description promised."""
        return self.approves and self.weight * self.effect < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefRecord:
    """One belief as it is kept; an answer's text is that of its lessons."""

    action: str
    value: float
    prior: float
    weights: tuple[WeightRecord, ...] = ()

    @property
    def taught(self) -> float:
        """What the lessons made of it beyond the prior."""
        return self.value - self.prior


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRecord:
    """The evidence of one recall as it is kept."""

    beliefs: tuple[BeliefRecord, ...] = ()
    nearest: float = 0.0
    lessons: int = 0
    threshold: float = START
    is_followed: bool = False
    """Whether the node did or said what the best belief is in."""

    @property
    def confidence(self) -> float:
        """That of the evidence."""
        return confidence_in(*strength(self.beliefs, self.nearest))

    @property
    def is_sure(self) -> bool:
        """Whether the best belief was good enough to be followed."""
        return is_sure(*strength(self.beliefs, self.nearest), self.threshold)

    @property
    def episode_ids(self) -> frozenset[str]:
        """The lessons that have a weight in it."""
        return frozenset(weight.episode_id for belief in self.beliefs for weight in belief.weights)


def unknown(nearest: float) -> float:
    """The belief in whatever nobody has taught yet, given the cosine of the nearest lesson.

    It is the rival of the best candidate where there is no better one: in a new workspace a lesson must not speak for
    questions unlike its own just because it is the only one.
    """
    return UNKNOWN * min(1.0, 3 * (1 - min(1.0, nearest)))


def confidence_in(belief: float, prior: float, rival: float) -> float:
    """Confidence in a candidate, given the belief in it, its prior, and the belief in its best rival."""
    return belief - UNPROVEN * prior - DOUBT * rival


def is_sure(belief: float, prior: float, rival: float, threshold: float) -> bool:
    """Whether a candidate is good enough to be followed: confidence reaches the threshold, and it is no tie."""
    return confidence_in(belief, prior, rival) >= threshold and belief - rival >= TIE


def strength(strongest: "Sequence[Belief] | Sequence[BeliefRecord]", nearest: float) -> tuple[float, float, float]:
    """The best belief, its prior, and the belief in its best rival."""
    value, prior = (strongest[0].value, strongest[0].prior) if strongest else (0.0, 0.0)
    second = strongest[1].value if len(strongest) > 1 else 0.0
    return value, prior, max(second, unknown(nearest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What one person's vote on one answer, or their tap on a question, says of the best candidate there was."""

    workspace: str
    run_id: str
    actor: str
    at: datetime
    """When the answer was given."""
    confidence: int
    """That of its evidence, in hundredths, rounded down, 0..100."""
    is_right: bool
    is_known: bool
    """Whether what this person says here counts for others."""
    is_checked: bool
    """Whether they asked what was answered, or somebody else who did not ask approved of it."""


class JudgementCount(NamedTuple):
    """How many judgements of one person are alike."""

    actor: str
    confidence: int
    is_right: bool
    is_known: bool
    is_checked: bool = True
    number: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The threshold of a workspace as it was last counted, and what else the same judgements say."""

    workspace: str
    budget: float
    """The share of wrong answers that it was counted for."""
    value: float
    confusion: float = 1.0
    """How many times as many answers as usual are taken to be wrong before anybody says so, above 0."""
    reliability: Mapping[str, float] = field(default_factory=dict[str, float])
    """How far the word of those can be relied on who refuse what is right, by person, above 0 and below 1."""

    def __post_init__(self) -> None:
        if not (0 < self.budget < 1 and 0 <= self.value <= 1 and 0 < self.confusion < math.inf):
            raise ValueError(f"no threshold: {self.value!r} for {self.budget!r}, confused {self.confusion!r} times")

"""Evidence: what people's verdicts on similar goals say together about what could be done or said for one goal."""

from dataclasses import dataclass

DOUBT = 0.6
"""How much of the second-best belief is taken off the best one (measured: `tests/README.md`)."""
SURE = 0.2
"""Confidence from which something is done or said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionText:
    """An action an agent may choose, with the words that say what it does."""

    name: str
    description: str

    @property
    def text(self) -> str:
        """What is compared with a goal: the description, behind the name where it does not say that too."""
        name = self.name.replace("_", " ").replace("-", " ")
        return self.description if name.casefold() in self.description.casefold() else f"{name}. {self.description}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonWeight:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """How far the evidence speaks for one candidate: about 1 is certain, 0 is nothing, below 0 is against it."""

    action: str
    text: str = ""
    """The answer, for the action `answer`."""
    value: float
    prior: float
    """What was believed before any lesson: how well the action's description fits the goal, 0 for an answer."""
    weights: tuple[LessonWeight, ...] = ()
    """The lessons with the largest effects, largest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The beliefs in all candidates for one goal, strongest first."""

    beliefs: tuple[Belief, ...] = ()
    nearest: float = 0.0
    """Cosine of the nearest lesson: how near the goal is to anything known."""
    lessons: int = 0
    """How many lessons were weighed."""

    @property
    def confidence(self) -> float:
        """The best belief less a share of the second: what decides between answering, asking and not knowing."""
        values = [belief.value for belief in self.beliefs[:2]]
        return (values[0] if values else 0.0) - DOUBT * max(0.0, values[1] if len(values) > 1 else 0.0)

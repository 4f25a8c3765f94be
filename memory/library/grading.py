"""The `Grader` port, which judges steps, with its requests and results, and the grader of this process.

Requests and results have the seed's fields (001, grading page). `set_grader` sets a grader; without one there are no
grades and so no lessons: `get_grader` raises, `has_grader` checks. `memory.library.lifecycle.ReactionGrader` grades by
people's reactions. A grader without a `source` counts as a model, whose grades are weaker: they are no votes, and only
the asker sees them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, Protocol, TypeVar

from memory.errors import GraderMissing, InvalidInput
from memory.model import GradeSource
from memory.model.validation import (
    require_bool,
    require_integer,
    require_mapping,
    require_number,
    require_text,
    shown_value,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepGrade:
    """A grader's judgement of one step, identified by its id, else by its number.

    Raises `InvalidInput` (a `ValueError`) for a confidence outside 0..1, and for fields of another type.
    """

    step_id: str = ""
    step_number: int | None = None
    action: str = ""
    is_correct: bool
    explanation: str = ""
    correction: str = ""
    """What should have been done instead."""
    confidence: float = 1.0

    def __post_init__(self) -> None:
        for name in ("step_id", "action", "explanation", "correction"):
            require_text(getattr(self, name), name)
        if self.step_number is not None:
            require_integer(self.step_number, "step_number")
        require_bool(self.is_correct, "is_correct")
        require_number(self.confidence, "confidence", high=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingResult:
    """A grader's judgement of a run. Steps and the task are optional.

    Raises `InvalidInput` (a `ValueError`) for a confidence outside 0..1, and for fields of another type.
    """

    task_completed: bool | None = None
    """None: not judged."""
    completion_confidence: float = 1.0
    overall_explanation: str = ""
    step_grades: Sequence[StepGrade] = ()

    def __post_init__(self) -> None:
        if self.task_completed is not None:
            require_bool(self.task_completed, "task_completed")
        require_number(self.completion_confidence, "completion_confidence", high=1.0)
        require_text(self.overall_explanation, "overall_explanation")
        object.__setattr__(self, "step_grades", _step_grades(self.step_grades))


@dataclass(frozen=True, slots=True, kw_only=True)
class StepToGrade:
    """A step for the grader."""

    step_id: str
    step_num: int
    action: str
    semantic_action: str
    """The action in words: `click: 'Priority dropdown'`."""
    url: str = ""
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    click_seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedAction:
    """A step of a known good run."""

    step_num: int
    raw: str
    semantic_action: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """A check of the state after the run."""

    type: Literal["screenshot", "jmespath"]
    description: str = ""
    expected_state: str = ""
    query: str = ""
    expected_value: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingRequest:
    """A request to judge a run."""

    session_id: str
    run_id: str
    task_description: str = ""
    steps: Sequence[StepToGrade] = ()
    expected_actions: Sequence[ExpectedAction] = ()
    verifiers: Sequence[Verifier] = ()
    host: str = ""


class Grader(Protocol):
    """Judges runs. Its `source` (`GradeSource`) and `name` are optional; without a source it counts as a model."""

    def grade(self, request: GradingRequest) -> GradingResult | None:
        """The judgement; None if there is none."""


_SPELLING = {
    "stepId": "step_id", "stepNumber": "step_number", "step_num": "step_number", "stepNum": "step_number",
    "isCorrect": "is_correct", "taskCompleted": "task_completed", "completionConfidence": "completion_confidence",
    "overallExplanation": "overall_explanation", "stepGrades": "step_grades",
}  # fmt: skip


def step_grade(given: StepGrade | Mapping[str, object]) -> StepGrade:
    """A grade from a mapping, in the seed's spelling or ours. Raises `InvalidInput` if it is invalid."""
    return given if isinstance(given, StepGrade) else _made(StepGrade, given)


def grading_result(
    given: GradingResult | Sequence[StepGrade | Mapping[str, object]] | Mapping[str, object],
) -> GradingResult:
    """A result from a result, a mapping in either spelling, or a list of step grades. Raises `InvalidInput`."""
    if isinstance(given, GradingResult):
        return given
    if isinstance(given, Mapping):
        return _made(GradingResult, given)
    return GradingResult(step_grades=_step_grades(given))


def _step_grades(given: object) -> tuple[StepGrade, ...]:
    if not isinstance(given, list | tuple):
        raise InvalidInput(f"grades must be a list of grades of steps, got {shown_value(given)}")
    return tuple(step_grade(each) for each in given)


def _made(kind: type[T], given: Mapping[str, object]) -> T:
    require_mapping(given, f"a {kind.__name__}")
    known = {each.name for each in fields(kind)}  # type: ignore[arg-type]  # both are dataclasses
    values = {_SPELLING.get(name, name): value for name, value in given.items()}
    unknown = [name for name in values if name not in known]
    if unknown:
        raise InvalidInput(
            f"{unknown[0]!r} is no field of a {kind.__name__}; its fields are {', '.join(sorted(known))}"
        )
    values = {name: value for name, value in values.items() if value is not None}
    try:
        return kind(**values)
    except TypeError as exc:
        raise InvalidInput(f"cannot read a {kind.__name__}: {exc}") from exc


_chosen: Grader | None = None


def set_grader(grader: Grader | None) -> None:
    """Set the grader of this process; None removes it. Raises `InvalidInput` for an object without a method `grade`."""
    global _chosen
    if grader is not None and not callable(getattr(grader, "grade", None)):
        raise InvalidInput(f"a grader needs a method grade(request), got {shown_value(grader)}")
    _chosen = grader


def get_grader() -> Grader:
    """The grader that was set. Raises `GraderMissing` if there is none; check `has_grader` first."""
    if _chosen is None:
        raise GraderMissing("no grader is set; call set_grader(grader) first, or ask has_grader()")
    return _chosen


def has_grader() -> bool:
    """Whether a grader was set."""
    return _chosen is not None


def source_of(grader: Grader) -> GradeSource:
    """The grader's source; a model if it has none."""
    return GradeSource(getattr(grader, "source", GradeSource.MODEL))


def name_of(grader: Grader) -> str:
    """The grader's name for stored grades: its own, else that of its class."""
    return str(getattr(grader, "name", "") or type(grader).__name__)

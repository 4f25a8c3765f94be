"""The memory of one step of an agent's run, and the grades it got.

An entry is an episode seen step by step: what the agent saw and thought, what it did, what it saw then, and how people
(or, weaker and labelled, a model) judged it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from urllib.parse import urlsplit

from memory.model.validation import require_member, shown_value

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Outcome(StrEnum):
    """The judged outcome of a step."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"


class GradeSource(StrEnum):
    """The source of a grade."""

    PERSON = "person"
    """A person graded this step, which counts as their vote."""
    REACTION = "reaction"
    """People reacted to the answer. The grade repeats their votes, which are counted already."""
    MODEL = "model"
    """A program guessed. It never counts as a vote, and only the asker sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentState:
    """What the agent saw at one moment."""

    elements: tuple[str, ...] = ()
    """Elements of the context: sorted, unique, stripped."""
    url: str = ""
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    """Anything else worth keeping, as JSON values."""

    def __post_init__(self) -> None:
        cleaned = {str(element).strip() for element in self.elements}
        object.__setattr__(self, "elements", tuple(sorted(cleaned - {""})))

    @classmethod
    def of(cls, seen: "EnvironmentState | Mapping[str, object] | Iterable[str] | None") -> "EnvironmentState":
        """From elements alone, or from a mapping with `elements`, `url` and anything else.

        Raises `TypeError` for elements that are no list of texts.
        """
        if isinstance(seen, EnvironmentState):
            return seen
        if seen is None:
            return cls()
        if not isinstance(seen, Mapping):
            return cls(elements=_texts(seen))
        rest = {str(name): value for name, value in seen.items() if name not in ("elements", "url", "details")}
        details = seen.get("details")
        if isinstance(details, Mapping):
            rest |= {str(name): value for name, value in details.items()}
        return cls(elements=_texts(seen.get("elements", ())), url=_word(seen.get("url") or ""), details=rest)

    @property
    def place(self) -> str:
        """The path of the address, as the seed shows it (`/tickets`); empty when there is none."""
        try:
            return urlsplit(self.url).path if self.url else ""
        except ValueError:  # for example `http://[`, which is no address
            return ""


def _texts(elements: object) -> tuple[str, ...]:
    if isinstance(elements, str) or not isinstance(elements, Iterable):
        raise TypeError(f"the elements of an environment are a list of texts, got {shown_value(elements)}")
    return tuple(map(_word, elements))


def _word(value: object) -> str:
    """A text or a number as text."""
    if not isinstance(value, str | int | float):
        raise TypeError(f"the elements and the address of an environment are texts, got {shown_value(value)}")
    return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """One grade of a step, or of its whole run, as it was given. Grades are only ever added."""

    source: GradeSource
    is_correct: bool
    explanation: str = ""
    correction: str = ""
    confidence: float = 1.0
    """0..1, the grader's own."""
    at: datetime = _EPOCH
    grader: str = ""
    """The grader's name, for example of the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEntry:
    """One step with its outcome: the seed's schema, and below it what the seed leaves out."""

    id: int
    """From 1 within the session."""
    step_id: str = ""
    env_pre: EnvironmentState = field(default_factory=EnvironmentState)
    internal_state: str = ""
    """The agent's reasoning context; what later steps are compared with."""
    think: str = ""
    internal_state_embedding: tuple[float, ...] = field(default=(), repr=False)
    """Shape (dimension,)."""
    action: str = ""
    """The action as executed: `click('42')`."""
    action_element_text: str = ""
    env_post: EnvironmentState = field(default_factory=EnvironmentState)
    outcome: Outcome = Outcome.PENDING
    outcome_reason: str = ""
    correction: str = ""
    task_incomplete: str = ""
    """Why the task failed, although this step may have been right."""
    created_at: datetime = _EPOCH
    step_num: int = 1
    rep: int = 1

    session_id: str = ""
    run_id: str = ""
    quarantine: tuple[str, ...] = ()
    """Why its text was flagged; a flagged entry enters no prompt."""
    graded_by: GradeSource | None = None
    """The source of `outcome`; `model` marks a guess that no person confirmed."""
    graded_at: datetime | None = None
    grades: tuple[Grade, ...] = ()
    """All grades ever given, oldest first."""
    run_grades: tuple[Grade, ...] = ()
    """The grades of the whole run, oldest first."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "outcome", require_member(Outcome, self.outcome, "outcome"))
        for moment in (self.created_at, self.graded_at):
            if moment is not None and moment.tzinfo is None:
                raise ValueError(f"times of a memory must be aware (UTC), got {moment!r}")

    @property
    def call(self) -> "ActionCall":
        """The parsed action."""
        return ActionCall.parse(self.action)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionCall:
    """An action as `type('target', 'value')`."""

    type: str
    target: str = ""
    value: str = ""

    @classmethod
    def parse(cls, text: str) -> "ActionCall":
        """Parse a call: `fill('12', 'High')` has type `fill`, target `12`, value `High`. Other text is only a type.

        Arguments beyond the second belong to the value.
        """
        head, bracket, rest = text.strip().partition("(")
        if not bracket or not rest.endswith(")") or not head.strip():
            return cls(type=text.strip())
        target, value = _arguments(rest[:-1])
        return cls(type=head.strip(), target=target, value=value)


def _arguments(text: str) -> tuple[str, str]:
    """The first argument without its quotes, and the rest; commas inside quotes do not separate."""
    quote = ""
    escaped = False
    for place, character in enumerate(text):
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"`":
            quote = character
        elif character == ",":
            return _unquoted(text[:place]), _unquoted(text[place + 1 :])
    return _unquoted(text), ""


_QUOTED = re.compile(r"""(['"`])((?:(?!\1).|(?<=\\)\1)*)\1""", re.DOTALL)


def _unquoted(text: str) -> str:
    """Text without the quotes around it, if it is one quoted piece; escaped quotes inside become plain ones."""
    quoted = _QUOTED.fullmatch(text.strip())
    return re.sub(r"""\\(['"`])""", r"\1", quoted[2]) if quoted else text.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRun:
    """One run of a session, of one person in one place."""

    workspace: str
    person: str
    partition: str
    """The partition where it was begun: the person's own in that channel. It can only be resumed there."""
    session_id: str
    run_id: str
    """The caller's name for it; unique within the session."""
    node_run: str
    """The run id of its episodes, unique in the workspace regardless of the caller's names."""
    root_id: str = ""
    """The episode that stands for the whole run; empty until a step is persisted."""
    rep: int = 1
    task: str = ""
    is_evaluation: bool = False
    """Whether the first repetition is a baseline without memory."""
    started_at: datetime = _EPOCH


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStep:
    """The data of a step besides its episode, with which it is erased."""

    workspace: str
    episode_id: str
    person: str
    session_id: str
    run_id: str
    number: int
    """The entry's id, from 1 within the session."""
    step_id: str
    action: str
    element_text: str
    internal_state: str
    env_pre: EnvironmentState
    env_post: EnvironmentState
    embedding: tuple[float, ...] = ()
    """The embedding given by the caller; empty where memory's embedder made it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGrade:
    """A grade in the store: of a step's episode, or of the run's root."""

    workspace: str
    episode_id: str
    actor: str
    """The person who gave it; empty for grades by a model or from reactions."""
    grade: Grade
    seq: int = 0
    """Order of arrival; set by the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortMemory:
    """A value that expires, stored by kind and key."""

    workspace: str
    kind: str
    """Its purpose, for example `draft`."""
    key: str
    value: Mapping[str, object]
    """JSON values."""
    person: str = ""
    """The person whose data it is, with whom it is forgotten."""
    created_at: datetime = _EPOCH
    expires_at: datetime = _EPOCH

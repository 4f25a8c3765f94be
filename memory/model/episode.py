"""An episode: one goal pursued once by one agent node, with how it ended and how people judged it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from memory.model.normal_form import comparable
from memory.model.scope import Audience, Scope, Visibility


class StepKind(StrEnum):
    """What one step of a trajectory was."""

    THINK = "think"
    ACT = "act"
    OBSERVE = "observe"
    EXPAND = "expand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One think, act, observe or expand step. Stored in full, shortened only when shown."""

    kind: StepKind
    text: str = ""
    """The thought, the observation, or the answer given."""
    tool: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    flow: str = ""
    """`sequence`, `fallback` or `parallel`, for an expansion."""
    subgoals: tuple[str, ...] = ()
    is_error: bool = False
    is_untrusted: bool = False
    """Whether the observation came from outside: a page, a search, a server or a user's function."""

    @property
    def call(self) -> str:
        """The tool with its arguments: `clock(zone='Europe/Paris')`."""
        return f"{self.tool}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


def step_as_json(step: Step) -> dict[str, object]:
    """A step as JSON values, without empty fields."""
    whole = {
        "kind": step.kind.value,
        "text": step.text,
        "tool": step.tool,
        "arguments": dict(step.arguments),
        "flow": step.flow,
        "subgoals": list(step.subgoals),
        "is_error": step.is_error,
        "is_untrusted": step.is_untrusted,
    }
    return {name: value for name, value in whole.items() if value}


def step_from_json(stored: Mapping[str, Any]) -> Step:
    """Read a step written by `step_as_json`. Raises `TypeError`, `ValueError` or `KeyError` for anything else."""
    rest = {name: value for name, value in stored.items() if name not in ("kind", "subgoals")}
    subgoals = stored.get("subgoals", [])
    step = Step(kind=StepKind(stored["kind"]), subgoals=tuple(subgoals), **rest)
    if not isinstance(subgoals, list) or not all(
        isinstance(each, str) for each in (step.text, step.tool, step.flow, *subgoals)
    ):
        raise TypeError("a step has texts, and its subgoals are a list of texts")
    return step


NEEDS_QUESTION = "needs_question"
"""Reason of quarantine: the question was erased, and the author must give the episode another."""

RESTATED = "restated"
"""Reason of quarantine from all but the author: the author replaced the question that people had approved."""


class Termination(StrEnum):
    """How a node ended by itself."""

    SUCCESS = "success"
    FAILURE = "failure"
    EXPAND = "expand"
    ABORTED = "aborted"


ASK = "ask_person"
"""The action of an episode that ended by asking the person to choose between options."""
GAVE_UP = "none"
"""The action of an episode that found no answer and executed no tool."""

WORDY_ACTIONS = frozenset({"", "answer", GAVE_UP})
"""Actions that are identified by their text; any other (a tool, an expansion) is identified by its name."""


class Verdict(StrEnum):
    """People's judgement of an episode, a pure function of the votes (`memory.rules.verdict`)."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"
    DISPUTED = "disputed"

    @property
    def is_validated(self) -> bool:
        """Whether an episode with this verdict may reach a prompt."""
        return self in (Verdict.SUCCESS, Verdict.FAILURE)


class EpisodeStatus(StrEnum):
    """The seeds' four-valued status, derived from verdict and termination."""

    SUCCESS = "success"
    FAILURE = "failure"
    EXPAND = "expand"
    PENDING = "pending"


class Origin(StrEnum):
    """How an episode was created."""

    RUN = "run"
    """The agent pursued the goal."""
    CORRECTION = "correction"
    """A person said what would have been right."""
    TAUGHT = "taught"
    """A person taught the answer without a failed run behind it."""
    IMPORT = "import"
    """Read from an export."""


def derive_status(verdict: Verdict, termination: Termination) -> EpisodeStatus:
    """Pending without a verdict; failed if the verdict or the termination says so; else by the termination."""
    if not verdict.is_validated:
        return EpisodeStatus.PENDING
    if verdict is Verdict.FAILURE or termination is Termination.FAILURE:
        return EpisodeStatus.FAILURE
    if termination is Termination.EXPAND:
        return EpisodeStatus.EXPAND
    return EpisodeStatus.SUCCESS


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """The verdict in each audience, narrowest first."""

    personal: Verdict = Verdict.PENDING
    channel: Verdict = Verdict.PENDING
    workspace: Verdict = Verdict.PENDING
    proposed: Verdict = Verdict.PENDING
    """The opinion of known people of the channel while it does not decide there: evidence, but no verdict."""

    def of(self, audience: Audience) -> Verdict:
        """The verdict for one audience."""
        match audience:
            case Audience.PERSONAL:
                return self.personal
            case Audience.CHANNEL:
                return self.channel
            case Audience.WORKSPACE:
                return self.workspace

    @property
    def is_proposed(self) -> bool:
        """Whether there is an opinion that did not decide."""
        return self.proposed is not Verdict.PENDING

    @property
    def overall(self) -> Verdict:
        """One verdict for lists: that of the widest audience that has decided, else whether anybody disputes it."""
        for verdict in (self.workspace, self.channel, self.personal):
            if verdict is not Verdict.PENDING:
                return verdict
        return Verdict.PENDING


INITIAL_STRENGTH, INITIAL_SALIENCE = 0.5, 1.0
"""The strength and salience of an episode that nobody judged yet."""

_JUDGED_STRENGTH = {Audience.WORKSPACE: 1.0, Audience.CHANNEL: 0.85, Audience.PERSONAL: 0.7}
"""The strength of a validated episode by the widest audience that decided."""


def derive_strength(verdicts: Verdicts, nudge: float) -> float:
    """How far an episode is trusted, 0..1: by the widest audience that decided, plus the nudge from its use.

    A 👎 does not lower it, as failures are knowledge too.
    """
    bases = (base for audience, base in _JUDGED_STRENGTH.items() if verdicts.of(audience).is_validated)
    return round(min(1.0, max(0.0, next(bases, INITIAL_STRENGTH) + nudge)), 6)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


FROM_PEOPLE = "people"
"""The value of `Episode.model` for an answer given from lessons, without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The cost of the model calls of one node."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0

    @property
    def tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One goal pursued once. The facts of the run never change; people's judgement of it does.

    `Episode(goal=..., trajectory=..., status=...)`, the seed's record, is enough to construct one: a text given as
    `trajectory` becomes a single step. All other fields have a neutral default.
    """

    goal: str
    trajectory: tuple[Step, ...] = ()
    status: EpisodeStatus = EpisodeStatus.PENDING

    id: str = ""
    """Time-ordered; unique within a workspace."""
    run_id: str = ""
    parent_id: str = ""
    node_path: str = "0"
    """Position in the run's tree: `0` is the root, `0.1` its second child."""
    flow: str = ""
    """The control flow this node expanded into, if it did."""
    why: str = ""
    """Why the node exists, as its parent put it."""
    step_number: int = 1
    """Position of the node in the run, in order of start, from 1."""
    rep: int = 1
    """1 + how many earlier attempts at this goal exist in this scope."""

    workspace: str = ""
    channel: str = ""
    thread: str = ""
    person: str = ""
    visibility: Visibility = Visibility.PUBLIC
    """Who could read the channel when it was said. `memory.rules.audience.visibility_of` says who may see it now."""
    channel_visibility: Visibility | None = None
    """Who can read the channel now, from the store's record of it; None where there is none. Never stored with it."""
    place: str = ""

    origin: Origin = Origin.RUN
    author: str = ""
    """The person whose words or judgement the lesson is: the asker, or the corrector."""
    context_before: tuple[str, ...] = ()
    context_after: tuple[str, ...] = ()
    """Sorted element strings (`channel:C1`, `tool:clock`), the seed's `envPre.elements`."""
    thoughts: str = ""
    action: str = ""
    """The action signature's type: a tool's name, `answer`, `expand`, or `none`."""
    action_target: str = ""
    output: str = ""
    termination: Termination = Termination.SUCCESS
    verdicts: Verdicts = field(default_factory=Verdicts)
    outcome_reason: str = ""
    correction: str = ""
    task_incomplete: str = ""
    promoted: Audience | None = None
    """The widest audience a teacher promoted it to."""
    quarantine: tuple[str, ...] = ()
    """Why its text was flagged (`memory.rules.quarantine.Flag`); while there is a reason it enters no prompt. With
    `RESTATED` alone it does: its author's."""

    strength: float = INITIAL_STRENGTH
    """Trust, 0..1: a base from the verdicts plus a bounded nudge from use."""
    nudge: float = 0.0
    salience: float = INITIAL_SALIENCE
    """Attention at `salience_at`, 0..10; halves with disuse."""
    salience_at: datetime = _EPOCH
    retrieval_count: int = 0
    used_count: int = 0
    ignored_count: int = 0

    model: str = ""
    usage: Usage = field(default_factory=Usage)
    exemplar_ids: tuple[str, ...] = ()
    """Episodes the node was shown as lessons."""
    created_at: datetime = _EPOCH
    graded_at: datetime | None = None
    archived_at: datetime | None = None

    def __post_init__(self) -> None:
        if isinstance(self.trajectory, str):
            text: str = self.trajectory
            step = Step(kind=StepKind.ACT, text=text)
            object.__setattr__(self, "trajectory", (step,) if text else ())
            if not self.output:
                object.__setattr__(self, "output", text)
        for moment in (self.created_at, self.graded_at, self.archived_at, self.salience_at):
            if moment is not None and moment.tzinfo is None:
                raise ValueError(f"times of an episode must be aware (UTC), got {moment!r}")

    @property
    def verdict(self) -> Verdict:
        """One word for what people said (`Verdicts.overall`)."""
        return self.verdicts.overall

    @property
    def is_root(self) -> bool:
        """Whether this is the run's root node, which gave its answer."""
        return not self.parent_id

    @property
    def is_lesson(self) -> bool:
        """Whether it is shown to anybody as something to repeat or to avoid."""
        is_in_use = self.archived_at is None and not self.quarantine and self.verdict.is_validated
        return is_in_use and not self.has_nothing_to_repeat

    @property
    def has_nothing_to_repeat(self) -> bool:
        """Whether it only asked the person back or found no answer, and people approved of that."""
        return self.action in (ASK, GAVE_UP) and self.verdict is Verdict.SUCCESS

    @property
    def is_split(self) -> bool:
        """Whether its answer is that of its subgoals, or that none of them found one."""
        return self.action == Termination.EXPAND or (self.action == GAVE_UP and bool(self.flow))

    @property
    def scope(self) -> Scope:
        """The scope the episode was made in. Raises `ValueError` for an episode that was never stored."""
        return Scope(
            workspace=self.workspace,
            channel=self.channel,
            thread=self.thread,
            person=self.person,
            visibility=self.visibility,
            place=self.place,
        )

    @property
    def signature(self) -> tuple[str, str, str]:
        """What makes two lessons the same lesson: action, target, and the answer for a plain answer."""
        return (self.action, comparable(self.action_target), self.output if self.action == "answer" else "")


def authors_of(episodes: Sequence[Episode]) -> tuple[str, ...]:
    """The authors of these episodes, each once."""
    return tuple(dict.fromkeys(episode.author for episode in episodes if episode.author))


def found_nothing(nodes: Sequence[Episode]) -> bool:
    """Whether a run, its root first, ended without an answer to the question or to any part of it."""
    if not nodes or nodes[0].termination is not Termination.FAILURE:
        return False
    if nodes[0].is_split:
        return all(each.termination is not Termination.SUCCESS for each in nodes)
    return nodes[0].action == GAVE_UP

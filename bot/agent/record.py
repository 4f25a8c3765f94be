"""The record of one node: its trace while it works, the episode made of it, and how it ends that reached no goal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.agent.control import Flow, NodeOutcome, Stop
from bot.agent.tools.registry import ToolRegistry
from bot.errors import MalformedReply, ModelError, ModelRefused, ModelUnavailable
from memory.model import ASK, GAVE_UP, Episode, Exemplar, Option, Scope, Step, StepKind, Termination, Usage, asked_step
from memory.model.evidence import Evidence
from memory.rules.retrieval.prompt import one_line

_FINDING_KEY_CHARACTERS = 80

_MOST_TIMES = 2
"""How often a node may make the same call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A goal and its place in the tree."""

    goal: str
    path: str = "0"
    parent_id: str = ""
    depth: int = 1
    said_as: str = ""
    """The person's words, where the goal is what they mean in the conversation."""
    why: str = ""
    flow: str = ""
    position: int = 0
    """From 1, among `total` subgoals."""
    total: int = 0
    siblings: tuple[str, ...] = ()
    """The other subgoals."""


@dataclass(slots=True, kw_only=True)
class Trace:
    """Everything a node did so far."""

    id: str
    task: Task
    step_number: int
    started_at: datetime
    context_before: tuple[str, ...]
    steps: list[Step] = field(default_factory=list)
    last_tool: tuple[str, str] | None = None
    """Name and main argument of the last tool whose result can be the answer."""
    tool_findings: list[str] = field(default_factory=list)
    expanded: tuple[Flow, tuple[str, ...]] | None = None
    child_findings: str = ""
    """What the children of a finished expansion found."""
    shown: tuple[Exemplar, ...] = ()
    evidence: Evidence | None = None
    """What all lessons say together about the goal."""
    known_answers: bool = False
    """Whether an answer that people's verdicts are sure of is given without the model."""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    has_offered: bool = False
    """Whether it ends with a question that offers something."""
    signed: tuple[str, str] | None = None
    """The signature of a node that was over before the run went on."""

    def take(self, earlier: Episode) -> None:
        """Record that the node was over before."""
        self.steps = list(earlier.trajectory)
        self.signed = (earlier.action, earlier.action_target)
        self.model = earlier.model

    def think(self, thought: str) -> None:
        """Record a thought."""
        self.steps.append(Step(kind=StepKind.THINK, text=thought))

    def say(self, text: str, *, is_error: bool = False) -> None:
        """Record what the node ends with."""
        self.steps.append(Step(kind=StepKind.ACT, text=text, is_error=is_error))

    def ask(self, question: str, options: Sequence[Option]) -> None:
        """Record a question to the person, and what it offers."""
        self.steps.append(asked_step(question, options))
        self.has_offered = bool(options)

    def act(self, tool: str, arguments: Mapping[str, object] | None, raw: str) -> None:
        """Record a tool call; `raw` is what the model wrote when it was no JSON object."""
        text = raw if arguments is None else ""
        self.steps.append(Step(kind=StepKind.ACT, tool=tool, arguments=dict(arguments or {}), text=text))

    def repeats(self, tool: str, arguments: Mapping[str, object] | None) -> bool:
        """Whether a call is a repetition: of the last one, unless that failed, or of one made twice before."""
        if arguments is None:
            return False
        done = [number for number, step in enumerate(self.steps) if _is_call(step)]
        same = [number for number in done if _call(self.steps[number]) == (tool, dict(arguments))]
        if not same or len(same) >= _MOST_TIMES:
            return bool(same)
        since = self.steps[same[-1] + 1 :]
        has_failed = bool(since) and since[0].is_error
        return same[-1] == done[-1] and not has_failed and all(step.kind is not StepKind.EXPAND for step in since)

    def observe(self, text: str, *, tool: str = "", is_error: bool = False, is_untrusted: bool = False) -> None:
        """Record what came back."""
        step = Step(kind=StepKind.OBSERVE, text=text, tool=tool, is_error=is_error, is_untrusted=is_untrusted)
        self.steps.append(step)

    def expand(self, flow: Flow, subgoals: tuple[str, ...], policy: str) -> None:
        """Record an expansion that is carried out."""
        arguments = {"policy": policy} if flow is Flow.PARALLEL else {}
        step = Step(kind=StepKind.EXPAND, flow=flow.value, subgoals=subgoals, arguments=arguments)
        self.steps.append(step)
        self.expanded = (flow, subgoals)

    @property
    def found(self) -> str:
        """What is known so far, fit to be said: the children's findings, then this node's last tool result."""
        return "\n\n".join(part for part in (self.child_findings, *self.tool_findings[-1:]) if part)

    def signature(self, termination: Termination) -> tuple[str, str]:
        """(action, target): the tool the answer rests on, else the answer itself, the expansion, or nothing.

        A question that offers something is an action of its own: nobody who approves of it approves of an answer.
        """
        if self.signed is not None:
            return self.signed
        if self.has_offered:
            return (ASK, self.task.goal)
        expansion = ("", "")
        if self.expanded is not None:
            expansion = ("expand", f"{self.expanded[0].value}: {' | '.join(self.expanded[1])}")
        if termination is Termination.EXPAND:
            return expansion
        if self.last_tool is not None:
            return self.last_tool
        if termination is Termination.SUCCESS:
            return ("answer", self.task.goal)
        return expansion if self.expanded is not None else (GAVE_UP, self.task.goal)

    def episode(self, outcome: NodeOutcome, *, run_id: str, scope: Scope, context_after: tuple[str, ...]) -> Episode:
        """The finished node as a pending episode."""
        action, target = self.signature(outcome.termination)
        return Episode(
            id=self.id,
            run_id=run_id,
            parent_id=self.task.parent_id,
            node_path=self.task.path,
            step_number=self.step_number,
            flow=self.expanded[0].value if self.expanded else "",
            why=self.task.why,
            workspace=scope.workspace,
            channel=scope.channel,
            thread=scope.thread,
            person=scope.person,
            visibility=scope.visibility,
            place=scope.place,
            author=scope.person,
            goal=self.task.goal,
            context_before=self.context_before,
            context_after=context_after,
            thoughts="\n".join(step.text for step in self.steps if step.kind is StepKind.THINK),
            trajectory=tuple(self.steps),
            action=action,
            action_target=target,
            output=outcome.output,
            termination=outcome.termination,
            task_incomplete=outcome.stop.reason if outcome.stop is not None and outcome.stop.is_budget else "",
            model=self.model,
            usage=self.usage,
            exemplar_ids=tuple(exemplar.episode.id for exemplar in self.shown),
            created_at=self.started_at,
        )


def _is_call(step: Step) -> bool:
    return step.kind is StepKind.ACT and bool(step.tool) and not step.text


def _call(step: Step) -> tuple[str, dict[str, object]]:
    return step.tool, dict(step.arguments)


def finding_key(subgoal: str) -> str:
    """The working-memory key under which a finished subgoal of a sequence leaves its result for the next ones."""
    return f"result of: {one_line(subgoal, _FINDING_KEY_CHARACTERS)}"


def context_elements(scope: Scope, tools: ToolRegistry, memory_keys: list[str]) -> tuple[str, ...]:
    """What surrounds a node, as sorted element strings (the seed's `envPre.elements`).

    Threads are left out, and so are the results that subgoals leave for each other: they differ in every run and
    would only hide that two situations are alike.
    """
    elements = {f"platform:{scope.platform}", f"channel:{scope.channel}", f"person:{scope.person}"}
    elements |= tools.elements
    elements.update(f"memory:{key}" for key in memory_keys if not key.startswith("result of: "))
    return tuple(sorted(elements))


def failed(reason: str, known: str) -> NodeOutcome:
    """It could not be reached, for this reason; `known` is what was found all the same."""
    return NodeOutcome(termination=Termination.FAILURE, output=f"{known}\n\n{reason}" if known else reason)


def stopped(trace: Trace, stop: Stop) -> NodeOutcome:
    """Aborted. The root tells the person why, once; the others hand up what they found."""
    found = trace.found
    if trace.task.parent_id:
        return NodeOutcome(termination=Termination.ABORTED, output=found, stop=stop)
    rest = f"\n\nThis is what I found so far:\n\n{found}" if found else " I had found nothing by then."
    return NodeOutcome(termination=Termination.ABORTED, output=f"I had to stop: {stop.reason}.{rest}", stop=stop)


def after_model_error(trace: Trace, fault: ModelError) -> NodeOutcome:
    """What the model's error makes of the node."""
    match fault:
        case ModelRefused():
            return failed("The language model declined to go on with this.", trace.found)
        case MalformedReply():
            return failed("The language model gave a reply that makes no sense.", trace.found)
        case ModelUnavailable():
            return stopped(trace, Stop(reason="the language model cannot be reached at the moment"))
        case _:
            return stopped(trace, Stop(reason="the language model does not accept my requests"))

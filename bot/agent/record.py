"""The record of a node: its trace while it works, its episode, and outcomes without success."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.agent.control import Flow, NodeOutcome, Stop
from bot.agent.tools.registry import Tool, ToolRegistry
from bot.errors import MalformedReply, ModelError, ModelRefused, ModelUnavailable
from bot.model import ToolCall
from memory.model import (
    ASK,
    GAVE_UP,
    Episode,
    Exemplar,
    Lesson,
    Option,
    Scope,
    Step,
    StepKind,
    Termination,
    Usage,
    asked_step,
)
from memory.model.evidence import Evidence
from memory.rules.retrieval.prompt import one_line
from memory.rules.retrieval.similarity import are_opposed

_FINDING_KEY_CHARACTERS = 80

_MOST_TIMES = 2
"""How often a node may make the same call, arguments included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A goal and its place in the tree."""

    goal: str
    path: str = "0"
    parent_id: str = ""
    depth: int = 1
    original: str = ""
    """The person's message, if the goal is that message rewritten to stand alone."""
    why: str = ""
    flow: str = ""
    position: int = 0
    """From 1 to `total`, among the subgoals."""
    total: int = 0
    siblings: tuple[str, ...] = ()
    """The other subgoals."""


@dataclass(slots=True, kw_only=True)
class Trace:
    """The state and steps of a node so far."""

    id: str
    task: Task
    step_number: int
    started_at: datetime
    context_before: tuple[str, ...]
    steps: list[Step] = field(default_factory=list)
    last_tool: tuple[str, str] | None = None
    """Name and main argument of the last informative tool that succeeded."""
    tool_findings: list[str] = field(default_factory=list)
    expanded: tuple[Flow, tuple[str, ...]] | None = None
    child_findings: str = ""
    """The output of a finished expansion."""
    begun: str = ""
    """The beginning of an answer whose writing was stopped."""
    shown: tuple[Exemplar, ...] = ()
    evidence: Evidence | None = None
    """The evidence of all lessons about the goal."""
    gives_known_answer: bool = False
    """Whether a certain answer is given without the model."""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    has_offered: bool = False
    """Whether the node ended with a question that has options."""
    signed: tuple[str, str] | None = None
    """Action and target of a node that had ended before the run was resumed."""

    @property
    def known_answer(self) -> str:
        """The answer that people's verdicts make certain; empty if there is none, or the model is to be asked.

        The lesson with this answer must be shown, and its question must not be opposed to the goal.
        """
        best = self.evidence.best if self.evidence is not None and self.evidence.is_sure else None
        if not self.gives_known_answer or best is None:
            return ""
        shown = next((each for each in self.shown if each.lesson is Lesson.REPEAT and each.belief == best.value), None)
        return best.text if shown is not None and not are_opposed(self.task.goal, shown.episode.goal) else ""

    def take(self, earlier: Episode) -> None:
        """Take over the steps of a node that had ended before the run was resumed."""
        self.steps = list(earlier.trajectory)
        self.signed = (earlier.action, earlier.action_target)
        self.model = earlier.model

    def think(self, thought: str) -> None:
        """Record a thought."""
        self.steps.append(Step(kind=StepKind.THINK, text=thought))

    def say(self, text: str, *, is_error: bool = False) -> None:
        """Record the answer, or the reason for giving up."""
        self.steps.append(Step(kind=StepKind.ACT, text=text, is_error=is_error))

    def ask(self, question: str, options: Sequence[Option]) -> None:
        """Record a question to the person, with its options."""
        self.steps.append(asked_step(question, options))
        self.has_offered = bool(options)

    def act(self, tool: str, arguments: Mapping[str, object] | None, raw: str) -> None:
        """Record a tool call; `raw` is the text of arguments that were no JSON object."""
        text = raw if arguments is None else ""
        self.steps.append(Step(kind=StepKind.ACT, tool=tool, arguments=dict(arguments or {}), text=text))

    def repeats(self, tool: str, arguments: Mapping[str, object] | None) -> bool:
        """Whether a call repeats the last one, unless that failed, or is made the third time."""
        if arguments is None:
            return False
        done = [number for number, step in enumerate(self.steps) if _is_call(step)]
        same = [number for number in done if _call(self.steps[number]) == (tool, dict(arguments))]
        if not same or len(same) >= _MOST_TIMES:
            return bool(same)
        since = self.steps[same[-1] + 1 :]
        has_failed = bool(since) and since[0].is_error
        return same[-1] == done[-1] and not has_failed and all(step.kind is not StepKind.EXPAND for step in since)

    def note(self, tool: Tool | None, call: ToolCall, result: str) -> None:
        """Keep the result of a tool that succeeded as a finding, if the tool is informative."""
        if tool is not None and tool.is_informative:
            self.last_tool = (tool.name, tool.main_argument(call.arguments or {}))
            self.tool_findings.append(result)

    def observe(self, text: str, *, tool: str = "", is_error: bool = False, is_untrusted: bool = False) -> None:
        """Record an observation."""
        step = Step(kind=StepKind.OBSERVE, text=text, tool=tool, is_error=is_error, is_untrusted=is_untrusted)
        self.steps.append(step)

    def expand(self, flow: Flow, subgoals: tuple[str, ...], policy: str) -> None:
        """Record an expansion."""
        arguments = {"policy": policy} if flow is Flow.PARALLEL else {}
        step = Step(kind=StepKind.EXPAND, flow=flow.value, subgoals=subgoals, arguments=arguments)
        self.steps.append(step)
        self.expanded = (flow, subgoals)

    @property
    def found(self) -> str:
        """The findings so far, as an answer: those of the children, this node's last tool result, a begun answer."""
        return "\n\n".join(part for part in (self.child_findings, *self.tool_findings[-1:], self.begun) if part)

    def signature(self, termination: Termination) -> tuple[str, str]:
        """The node's action and target: its tool, else the answer, the expansion, or giving up.

        A question with options is an action of its own, as approving it does not approve an answer.
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
        return expansion if self.child_findings else (GAVE_UP, self.task.goal)

    def episode(self, outcome: NodeOutcome, *, run_id: str, scope: Scope, context_after: tuple[str, ...]) -> Episode:
        """The episode of the ended node, pending judgement."""
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
    """The working-memory key of a finished subgoal's result, for later subgoals of its sequence."""
    return f"result of: {one_line(subgoal, _FINDING_KEY_CHARACTERS)}"


def context_elements(scope: Scope, tools: ToolRegistry, memory_keys: list[str]) -> tuple[str, ...]:
    """The context of a node, as sorted element strings (the seed's `envPre.elements`).

    Threads and the results of subgoals are left out: they differ in every run, so would make alike situations look
    different.
    """
    elements = {f"platform:{scope.platform}", f"channel:{scope.channel}", f"person:{scope.person}"}
    elements |= tools.elements
    elements.update(f"memory:{key}" for key in memory_keys if not key.startswith("result of: "))
    return tuple(sorted(elements))


def failed_outcome(reason: str, known: str) -> NodeOutcome:
    """The outcome of a failed node: the findings, then the reason."""
    return NodeOutcome(termination=Termination.FAILURE, output=f"{known}\n\n{reason}" if known else reason)


def stopped_outcome(trace: Trace, stop: Stop) -> NodeOutcome:
    """The outcome of a stopped node. Only the root states the reason; other nodes pass up their findings."""
    found = trace.found
    if trace.task.parent_id:
        return NodeOutcome(termination=Termination.ABORTED, output=found, stop=stop)
    rest = f"\n\nThis is what I found so far:\n\n{found}" if found else " I had found nothing by then."
    return NodeOutcome(termination=Termination.ABORTED, output=f"I had to stop: {stop.reason}.{rest}", stop=stop)


def after_model_error(trace: Trace, fault: ModelError) -> NodeOutcome:
    """The outcome of a node after an error of the model."""
    match fault:
        case ModelRefused():
            return failed_outcome("The language model declined to go on with this.", trace.found)
        case MalformedReply():
            return failed_outcome("The language model gave a reply that makes no sense.", trace.found)
        case ModelUnavailable():
            return stopped_outcome(trace, Stop(reason="the language model does not answer at the moment"))
        case _:
            return stopped_outcome(trace, Stop(reason="the language model does not accept my requests"))

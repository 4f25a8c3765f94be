"""The state that all nodes of a run share, and the run's budget."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from bot.agent.control import NodeOutcome
from bot.agent.dialogue import ToolCalls
from bot.agent.earlier_run import EarlierRun
from bot.agent.record import Task, Trace, context_elements
from bot.agent.tools.registry import ToolContext, ToolRegistry
from bot.errors import BudgetExceeded
from bot.model import ImageFile, ToolCall
from bot.ports import LanguageModel
from memory.errors import MemoryFault
from memory.library.working_memory import WorkingMemory
from memory.model import AllowedAction, Episode, Option, Recollection, Role, Scope, Termination, Usage
from memory.model.evidence import ActionText, Evidence
from memory.model.spending import Allowance, Spender
from memory.ports import Clock, NewId
from memory.rules.retrieval.prompt import render_lessons, with_rules

Monotonic = Callable[[], float]
"""A clock in seconds from an arbitrary moment, which never goes back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one run. All are positive, or the constructor raises `ValueError`."""

    max_depth: int = 4
    """Levels of agent nodes. Nodes of the last level cannot expand."""
    max_decisions: int = 40
    """Requests to the model, over all nodes."""
    max_seconds: float = 120.0
    max_tokens: int = 200_000
    """Prompt and completion tokens. Checked between requests, so the last reply may exceed it."""
    max_cost_usd: float = 1.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not value > 0:
                raise ValueError(f"{each.name} must be above 0, got {value!r}")


class Budget:
    """Counts what one run uses. Used by one event loop only."""

    def __init__(
        self, limits: Limits, monotonic: Monotonic, since: float | None = None, allowance: Allowance | None = None
    ) -> None:
        self.limits = limits
        self.allowance = allowance
        self._monotonic = monotonic
        self._started = monotonic() if since is None else since
        self.decisions = 0
        """The number of decisions so far."""
        self.usage = Usage()
        """The tokens and cost so far."""

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline, at least 0."""
        return max(0.0, self._started + self.limits.max_seconds - self._monotonic())

    def spend_decision(self) -> None:
        """Count one decision. Raises `BudgetExceeded` if any limit is reached."""
        self.check()
        if self.decisions >= self.limits.max_decisions:
            raise _exceeded("decisions", f"{self.limits.max_decisions} decisions")
        self.decisions += 1

    def spend(self, usage: Usage) -> None:
        """Count the usage of a reply. Never raises; the next check does."""
        self.usage += usage

    def out_of_time(self) -> BudgetExceeded:
        """The error for work that the deadline interrupted."""
        return _exceeded("seconds", f"{self.limits.max_seconds:g} seconds")

    def check(self) -> None:
        """Raise `BudgetExceeded` if the time, tokens or cost of the run or a daily cap are used up."""
        if self.seconds_left <= 0:
            raise self.out_of_time()
        if self.usage.tokens >= self.limits.max_tokens:
            raise _exceeded("tokens", f"{self.limits.max_tokens} tokens")
        if self.usage.cost_usd >= self.limits.max_cost_usd:
            raise _exceeded("cost", f"{self.limits.max_cost_usd:g} US dollars")
        capped = capped_reason(self.allowance, self.usage)
        if capped:
            raise BudgetExceeded(capped, budget="cap")


_WHOSE = {
    Spender.PERSON: "for your questions",
    Spender.CHANNEL: "for questions in this channel",
    Spender.WORKSPACE: "for questions here",
}


def capped_reason(allowance: Allowance | None, used: Usage) -> str:
    """The reached daily cap as a clause in the first person; empty if none is reached."""
    cap = allowance.reached(used) if allowance is not None else None
    if allowance is None or cap is None:
        return ""
    most = [f"{cap.usd:,.2f} US dollars"] if cap.usd else []
    most += [f"{cap.tokens:,} tokens"] if cap.tokens else []
    hours = max(1, round((allowance.ends_at - allowance.at).total_seconds() / 3600))
    when = "in about an hour" if hours == 1 else f"in about {hours} hours"
    return (
        f"what I may use {_WHOSE[cap.spender]} in one day ({' or '.join(most)}) is used up; "
        f"that ends at {allowance.ends_at:%H:%M} UTC, {when}"
    )


def _exceeded(budget: str, amount: str) -> BudgetExceeded:
    return BudgetExceeded(f"I reached my limit of {amount} for one question", budget=budget)


T = TypeVar("T")

_log = logging.getLogger(__name__)

_SECONDS_TO_CLEAN_UP = 1.0


class Recall(Protocol):
    """Finds lessons for the goal of a node."""

    async def __call__(
        self, scope: Scope, goal: str, *, run_id: str, context: frozenset[str], actions: Sequence[ActionText]
    ) -> Recollection:
        """The lessons that may be shown, best first. Raises `MemoryFault`; the node then works without lessons."""

    def weigh(self, scope: Scope, goal: str, actions: Sequence[ActionText], *, run_id: str) -> Evidence:
        """The evidence of all lessons about a goal. Blocking."""


class Journal(Protocol):
    """Stores the progress of a run, in case the process ends."""

    async def __call__(
        self, nodes: Sequence[Episode], allowed: Sequence[AllowedAction], doing: ToolCall | None
    ) -> None:
        """Store all nodes, running ones as aborted. `doing` is a call with effects that is about to start.

        Raises `MemoryFault`.
        """


SetAttributes = Callable[[Mapping[str, str | int | float]], None]


class Spans(Protocol):
    """Opens a tracing span. Texts of people and models are passed separately, as they may be private."""

    def __call__(
        self, name: str, attributes: Mapping[str, str | int | float], texts: Mapping[str, str]
    ) -> AbstractContextManager[SetAttributes]:
        """A context for the span; its value sets attributes that are known later."""


def no_spans(
    name: str, attributes: Mapping[str, str | int | float], texts: Mapping[str, str]
) -> AbstractContextManager[SetAttributes]:
    """Opens no span: the default."""
    return nullcontext(lambda attributes: None)


class Halted(Exception):
    """The run was cancelled, so none of its nodes can continue. `reason` is a clause in the first person."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """The configuration that all runs share."""

    model: LanguageModel
    rewriter: LanguageModel | None = None
    """Rewrites a message to stand alone; None to use `model`."""
    tools: ToolRegistry
    recall: Recall
    limits: Limits
    clock: Clock
    monotonic: Monotonic
    new_id: NewId
    lessons_budget_tokens: int = 2_000
    conversation_budget_tokens: int = 1_500
    tool_calls: ToolCalls = "native"
    known_answers: bool = False
    """Whether certain answers are given without the model, unless the channel's setting says otherwise."""
    spans: Spans = no_spans
    asks_first: bool = False
    """Whether the person is asked, instead of the model, if lessons disagree."""


@dataclass(slots=True, kw_only=True)
class Run:
    """The shared state of one run. Used by one event loop only."""

    agent: Agent
    question: str
    scope: Scope
    run_id: str
    tools: ToolRegistry
    recall: Recall
    budget: Budget
    on_progress: Callable[[str], None]
    on_answer: Callable[[str], None] | None = None
    """Receives the partial answer while it is written."""
    cancel: asyncio.Event
    conversation: str = ""
    """The rendered conversation before the question, for the root's prompt; may be empty."""
    images: tuple[ImageFile, ...] = ()
    """The pictures that came with the question."""
    preferences: tuple[str, ...] = ()
    """Instructions on how the person wants to be answered."""
    chosen: Option | None = None
    """The option that the person chose; the root begins with it."""
    earlier: EarlierRun | None = None
    """The earlier part of a run that is resumed."""
    journal: Journal | None = None
    """Stores the progress, in case the process ends."""
    recalled: Recollection | None = None
    """A recollection for the question that was made before the run."""
    role: Role = Role.MEMBER
    """The person's role when they chose; it is used for the chosen action only."""
    words_of: set[str] = field(default_factory=set[str])
    """Ids of people whose words the tools' results repeat."""
    allowed: list[AllowedAction] = field(default_factory=list[AllowedAction])
    """The tools with effects that ran, and who allowed them."""
    memory: WorkingMemory = field(default_factory=WorkingMemory)
    has_decided: bool = False
    """Whether any node has a decision, by a reply of the model or without it."""
    _started: int = 0
    _open: dict[str, Trace] = field(default_factory=dict[str, Trace])
    """The traces of running nodes, by path."""
    _episodes: list[Episode] = field(default_factory=list)
    _recollections: list[tuple[int, Recollection]] = field(default_factory=list[tuple[int, Recollection]])

    def start(self, task: Task) -> Trace:
        """Start a node's trace. Nodes are numbered in the order they start."""
        self._started += 1
        trace = Trace(
            id=self.agent.new_id(),
            task=task,
            step_number=self._started,
            started_at=self.agent.clock(),
            context_before=self.context(),
            usage=self.budget.usage if self._started == 1 else Usage(),  # the root includes the rewriting
        )
        self._open[task.path] = trace
        return trace

    async def keep(self, doing: ToolCall | None = None) -> None:
        """Write the progress to the journal. Raises `MemoryFault` only if `doing` is given."""
        if self.journal is None:
            return
        going_on = NodeOutcome(termination=Termination.ABORTED)
        nodes = [self._episode(trace, going_on) for trace in self._open.values()]
        try:
            await self.journal([*self._episodes, *nodes], self.allowed, doing)
        except MemoryFault as fault:
            if doing is not None:
                raise
            _log.warning("run %s continues without a journal: %s", self.run_id, fault)

    def finish(self, trace: Trace, outcome: NodeOutcome) -> None:
        """End a node's trace, and keep its episode."""
        self._episodes.append(self._episode(trace, outcome))
        self._open.pop(trace.task.path, None)

    def _episode(self, trace: Trace, outcome: NodeOutcome) -> Episode:
        return trace.episode(outcome, run_id=self.run_id, scope=self.scope, context_after=self.context())

    def context(self) -> tuple[str, ...]:
        """The context elements of a node that starts or ends now."""
        return context_elements(self.scope, self.tools, self.memory.keys())

    def tool_context(self, task: Task) -> ToolContext:
        """The context of a node's tool calls."""
        return ToolContext(
            scope=self.scope,
            run_id=self.run_id,
            node_path=task.path,
            question=self.question,
            goal=task.goal,
            memory=self.memory,
            credit=self.words_of.update,
        )

    async def lessons_for(self, trace: Trace) -> str:
        """The lessons for a node's goal, as a block of its prompt. Empty if the memory fails."""
        path, budget = trace.task.path, self.agent.lessons_budget_tokens
        context = frozenset(trace.context_before)
        wanted = partial(self.recall, self.scope, trace.task.goal, run_id=self.run_id, context=context)
        recollection = self._recalled_for(trace)
        try:
            with self.agent.spans("recall", {"goodbot.node.path": path}, {"goodbot.goal": trace.task.goal}) as add:
                if recollection is None:
                    recollection = await self.within(wanted(actions=self.tools.actions))
                add({"goodbot.recall.lessons": len(recollection.exemplars)})
        except MemoryFault as fault:
            _log.warning("run %s node %s works without lessons: %s", self.run_id, path, fault)
            return ""
        trace.evidence, decided = recollection.evidence, recollection.known_answers
        trace.gives_known_answer = self.agent.known_answers if decided is None else decided
        text, trace.shown = render_lessons(recollection.exemplars, budget_tokens=budget, evidence=recollection.evidence)
        text, rules = with_rules(text, recollection.rules, budget_tokens=budget)
        shown_ids = tuple(exemplar.episode.id for exemplar in trace.shown)
        shown = replace(recollection, node_path=path, shown_ids=shown_ids, rules=rules)
        self._recollections.append((trace.step_number, shown))
        return text

    def rule_out(self, trace: Trace, actions: frozenset[str]) -> None:
        """Remove actions that are impossible for a node's goal from its evidence."""
        for place, (step, recollection) in enumerate(self._recollections):
            if step == trace.step_number and recollection.evidence is not None:
                left = replace(recollection, evidence=recollection.evidence.without(actions))
                self._recollections[place] = (step, left)

    def _recalled_for(self, trace: Trace) -> Recollection | None:
        """The recollection made before the run, once, for the root, and only if its goal is the question unchanged."""
        known, self.recalled = self.recalled, None
        return known if known is not None and known.goal == trace.task.goal and not trace.task.parent_id else None

    def weigh(self, trace: Trace, goal: str) -> Evidence:
        """The evidence of all lessons about a node's goal, which its recall already has, or about another goal."""
        if goal == trace.task.goal and trace.evidence:
            return trace.evidence
        return self.recall.weigh(self.scope, goal, self.tools.actions, run_id=self.run_id)

    def check(self) -> None:
        """Raise `Halted` if the run is cancelled, `BudgetExceeded` if a limit is reached."""
        if self.cancel.is_set():
            raise Halted("I was asked to stop")
        self.budget.check()

    async def within(self, work: Coroutine[Any, Any, T]) -> T:
        """Await some work for at most the remaining time of the run.

        Work that is done counts, even if the run was cancelled at the same moment. Raises `Halted`, `BudgetExceeded`,
        and what the work raises.
        """
        if self.budget.seconds_left <= 0:
            work.close()
            raise self.budget.out_of_time()
        task = asyncio.ensure_future(work)
        cancelled = asyncio.ensure_future(self.cancel.wait())
        try:
            await asyncio.wait({task, cancelled}, timeout=self.budget.seconds_left, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            self.check()
            raise self.budget.out_of_time()
        finally:
            cancelled.cancel()
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=_SECONDS_TO_CLEAN_UP)
                # Its exception is retrieved, so that asyncio does not log it.
                task.add_done_callback(lambda done: done.cancelled() or done.exception())

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """The episodes of finished nodes, in the order they started."""
        return tuple(sorted(self._episodes, key=lambda episode: episode.step_number))

    @property
    def recollections(self) -> tuple[Recollection, ...]:
        """The recollections of the nodes, in the order the nodes started."""
        return tuple(found for _, found in sorted(self._recollections, key=lambda item: item[0]))

"""Control flow: sequence, fallback and parallel over subgoals.

An end is success, failure or stopped. Stopped (a limit is reached, a person must answer first) means "unknown" in
Kleene's logic: `sequence` and parallel/all are AND, `fallback` and parallel/any are OR. A stopped child stops its flow,
as nothing after it could run.

The published code runs parallel children one after another and requires all to succeed; the paper speaks of a majority
(arXiv 2511.02424). Here they run concurrently under a named policy, and running ones are cancelled once the end is
decided; except if all are required and one failed: the others finish, as their results are the part of the answer there
is.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memory.model import Termination


class Flow(StrEnum):
    """The order in which children run."""

    SEQUENCE = "sequence"
    """In order, until one fails."""
    FALLBACK = "fallback"
    """In order, until one succeeds."""
    PARALLEL = "parallel"
    """All concurrently."""


class Policy(StrEnum):
    """How many parallel children must succeed."""

    ALL = "all"
    MAJORITY = "majority"
    """More than half."""
    ANY = "any"


class End(StrEnum):
    """How a node ended, for its control flow."""

    SUCCESS = "success"
    FAILURE = "failure"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why a run was stopped."""

    reason: str
    """A clause in the first person."""
    is_budget: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOutcome:
    """The result of a node, for its parent."""

    termination: Termination
    output: str = ""
    asked: bool = False
    """The output is, or contains, a question to the person; the run waits for the answer."""
    stop: Stop | None = None
    """Set if the node was aborted."""

    @property
    def end(self) -> End:
        """The end for the control flow."""
        if self.asked or self.termination is Termination.ABORTED:
            return End.STOPPED
        return End.FAILURE if self.termination is Termination.FAILURE else End.SUCCESS


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowResult:
    """The end of a control flow and the outcomes of the children that ran, in order of the subgoals."""

    flow: Flow
    end: End
    outcomes: tuple[NodeOutcome, ...]

    @property
    def output(self) -> str:
        """The output of the successful child of a fallback; else all that did not fail, separated by blank lines."""
        if self.flow is Flow.FALLBACK and self.end is End.SUCCESS:
            return self.outcomes[-1].output
        holds = [outcome.output for outcome in self.outcomes if outcome.end is not End.FAILURE]
        return "\n\n".join(output for output in holds if output)


NOT_NEEDED = Stop(reason="the other parts had settled it")
"""The reason for cancelling a parallel child."""

Child = Callable[[], Coroutine[Any, Any, NodeOutcome]]


async def run_flow(flow: Flow, children: Sequence[Child], policy: Policy = Policy.ALL) -> FlowResult:
    """Run the children. An exception of a child cancels the others and is raised."""
    if flow is Flow.PARALLEL:
        outcomes = await _at_once(children, policy)
        end = judge(policy, [outcome.end for outcome in outcomes])
    else:
        goes_on = End.SUCCESS if flow is Flow.SEQUENCE else End.FAILURE
        outcomes = await _while(goes_on, children)
        end = outcomes[-1].end if outcomes else goes_on
    return FlowResult(flow=flow, end=end, outcomes=tuple(outcomes))


def judge(policy: Policy, ends: Sequence[End]) -> End:
    """The end of parallel children; stopped if the stopped ones could still decide it."""
    needed = {Policy.ALL: len(ends), Policy.MAJORITY: len(ends) // 2 + 1, Policy.ANY: 1}[policy]
    succeeded = ends.count(End.SUCCESS)
    if succeeded >= needed:
        return End.SUCCESS
    return End.FAILURE if succeeded + ends.count(End.STOPPED) < needed else End.STOPPED


async def _while(goes_on: End, children: Sequence[Child]) -> list[NodeOutcome]:
    outcomes: list[NodeOutcome] = []
    for child in children:
        outcomes.append(await child())
        if outcomes[-1].end is not goes_on:
            break
    return outcomes


async def _at_once(children: Sequence[Child], policy: Policy) -> list[NodeOutcome]:
    # A task group, unlike gather, leaves no child running behind when one of them raises.
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(child()) for child in children]
        running = set(tasks)
        while running and not _is_decided(policy, [_end_so_far(task) for task in tasks]):
            _, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in running:
            task.cancel()
    cancelled = NodeOutcome(termination=Termination.ABORTED, stop=NOT_NEEDED)
    return [cancelled if task.cancelled() else task.result() for task in tasks]


def _is_decided(policy: Policy, ends: Sequence[End]) -> bool:
    end = judge(policy, ends)
    return end is End.SUCCESS or (end is End.FAILURE and policy is not Policy.ALL)


def _end_so_far(task: asyncio.Task[NodeOutcome]) -> End:
    has_result = task.done() and not task.cancelled() and task.exception() is None
    return task.result().end if has_result else End.STOPPED

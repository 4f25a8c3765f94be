"""Control flow: sequence, fallback and parallel over subgoals.

An end is one of three values. `stopped` (a budget ran out, a person must be asked first) means "not known", and the
tables are Kleene's: `sequence` and parallel/all are AND, `fallback` and parallel/any are OR, so that the two are each
other's mirror (De Morgan). A child that stopped stops its flow: nothing after it could be paid for.

The published code runs parallel children one after another and asks all to succeed, the paper speaks of a majority
(arXiv 2511.02424). Here they really run at the same time, the policy is named, and what still runs when all is decided
is cancelled. But where all are wanted and one failed, the others end their work: what they find is the part of the
answer that there is.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memory.model import Termination


class Flow(StrEnum):
    """The order children run in."""

    SEQUENCE = "sequence"
    """In order, until one fails."""
    FALLBACK = "fallback"
    """In order, until one succeeds."""
    PARALLEL = "parallel"
    """All at the same time."""


class Policy(StrEnum):
    """How many parallel children must succeed."""

    ALL = "all"
    MAJORITY = "majority"
    """More than half."""
    ANY = "any"


class End(StrEnum):
    """How a node ended, as its control flow sees it."""

    SUCCESS = "success"
    FAILURE = "failure"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why a run could not go on."""

    reason: str
    """A clause in plain words, in the first person."""
    is_budget: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOutcome:
    """What a node hands to the node above it."""

    termination: Termination
    output: str = ""
    asked: bool = False
    """The output is, or holds, a question to the person; nothing can go on before the answer."""
    stop: Stop | None = None
    """Set when the node was aborted."""

    @property
    def end(self) -> End:
        """The outcome as a truth value."""
        if self.asked or self.termination is Termination.ABORTED:
            return End.STOPPED
        return End.FAILURE if self.termination is Termination.FAILURE else End.SUCCESS


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowResult:
    """The end of a control node and the outcomes of the children that ran, in order of the subgoals."""

    flow: Flow
    end: End
    outcomes: tuple[NodeOutcome, ...]

    @property
    def output(self) -> str:
        """The children's results: a fallback's winner, else everything that succeeded, separated by blank lines."""
        if self.flow is Flow.FALLBACK and self.end is End.SUCCESS:
            return self.outcomes[-1].output
        holds = [outcome.output for outcome in self.outcomes if outcome.end is not End.FAILURE]
        return "\n\n".join(output for output in holds if output)


NOT_NEEDED = Stop(reason="the other parts had settled it")
"""Why a parallel child was cancelled."""

Child = Callable[[], Coroutine[Any, Any, NodeOutcome]]


async def run_flow(flow: Flow, children: Sequence[Child], policy: Policy = Policy.ALL) -> FlowResult:
    """Run the children as the flow says. An exception of a child cancels the others and passes on."""
    if flow is Flow.PARALLEL:
        outcomes = await _at_once(children, policy)
        end = judge(policy, [outcome.end for outcome in outcomes])
    else:
        goes_on = End.SUCCESS if flow is Flow.SEQUENCE else End.FAILURE
        outcomes = await _while(goes_on, children)
        end = outcomes[-1].end if outcomes else goes_on
    return FlowResult(flow=flow, end=end, outcomes=tuple(outcomes))


def judge(policy: Policy, ends: Sequence[End]) -> End:
    """The end of parallel children: decided as soon as the stopped ones could not change it, else stopped."""
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

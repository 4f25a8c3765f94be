"""Replay: questions whose answers people approved are answered again, and the answers compared. Changes nothing.

Writes to memory are rolled back (`DryRunStore`). Tools with side effects are not run, but count as done; other tools
are run.
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.agent.tools.registry import Tool, ToolContext, ToolRegistry
from bot.agent.tree import AgentTree, RunResult
from bot.app.wiring.build import make_agent, make_memory, open_store
from bot.app.wiring.models import make_model
from bot.app.wiring.startup import make_embedder
from bot.app.wiring.tools import make_agent_tools
from bot.config import Settings
from bot.conversation.answers.background import MemoryRecall
from bot.conversation.executor import Executor
from bot.errors import ModelError
from memory.adapters.dry_run_store import DryRunStore
from memory.adapters.system import TimeOrderedIds, utc_now
from memory.model import ASK, Episode, Grant, Permission, Role, StepKind, Termination, Usage, Verdict
from memory.ports import EpisodeFilter
from memory.rules.retrieval.similarity import unit_cosine
from memory.services import Memory

log = logging.getLogger(__name__)

MOST_FAILURES = 3
"""The number of runs in a row without a reply of the model after which the rest is skipped."""
NOT_CARRIED_OUT = "Done. (This is a replay: nothing was carried out.)"

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SOURCE = re.compile(r"https?://[^\s<>|)\]]+|\b[\w-]+\.(?:md|txt|html?|pdf)\b", re.IGNORECASE)


class Differs(StrEnum):
    """In what a new answer differs from the approved one."""

    ACTION = "action"
    """It uses other tools."""
    ARGUMENTS = "arguments"
    """It calls them with other arguments."""
    SOURCES = "sources"
    """It cites other pages or files."""
    MEANING = "meaning"
    """It says something else."""
    ASKED = "asked"
    """It asks the person back instead."""
    FAILED = "failed"
    """There is no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A tool call that contributed to an answer."""

    tool: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedAnswer:
    """An answer: its tool calls and its text."""

    text: str
    deeds: tuple[ToolUse, ...]
    similarity: float | None = None
    """For a new answer, its similarity in meaning to the approved one, -1..1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One approved answer, and the new one."""

    episode_id: str
    run_id: str
    workspace: str
    goal: str
    before: ReplayedAnswer
    after: ReplayedAnswer
    differs: tuple[Differs, ...]
    """The differences; empty for the same answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The result of a replay, with its cost."""

    model: str
    answers: tuple[Replayed, ...]
    left_out: int
    """The number of answers that were skipped because the model gave no replies."""
    usage: Usage

    @property
    def different(self) -> tuple[Replayed, ...]:
        """The answers that differ."""
        return tuple(each for each in self.answers if each.differs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRequest:
    """Which answers are replayed, and how they are compared."""

    workspace: str
    channel: str = ""
    since: datetime | None = None
    limit: int = 50
    without_own: bool = False
    """Whether an answer's own lesson is left out, to see what the other lessons achieve."""
    tool_timeout_s: float = 30.0
    similarity: float = 0.8
    """The similarity from which two texts mean the same."""


def approved_nodes(memory: Memory, wanted: ReplayRequest) -> list[tuple[Episode, ...]]:
    """The nodes of the runs whose answers people approved, newest first; of each question only the newest."""
    every = EpisodeFilter(
        channel=wanted.channel, since=wanted.since, verdict=Verdict.SUCCESS, roots_only=True, limit=None
    )
    found: dict[tuple[str, ...], str] = {}
    for root in memory.audit.episodes(wanted.workspace, every):
        if root.action != ASK and root.is_lesson:
            found.setdefault((root.channel, root.person, " ".join(root.goal.casefold().split())), root.run_id)
    runs = list(dict.fromkeys(found.values()))[: wanted.limit]
    return [tuple(memory.audit.nodes(wanted.workspace, run_id)) for run_id in runs]


def without_effects(tools: ToolRegistry, timeout_s: float) -> ToolRegistry:
    """The same tools, of which those with side effects need no approval and do nothing."""

    async def nothing(_: Mapping[str, object], __: ToolContext) -> str:
        return NOT_CARRIED_OUT

    async def permit(_: Tool, __: Mapping[str, object], ___: ToolContext) -> Permission | None:
        return Permission(grant=Grant.ONCE, by="replay")

    every = [tool for name in tools.names if (tool := tools.get(name)) is not None]
    harmless = [replace(tool, run=nothing) if tool.has_side_effects else tool for tool in every]
    return ToolRegistry(harmless, timeout_s=timeout_s, permit=permit)


async def replayed(settings: Settings, wanted: ReplayRequest, model: str, on_step: Callable[[int], None]) -> Replay:
    """Replay with the configured bot, and with another model if given. Raises `ConfigError` for an unknown model."""
    if model:
        chosen = type(settings.model)(**{**settings.model.model_dump(), "name": model, "fallbacks": ()})
        settings = settings.model_copy(update={"model": chosen})
    executor = Executor()
    with open_store(settings) as store:
        memory = make_memory(settings, DryRunStore(store), make_embedder(settings), utc_now, TimeOrderedIds())
        asked = make_model(settings, memory.embedder)
        agent_tools, recall = make_agent_tools(settings, memory, executor), MemoryRecall(memory, executor)
        try:
            if agent_tools.servers is not None:
                await agent_tools.servers.wait_until_tried()
            if agent_tools.knowledge is not None:
                await agent_tools.knowledge.reload()
            return await replay(memory, make_agent(settings, memory, asked, recall, agent_tools.tools), wanted, on_step)
        finally:
            await asked.close()
            await agent_tools.close()
            executor.close()


async def replay(
    memory: Memory, agent: AgentTree, wanted: ReplayRequest, on_step: Callable[[int], None] = lambda done: None
) -> Replay:
    """Answer approved questions again. `memory` should store nothing (`DryRunStore`)."""
    runs = approved_nodes(memory, wanted)
    comparison, answers = _Comparison(memory, agent.tools, wanted.similarity), list[Replayed]()
    usage, failures = Usage(), 0
    for nodes in runs:
        on_step(len(answers))
        try:
            result = await _run(memory, agent, nodes[0], wanted)
            usage, failures = usage + result.usage, 0
        except ModelError as error:
            log.warning("replay of %s: %s", nodes[0].run_id, error)
            result, failures = None, failures + 1
        answers.append(comparison.replayed(nodes, result))
        if failures >= MOST_FAILURES:
            break
    return Replay(model=agent.model.name, answers=tuple(answers), left_out=len(runs) - len(answers), usage=usage)


async def _run(memory: Memory, agent: AgentTree, root: Episode, wanted: ReplayRequest) -> RunResult:
    # Recall leaves out the run's own episodes.
    run_id = root.run_id if wanted.without_own else memory.new_id()
    tools = without_effects(agent.tools.within(root.scope, Role.MEMBER), wanted.tool_timeout_s)
    return await agent.run(root.goal, root.scope, run_id=run_id, tools=tools)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Compares new answers with approved ones; from this similarity on two texts mean the same."""

    memory: Memory
    tools: ToolRegistry
    similarity: float

    def replayed(self, nodes: Sequence[Episode], result: RunResult | None) -> Replayed:
        """The approved answer of these nodes and the new one, None if there is none."""
        root = nodes[0]
        before = ReplayedAnswer(text=root.output, deeds=tool_uses_of(nodes, self.tools))
        after = ReplayedAnswer(text="", deeds=())
        differs: tuple[Differs, ...] = (Differs.FAILED,)
        if result is not None:
            deeds, likeness = tool_uses_of(result.nodes, self.tools), self._likeness(before.text, result.output)
            after = ReplayedAnswer(text=result.output, deeds=deeds, similarity=round(likeness, 3))
            differs = tuple(self._differences(before, after, result))
        return Replayed(
            episode_id=root.id,
            run_id=root.run_id,
            workspace=root.workspace,
            goal=root.goal,
            before=before,
            after=after,
            differs=differs,
        )

    def _differences(self, before: ReplayedAnswer, after: ReplayedAnswer, result: RunResult) -> list[Differs]:
        if result.asked:
            return [Differs.ASKED]
        if result.termination not in (Termination.SUCCESS, Termination.EXPAND):
            return [Differs.FAILED]
        found: list[Differs] = []
        if sorted(each.tool for each in before.deeds) != sorted(each.tool for each in after.deeds):
            found.append(Differs.ACTION)
        elif not all(self._has_alike(deed, after.deeds) for deed in before.deeds):
            found.append(Differs.ARGUMENTS)
        if sources_of(before.text) != sources_of(after.text):
            found.append(Differs.SOURCES)
        # A tool may return another number now than then, which is not a different answer.
        rests_on_tools = bool(before.deeds) and not found
        used = (self.tools.get(deed.tool) for deed in before.deeds)
        if not found and any(tool is not None and tool.has_side_effects for tool in used):
            return []
        is_near = rests_on_tools and (after.similarity or 0) >= self.similarity
        return found if is_near or self._is_alike(before.text, after.text) else [*found, Differs.MEANING]

    def _has_alike(self, deed: ToolUse, others: Sequence[ToolUse]) -> bool:
        return any(
            other.tool == deed.tool
            and other.arguments.keys() == deed.arguments.keys()
            and all(self._is_alike(value, other.arguments[name]) for name, value in deed.arguments.items())
            for other in others
        )

    def _is_alike(self, one: object, other: object) -> bool:
        """Whether two values mean the same: equal, or texts with the same numbers and enough similarity."""
        if not isinstance(one, str) or not isinstance(other, str):
            return one == other
        if " ".join(one.casefold().split()) == " ".join(other.casefold().split()):
            return True
        has_same_numbers = sorted(_NUMBER.findall(one)) == sorted(_NUMBER.findall(other))
        return has_same_numbers and self._likeness(one, other) >= self.similarity

    def _likeness(self, one: str, other: str) -> float:
        first, second = self.memory.embedder.embed([one, other])
        return unit_cosine(first, second)


def tool_uses_of(nodes: Sequence[Episode], tools: ToolRegistry) -> tuple[ToolUse, ...]:
    """The tool calls of the nodes that contributed to the answer, without failed calls and a node's own notes."""
    return tuple(
        ToolUse(tool=step.tool, arguments=dict(step.arguments))
        for node in nodes
        for number, step in enumerate(node.trajectory)
        if step.kind is StepKind.ACT
        and step.tool
        and not any(after.is_error for after in node.trajectory[number + 1 : number + 2])
        and ((tool := tools.get(step.tool)) is None or tool.is_informative)
    )


def sources_of(text: str) -> frozenset[str]:
    """The pages and files cited in a text."""
    return frozenset(each.rstrip(".,;:!?").casefold() for each in _SOURCE.findall(text))

"""The agent tree: one question in, one answer out, and an episode for every node that worked on it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.agent.conversation import ChatLine, render_conversation
from bot.agent.node import AgentNode
from bot.agent.record import Task, context_elements
from bot.agent.resumption import Earlier
from bot.agent.run import Agent, Budget, Journal, Recall, Run, capped_reason
from bot.agent.tools.registry import ToolRegistry
from bot.agent.understanding import understood
from bot.model import ImageFile
from memory.model import GAVE_UP, Allowed, Episode, Option, Recollection, Role, Scope, Termination, Usage
from memory.model.spending import Allowance


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The answer to one question and how it came to be."""

    output: str
    """Never empty."""
    termination: Termination
    """The root's."""
    nodes: tuple[Episode, ...]
    """Pending episodes in the order the nodes started: the root first."""
    recollections: tuple[Recollection, ...]
    """What was recalled for each node, and what of it was in its prompt."""
    asked: bool
    """The output is, or holds, a question to the person."""
    usage: Usage
    chosen: bool = False
    """Whether it began with what the person chose."""
    understood: str = ""
    """What the question was taken to mean in its conversation, where that is more than it says."""
    words_of: frozenset[str] = frozenset()
    """Others whose words the tools repeated."""
    allowed: tuple[Allowed, ...] = ()
    """The tools with effects that ran, and who let them."""

    @property
    def knows_nothing(self) -> bool:
        """Whether it says only that the answer is not known: the root failed, and neither tools nor parts found any."""
        return self.termination is Termination.FAILURE and not self.asked and self.nodes[0].action == GAVE_UP


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTree(Agent):
    """Answers questions with a tree of agent nodes. One instance serves many runs, at the same time too."""

    def surroundings(self, scope: Scope, tools: ToolRegistry) -> frozenset[str]:
        """What surrounds the first node of a run."""
        return frozenset(context_elements(scope, tools, []))

    async def run(
        self,
        goal: str,
        scope: Scope,
        *,
        run_id: str,
        on_progress: Callable[[str], None] | None = None,
        on_answer: Callable[[str], None] | None = None,
        cancel: asyncio.Event | None = None,
        images: tuple[ImageFile, ...] = (),
        chosen: Option | None = None,
        earlier: tuple[ChatLine, ...] = (),
        preferences: tuple[str, ...] = (),
        recalled: Recollection | None = None,
        role: Role = Role.MEMBER,
        recall: Recall | None = None,
        since: float | None = None,
        allowance: Allowance | None = None,
        tools: ToolRegistry | None = None,
        resumed: Earlier | None = None,
        journal: Journal | None = None,
    ) -> RunResult:
        """Pursue a goal until it succeeds, fails, is out of budget, or `cancel` is set. The result always has a text.

        `on_answer` is told of the answer while it is written. The goal is what it means after `earlier`, oldest first.
        `recalled` is what was recalled for it; `recall` and `tools` replace the tree's own. What was `chosen`, in this
        `role`, is done first. Its time began `since`. Raises `ModelError` if the very first reply failed.
        """
        run = Run(
            agent=self,
            question=goal,
            scope=scope,
            run_id=run_id,
            tools=tools or self.tools,
            recall=recall or self.recall,
            budget=Budget(self.limits, self.monotonic, since, allowance),
            on_progress=on_progress or (lambda text: None),
            on_answer=on_answer,
            cancel=cancel or asyncio.Event(),
            conversation=render_conversation(earlier, self.conversation_budget_tokens) if earlier else "",
            images=images,
            chosen=chosen,
            preferences=preferences,
            recalled=recalled,
            role=role,
            earlier=resumed,
            journal=journal,
        )
        goal = resumed.goal if resumed is not None else goal
        meant = await understood(run, goal, earlier) if earlier and resumed is None else goal
        return await _result(run, Task(goal=meant, said_as=goal if meant != goal else ""))


async def _result(run: Run, task: Task) -> RunResult:
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "goodbot", "goodbot.run.id": run.run_id}
    with run.agent.spans("invoke_agent goodbot", attributes, {"goodbot.question": run.question}) as add:
        outcome = await AgentNode(run, task).pursue()
        add({"goodbot.run.termination": outcome.termination.value, "goodbot.run.tokens": run.budget.usage.tokens})
    if outcome.stop is not None and (used_up := capped_reason(run.budget.allowance, Usage())):
        outcome = replace(outcome, output=f"Sorry, {used_up}.")
    return RunResult(
        output=outcome.output,
        termination=outcome.termination,
        nodes=run.episodes,
        recollections=run.recollections,
        asked=outcome.asked,
        usage=run.budget.usage,
        chosen=run.chosen is not None,
        understood=task.goal if task.said_as else "",
        words_of=frozenset(run.words_of),
        allowed=tuple(run.allowed),
    )

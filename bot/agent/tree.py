"""The agent tree: answers a question, and returns an episode for every node."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.agent.conversation import ChatLine, render_conversation
from bot.agent.earlier_run import EarlierRun
from bot.agent.node import AgentNode
from bot.agent.record import Task, context_elements
from bot.agent.run import Agent, Budget, Journal, Recall, Run, capped_reason
from bot.agent.tools.registry import ToolRegistry
from bot.agent.understanding import rewritten_question
from bot.model import ImageFile
from memory.model import AllowedAction, Episode, Option, Recollection, Role, Scope, Termination, Usage, found_nothing
from memory.model.spending import Allowance


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The answer to a question, and the episodes and recollections of its run."""

    output: str
    """Never empty."""
    termination: Termination
    """The root's termination."""
    nodes: tuple[Episode, ...]
    """Pending episodes in the order the nodes started, the root first."""
    recollections: tuple[Recollection, ...]
    """The recollection of each node, with the ids of the lessons in its prompt."""
    asked: bool
    """The output is, or contains, a question to the person."""
    usage: Usage
    chosen: bool = False
    """Whether the run began with an option that the person chose."""
    understood: str = ""
    """The rewritten question, if it was rewritten to stand alone."""
    words_of: frozenset[str] = frozenset()
    """Ids of people whose words the tools' results repeat."""
    allowed: tuple[AllowedAction, ...] = ()
    """The tools with effects that ran, and who allowed them."""

    @property
    def lacks_parts(self) -> bool:
        """Whether a part of the question has no answer, which the output says after the answers to the others."""
        is_split, has_failed = self.nodes[0].is_split, self.termination is Termination.FAILURE
        return has_failed and not self.asked and is_split and not self.knows_nothing

    @property
    def knows_nothing(self) -> bool:
        """Whether the answer is not known: the root failed, and neither tools nor subgoals found anything."""
        return not self.asked and found_nothing(self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTree(Agent):
    """Answers questions with a tree of agent nodes. One instance serves concurrent runs."""

    def surroundings(self, scope: Scope, tools: ToolRegistry) -> frozenset[str]:
        """The context elements of the root of a run."""
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
        resumed: EarlierRun | None = None,
        journal: Journal | None = None,
    ) -> RunResult:
        """Pursue a goal until it succeeds, fails, reaches a limit, or `cancel` is set. The output is never empty.

        `on_answer` receives the partial answer. `earlier` is the conversation before the goal, oldest first, by which
        the goal is understood. `recalled` is a recollection made before; `recall` and `tools` replace the agent's own.
        `chosen` is the option the person chose, in `role`: the run begins with it. `since` is when its time began.
        Raises `ModelError` if the first request failed.
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
        meant = await rewritten_question(run, goal, earlier) if earlier and resumed is None else goal
        return await _result(run, Task(goal=meant, original=goal if meant != goal else ""))


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
        understood=task.goal if task.original else "",
        words_of=frozenset(run.words_of),
        allowed=tuple(run.allowed),
    )

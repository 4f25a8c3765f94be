"""An agent node: pursues one goal in a fresh context, one decision at a time (ReAcTree, arXiv 2511.02424).

Unlike in the paper, a node whose expansion failed is told why and continues, once; wrong calls may be corrected; a node
may ask the person.

Errors of the model: one on the first request is raised. Later, an unreadable reply or a refusal fails this node only,
so a fallback may still succeed; an unreachable model or a rejected request stops the run, which ends with what it
found.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from bot.agent.control import NOT_NEEDED, Child, End, Flow, NodeOutcome, Stop, run_flow
from bot.agent.decision import Act, Answer, Ask, Choice, Expand, Fail, Invalid, Think
from bot.agent.dialogue import Dialogue, node_prompt, tool_output
from bot.agent.earlier_run import is_over
from bot.agent.expansion import child_task, failure_report, refusal, unanswered_parts
from bot.agent.options import (
    MOST_SHOWN,
    approval_option,
    approval_text,
    known_options,
    question_text,
    where_lessons_disagree,
)
from bot.agent.record import Task, after_model_error, failed_outcome, finding_key, stopped_outcome
from bot.agent.resumption import Unfinished, take_over
from bot.agent.run import Halted, Run
from bot.agent.tools.registry import Tool, ToolContext
from bot.errors import BudgetExceeded, ModelError, ModelUnavailable
from bot.model import ModelReply, ToolCall
from memory.errors import MemoryFault
from memory.model import FROM_PEOPLE, AllowedAction, Episode, Option, Permission, Termination, Usage
from memory.rules.retrieval.prompt import one_line

MAX_MISTAKES = 3
"""Invalid decisions in a row after which the node gives up."""

MAX_CALLS = 8
"""The most tool calls of one decision; further ones do not run."""

_REPEATED = (
    "You have just called {tool} with the same arguments; what it returned is above. It did not run again. "
    "Answer with that, use other arguments or another tool, or fail."
)

_PROGRESS_CHARACTERS = 80
_FREE = Usage()

_log = logging.getLogger(__name__)
_CHAT = {"gen_ai.operation.name": "chat"}
_TOOL = {"gen_ai.operation.name": "execute_tool"}


def _used(reply: ModelReply) -> Mapping[str, str | int | float]:
    used = reply.usage
    return {
        "gen_ai.response.model": reply.model,
        "gen_ai.usage.input_tokens": used.prompt_tokens,
        "gen_ai.usage.output_tokens": used.completion_tokens,
    }


class AgentNode:
    """Pursues one goal. The constructor starts the node's trace."""

    def __init__(self, run: Run, task: Task) -> None:
        self._run = run
        self._task = task
        self._trace = run.start(task)
        self._mistakes = 0

    async def pursue(self) -> NodeOutcome:
        """Work until the node ends. Raises `ModelError` if the first request of the run failed."""
        path = self._task.path
        with self._run.agent.spans(
            f"node {path}", {"goodbot.node.path": path}, {"goodbot.goal": self._task.goal}
        ) as add:
            outcome = await self._ended()
            add(
                {
                    "goodbot.node.termination": outcome.termination.value,
                    "gen_ai.usage.cost_usd": self._trace.usage.cost_usd,
                }
            )
            return outcome

    async def _ended(self) -> NodeOutcome:
        try:
            outcome = await self._work()
        except BudgetExceeded as limit:
            outcome = stopped_outcome(self._trace, Stop(reason=str(limit), is_budget=True))
        except Halted as halt:
            outcome = stopped_outcome(self._trace, Stop(reason=halt.reason))
        except asyncio.CancelledError:
            self._run.finish(self._trace, NodeOutcome(termination=Termination.ABORTED, stop=NOT_NEEDED))
            raise
        except ModelError as fault:
            if not self._run.has_decided:
                raise
            _log.warning("run %s node %s: the model failed: %s", self._run.run_id, self._task.path, fault)
            outcome = after_model_error(self._trace, fault)
        self._run.finish(self._trace, outcome)
        return outcome

    async def _work(self) -> NodeOutcome:
        run = self._run
        earlier = run.earlier.of(self._task.path, self._task.goal) if run.earlier is not None else None
        if earlier is not None and is_over(earlier):
            self._trace.take(earlier)
            return NodeOutcome(termination=earlier.termination, output=earlier.output)
        if run.cancel.is_set():
            run.check()  # before the models are needed, which may still have to load
        dialogue = await self._open()
        outcome = await (self._resume(earlier, dialogue) if earlier else self._before_the_model(dialogue))
        if outcome is not None:
            return outcome
        while True:
            run.check()
            run.budget.spend_decision()
            with run.agent.spans(
                f"chat {run.agent.model.name}", _CHAT | {"gen_ai.request.model": run.agent.model.name}, {}
            ) as add:
                reply = await self._reply(dialogue)
                add(_used(reply))
            run.has_decided = True
            run.budget.spend(reply.usage)
            self._trace.usage += reply.usage
            self._trace.model = reply.model or run.agent.model.name
            if reply.impossible:
                run.rule_out(self._trace, reply.impossible)
            decision = dialogue.add_reply(reply)
            for thought in decision.thoughts:
                self._trace.think(thought)
            outcome = await self._carry_out(decision.choice, dialogue)
            if outcome is not None:
                return outcome
            if reply.usage != _FREE:
                await run.keep()

    async def _reply(self, dialogue: Dialogue) -> ModelReply:
        """The model's reply. If it is stopped while it is written, the answer so far is kept: people have seen it."""
        try:
            return await self._run.within(self._run.agent.model.reply(dialogue.request()))
        except (BudgetExceeded, Halted, ModelUnavailable):
            if begun := dialogue.begun:
                self._trace.begun = f"{begun} …"
                self._run.has_decided = True
            raise

    async def _resume(self, earlier: Episode, dialogue: Dialogue) -> NodeOutcome | None:
        """Take over the node's earlier steps, and carry out what was not finished. None: ask the model."""
        self._run.has_decided = True
        async with aclosing(take_over(self._run, self._trace, earlier, dialogue)) as unfinished:
            async for each in unfinished:
                outcome = await self._carry_out(each, dialogue)
                if outcome is not None:
                    return outcome
        return None

    async def _before_the_model(self, dialogue: Dialogue) -> NodeOutcome | None:
        """End, or act, without the model: by the person's choice, a known answer, or a question where lessons disagree.

        None: ask the model.
        """
        chosen = self._run.chosen if not self._task.parent_id and self._run.earlier is None else None
        if chosen is not None:
            return await self._carry_out_chosen(chosen, dialogue)
        if self._run.images:
            return None  # the lessons know no pictures
        if known := self._trace.known_answer:
            return self._from_people(known)
        evidence = self._trace.evidence
        if self._run.agent.asks_first and self._may_ask and evidence is not None:
            ask = where_lessons_disagree(evidence, self._run.tools)
            self._run.has_decided = self._run.has_decided or ask is not None
            return self._ask(ask) if ask is not None else None
        return None

    async def _carry_out_chosen(self, chosen: Option, dialogue: Dialogue) -> NodeOutcome | None:
        """Answer with the option that the person chose, or run its tool. None: ask the model."""
        if chosen.text:
            return self._from_people(chosen.text)
        call = ToolCall(id="chosen", name=chosen.action, arguments=chosen.arguments)
        self._run.has_decided = True
        dialogue.begin_with(call)
        return await self._act(Act(calls=(call,)), dialogue, permission=chosen.permission)

    def _from_people(self, known: str) -> NodeOutcome:
        self._run.has_decided = True
        self._trace.model = FROM_PEOPLE
        self._trace.say(known)
        return NodeOutcome(termination=Termination.SUCCESS, output=known)

    @property
    def _may_ask(self) -> bool:
        """Whether the node may ask the person: not as an alternative of a fallback, unless it is the last."""
        return self._task.flow != Flow.FALLBACK.value or self._task.position == self._task.total

    def _ask(self, ask: Ask) -> NodeOutcome:
        options = known_options(ask.options, self._run.tools, self._trace.evidence)
        text = question_text(ask.question, options, self._task) if options else ask.question
        self._trace.ask(text, options)
        return NodeOutcome(termination=Termination.SUCCESS, output=text, asked=True)

    async def _open(self) -> Dialogue:
        """The node's dialogue, opened with lessons, working-memory keys, conversation, situation and goal."""
        run, task = self._run, self._task
        if task.parent_id:
            run.on_progress(one_line(task.goal, _PROGRESS_CHARACTERS))
        lessons = await run.lessons_for(self._trace)
        opening = node_prompt(
            task,
            self._trace.started_at,
            lessons=lessons,
            memory=run.memory.entries(),
            conversation=self._conversation,
        )
        return Dialogue(
            opening,
            run.tools.specs,
            run.agent.tool_calls,
            can_expand=self._is_above_the_last_level,
            can_ask=self._may_ask,
            has_conversation=bool(self._conversation),
            images=run.images,
            preferences=run.preferences,
            # Without it, the model uses the lessons in its prompt.
            weigh=partial(run.weigh, self._trace) if self._trace.evidence else None,
            on_answer=run.on_answer if not task.parent_id else None,
        )

    @property
    def _conversation(self) -> str:
        """The conversation before the question, for the root only: subgoals are phrased to be understood alone."""
        return "" if self._task.parent_id else self._run.conversation

    async def _carry_out(self, choice: Choice | Unfinished, dialogue: Dialogue) -> NodeOutcome | None:
        """Carry out a decision, or what is left of an earlier one. None: ask the model again."""
        match choice:
            case Answer(text=text):
                self._trace.say(text)
                return NodeOutcome(termination=Termination.SUCCESS, output=text)
            case Ask():
                return self._ask(choice)
            case Fail(reason=reason):
                explanation = reason or "I could not find an answer."
                self._trace.say(explanation, is_error=True)
                return failed_outcome(explanation, self._trace.child_findings)
            case Think(text=text):
                self._trace.think(text)
                dialogue.remark("OK.")
                return None
            case Act():
                return await self._act(choice, dialogue)
            case Expand():
                return await self._expand(choice, dialogue)
            case Option():
                return await self._carry_out_chosen(choice, dialogue)
            case NodeOutcome():
                return choice
            case Invalid(problem=problem):
                return self._mistake(problem, dialogue)

    async def _act(self, act: Act, dialogue: Dialogue, *, permission: Permission | None = None) -> NodeOutcome | None:
        """Run tool calls. `permission` allows the effects of a call that a person chose, in their role."""
        run, trace = self._run, self._trace
        calls, context = act.calls[:MAX_CALLS], run.tool_context(self._task)
        if permission:
            context = replace(context, role=run.role)
        permissions = [permission] if permission else [await self._permission(call, context) for call in calls]
        if self._may_ask:
            for call, permitted in zip(calls, permissions, strict=True):
                tool = run.tools.get(call.name)
                if permitted is None and tool is not None and await self._is_to_be_asked(tool, call):
                    return self._ask_for(tool, call, dialogue)
        any_understood = False
        for call, permitted in zip(calls, permissions, strict=True):
            if trace.repeats(call.name, call.arguments):
                repeated = _REPEATED.format(tool=call.name)
                trace.observe(repeated, tool=call.name, is_error=True)
                dialogue.observe(call, repeated, is_error=True)
                continue
            run.on_progress(f"using {one_line(call.name, _PROGRESS_CHARACTERS)}")
            trace.act(call.name, call.arguments, call.raw)
            tool = run.tools.get(call.name)
            if permitted is not None and tool is not None and tool.has_side_effects:
                await run.keep(doing=call)
                run.allowed.append(AllowedAction(node_id=trace.id, tool=call.name, permission=permitted))
            with run.agent.spans(
                f"execute_tool {one_line(call.name, 64)}", _TOOL | {"gen_ai.tool.name": call.name}, {}
            ) as add:
                result = await run.within(run.tools.run(call, context, is_approved=permitted is not None))
                add({"goodbot.tool.failed": result.is_error})
            trace.observe(result.content, tool=call.name, is_error=result.is_error, is_untrusted=result.is_outside)
            if permitted is not None:
                await run.keep()
            dialogue.observe(call, result.content, is_error=result.is_error)
            any_understood = any_understood or not result.is_mistake
            if not result.is_error:
                trace.note(tool, call, result.content)
        self._mistakes = 0 if any_understood else self._mistakes + 1
        return self._given_up()

    async def _permission(self, call: ToolCall, context: ToolContext) -> Permission | None:
        """The permission of a call with effects; None if there is none, it is unknown, or the tool has no effects."""
        tool = self._run.tools.get(call.name)
        if tool is None or not tool.has_side_effects or call.arguments is None:
            return None
        try:
            return await self._run.within(self._run.tools.permit(tool, call.arguments, context))
        except MemoryFault as fault:
            _log.warning("run %s asks about %s: what lets it run is unknown: %s", self._run.run_id, call.name, fault)
            return None

    async def _is_to_be_asked(self, tool: Tool, call: ToolCall) -> bool:
        """Whether to ask a person for approval: the call is valid, has effects, and is no repetition."""
        is_new = tool.has_side_effects and not self._trace.repeats(call.name, call.arguments)
        return is_new and not await self._run.tools.problem(call)

    def _ask_for(self, tool: Tool, call: ToolCall, dialogue: Dialogue) -> NodeOutcome | None:
        """Ask for approval of one call."""
        option = approval_option(tool.spec, call.arguments or {})
        text = approval_text(tool.spec, option, self._task)
        if len(text) > MOST_SHOWN:
            return self._mistake(f"Nobody can read {len(text)} characters before they approve. Shorten them.", dialogue)
        self._trace.ask(text, (option,))
        return NodeOutcome(termination=Termination.SUCCESS, output=text, asked=True)

    async def _expand(self, wanted: Expand, dialogue: Dialogue) -> NodeOutcome | None:
        """Pursue the subgoals. None: the expansion failed or was refused, and the model is told why."""
        problem = refusal(wanted, self._trace, self._run.budget.limits.max_depth)
        if problem:
            return self._mistake(problem, dialogue)
        self._mistakes = 0
        trace = self._trace
        trace.expand(wanted.flow, wanted.subgoals, wanted.policy.value)
        children = [self._child(wanted, number) for number in range(len(wanted.subgoals))]
        result = await run_flow(wanted.flow, children, wanted.policy)
        trace.child_findings = result.output
        if result.end is End.SUCCESS:
            return NodeOutcome(termination=Termination.EXPAND, output=result.output)
        if any(outcome.asked for outcome in result.outcomes):
            output = "\n\n".join(filter(None, [result.output, unanswered_parts(wanted, result)]))
            return NodeOutcome(termination=Termination.EXPAND, output=output, asked=True)
        stop = next((outcome.stop for outcome in result.outcomes if outcome.stop is not None), None)
        if result.end is End.STOPPED and stop is not None:
            return stopped_outcome(self._trace, stop)
        report = failure_report(wanted, result)
        trace.observe(report, is_error=True)
        advice = "You cannot expand again. Answer with what there is, use a tool, or fail."
        dialogue.remark(f"{tool_output('expand', report)}\n{advice}", is_error=True)
        return None

    def _child(self, wanted: Expand, number: int) -> Child:
        run, task = self._run, child_task(wanted, number, self._trace)

        async def pursue() -> NodeOutcome:
            outcome = await AgentNode(run, task).pursue()
            if wanted.flow is Flow.SEQUENCE and outcome.end is End.SUCCESS:
                # The only way that later subgoals of a sequence can read earlier results.
                run.memory.store(finding_key(task.goal), outcome.output, node=task.path, at=run.agent.clock())
            return outcome

        return pursue

    @property
    def _is_above_the_last_level(self) -> bool:
        return self._task.depth < self._run.budget.limits.max_depth

    def _mistake(self, problem: str, dialogue: Dialogue) -> NodeOutcome | None:
        self._trace.observe(problem, is_error=True)
        dialogue.remark(problem, is_error=True)
        self._mistakes += 1
        return self._given_up()

    def _given_up(self) -> NodeOutcome | None:
        if self._mistakes < MAX_MISTAKES:
            return None
        return failed_outcome("I could not work out how to go on.", self._trace.found)

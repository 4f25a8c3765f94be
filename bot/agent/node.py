"""An agent node: one goal, a fresh context, one decision at a time, one end (ReAcTree, arXiv 2511.02424).

Beyond the paper: a node whose expansion failed is told why and goes on, once; wrong calls may be corrected; a node may
ask the person.

What the model's errors do. Before anything was decided there is nothing to save: the error passes on. Later, a reply
that cannot be understood or a refusal fails this node alone, and a fallback may still succeed; a model that cannot be
reached or rejects the request stops the run, which ends with what was found.
"""

import asyncio
import logging
from functools import partial

from bot.agent.asking import (
    MOST_SHOWN,
    approval_option,
    approval_text,
    known_options,
    question_text,
    where_lessons_disagree,
)
from bot.agent.control import NOT_NEEDED, Child, End, Flow, FlowResult, Outcome, Stop, run_flow
from bot.agent.decision import Act, Answer, Ask, Choice, Expand, Fail, Invalid, Think, is_same_goal
from bot.agent.dialogue import Dialogue
from bot.agent.prompt import node_prompt, tool_output
from bot.agent.record import Task, finding_key
from bot.agent.run import Halted, Run
from bot.agent.tools.registry import Tool, ToolContext
from bot.errors import BudgetExceeded, MalformedReply, ModelError, ModelRefused, ModelUnavailable
from bot.model import ToolCall
from memory.errors import MemoryFault
from memory.model import FROM_PEOPLE, Allowed, Lesson, Permission, Termination
from memory.rules.evidence.opposition import are_opposed
from memory.rules.retrieval.prompt import one_line

MAX_MISTAKES = 3
"""Decisions in a row that could not be carried out, before the node gives up."""

MAX_CALLS = 8
"""Tool calls carried out for one decision."""

_REPEATED = (
    "You have just called {tool} with the same arguments; what it returned is above. It did not run again. "
    "Answer with that, use other arguments or another tool, or fail."
)

_PROGRESS_CHARACTERS = 80

_log = logging.getLogger(__name__)


class AgentNode:
    """Pursues one goal. Constructing it starts its trace."""

    def __init__(self, run: Run, task: Task) -> None:
        self._run = run
        self._task = task
        self._trace = run.start(task)
        self._mistakes = 0

    async def pursue(self) -> Outcome:
        """Work until the goal is reached or given up. Raises `ModelError` only if the run's first reply failed."""
        try:
            outcome = await self._work()
        except BudgetExceeded as limit:
            outcome = self._stopped(Stop(reason=str(limit), is_budget=True))
        except Halted as halt:
            outcome = self._stopped(Stop(reason=halt.reason))
        except asyncio.CancelledError:
            self._run.finish(self._trace, Outcome(termination=Termination.ABORTED, stop=NOT_NEEDED))
            raise
        except ModelError as fault:
            if not self._run.has_decided:
                raise
            _log.warning("run %s node %s: the model failed: %s", self._run.run_id, self._task.path, fault)
            outcome = self._after_model_error(fault)
        self._run.finish(self._trace, outcome)
        return outcome

    async def _work(self) -> Outcome:
        run = self._run
        dialogue = await self._open()
        outcome = await self._before_the_model(dialogue)
        if outcome is not None:
            return outcome
        while True:
            run.check()
            run.budget.spend_decision()
            reply = await run.within(run.model.reply(dialogue.request()))
            run.has_decided = True
            run.budget.spend(reply.usage)
            self._trace.usage += reply.usage
            self._trace.model = reply.model or run.model.name
            decision = dialogue.add_reply(reply)
            for thought in decision.thoughts:
                self._trace.think(thought)
            outcome = await self._carry_out(decision.choice, dialogue)
            if outcome is not None:
                return outcome

    async def _before_the_model(self, dialogue: Dialogue) -> Outcome | None:
        """What the person chose, what people know for sure, or a question where they disagree. None: ask the model."""
        chosen = self._run.chosen if not self._task.parent_id else None
        if chosen is not None and not chosen.text:
            call = ToolCall(id="chosen", name=chosen.action, arguments=chosen.arguments)
            self._run.has_decided = True
            dialogue.begin_with(call)
            return await self._act(Act(calls=(call,)), dialogue, permission=chosen.permission)
        known = chosen.text if chosen is not None else self._known_answer()
        if known:
            self._run.has_decided = True
            self._trace.model = FROM_PEOPLE
            self._trace.say(known)
            return Outcome(termination=Termination.SUCCESS, output=known)
        evidence = self._trace.evidence
        if self._run.asks_first and self._may_ask and evidence is not None and not self._run.images:
            ask = where_lessons_disagree(evidence, self._run.tools)
            self._run.has_decided = self._run.has_decided or ask is not None
            return self._ask(ask) if ask is not None else None
        return None

    @property
    def _may_ask(self) -> bool:
        """Whether it may wait for the person: not while there is something else to fall back to."""
        return self._task.flow != Flow.FALLBACK.value or self._task.position == self._task.total

    def _ask(self, ask: Ask) -> Outcome:
        options = known_options(ask.options, self._run.tools, self._trace.evidence)
        text = question_text(ask.question, options, self._task) if options else ask.question
        if options:
            self._trace.ask(text, options)
        else:
            self._trace.say(text)
        return Outcome(termination=Termination.SUCCESS, output=text, asked=True)

    def _known_answer(self) -> str:
        """The answer that people's verdicts are sure of; empty where there is none, or the model is to be asked.

        It needs no tool, a lesson that was shown has it, and that lesson is not about another thing.
        """
        evidence, goal = self._trace.evidence, self._task.goal
        if not self._trace.known_answers or evidence is None or self._run.images or not evidence.is_sure:
            return ""
        best = evidence.beliefs[0]
        shown = next(
            (each for each in self._trace.shown if each.lesson is Lesson.REPEAT and each.belief == best.value), None
        )
        return best.text if shown is not None and not are_opposed(goal, shown.episode.goal) else ""

    async def _open(self) -> Dialogue:
        """The fresh context: lessons for this goal, the keys of the board, the situation."""
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
            run.tool_calls,
            can_expand=self._is_above_the_last_level,
            can_ask=self._may_ask,
            has_conversation=bool(self._conversation),
            images=run.images,
            preferences=run.preferences,
            # Without, the model goes by the lessons in its prompt.
            weigh=partial(run.weigh, self._trace) if self._trace.evidence else None,
        )

    @property
    def _conversation(self) -> str:
        """What was said before; a subgoal is phrased so that it needs none of it."""
        return "" if self._task.parent_id else self._run.conversation

    async def _carry_out(self, choice: Choice, dialogue: Dialogue) -> Outcome | None:
        """Do what was decided. None: decide again."""
        match choice:
            case Answer(text=text):
                self._trace.say(text)
                return Outcome(termination=Termination.SUCCESS, output=text)
            case Ask():
                return self._ask(choice)
            case Fail(reason=reason):
                explanation = reason or "I could not find an answer."
                self._trace.say(explanation, is_error=True)
                return self._failed(explanation, self._trace.child_findings)
            case Think(text=text):
                self._trace.think(text)
                dialogue.remark("OK.")
                return None
            case Act():
                return await self._act(choice, dialogue)
            case Expand():
                return await self._expand(choice, dialogue)
            case Invalid(problem=problem):
                return self._mistake(problem, dialogue)

    async def _act(self, act: Act, dialogue: Dialogue, *, permission: Permission | None = None) -> Outcome | None:
        """Run the calls. `permission` lets the one that a person chose have its effects."""
        run, trace = self._run, self._trace
        calls, context = act.calls[:MAX_CALLS], self._context
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
                run.allowed.append(Allowed(node_id=trace.id, tool=call.name, permission=permitted))
            result = await run.within(run.tools.run(call, context, is_approved=permitted is not None))
            trace.observe(result.content, tool=call.name, is_error=result.is_error, is_untrusted=result.is_outside)
            dialogue.observe(call, result.content, is_error=result.is_error)
            any_understood = any_understood or not result.is_mistake
            if tool is not None and tool.is_informative and not result.is_error:
                trace.last_tool = (tool.name, tool.main_argument(call.arguments or {}))
                trace.tool_findings.append(result.content)
        self._mistakes = 0 if any_understood else self._mistakes + 1
        return self._given_up()

    @property
    def _context(self) -> ToolContext:
        run = self._run
        return ToolContext(
            scope=run.scope,
            run_id=run.run_id,
            node_path=self._task.path,
            question=run.question,
            goal=self._task.goal,
            memory=run.memory,
            role=run.role,
            credit=run.words_of.update,
        )

    async def _permission(self, call: ToolCall, context: ToolContext) -> Permission | None:
        """What lets a call with effects run without a question; None for what has none, or is not let."""
        tool = self._run.tools.get(call.name)
        if tool is None or not tool.has_side_effects or call.arguments is None:
            return None
        try:
            return await self._run.within(self._run.tools.permit(tool, call.arguments, context))
        except MemoryFault as fault:
            _log.warning("run %s asks about %s: what lets it run is unknown: %s", self._run.run_id, call.name, fault)
            return None

    async def _is_to_be_asked(self, tool: Tool, call: ToolCall) -> bool:
        """Whether a person is asked about a call: it has effects, and could be carried out as it stands."""
        is_new = tool.has_side_effects and not self._trace.repeats(call.name, call.arguments)
        return is_new and not await self._run.tools.problem(call)

    def _ask_for(self, tool: Tool, call: ToolCall, dialogue: Dialogue) -> Outcome | None:
        """Ask whether a call may run; they are asked about one at a time."""
        option = approval_option(tool.spec, call.arguments or {})
        text = approval_text(tool.spec, option, self._task)
        if len(text) > MOST_SHOWN:
            return self._mistake(f"Nobody can read {len(text)} characters before they approve. Shorten them.", dialogue)
        self._trace.ask(text, (option,))
        return Outcome(termination=Termination.SUCCESS, output=text, asked=True)

    async def _expand(self, wanted: Expand, dialogue: Dialogue) -> Outcome | None:
        problem = self._refusal(wanted)
        if problem:
            return self._mistake(problem, dialogue)
        self._mistakes = 0
        trace = self._trace
        trace.expand(wanted.flow, wanted.subgoals, wanted.policy.value)
        children = [self._child(wanted, number) for number in range(len(wanted.subgoals))]
        result = await run_flow(wanted.flow, children, wanted.policy)
        trace.child_findings = result.output
        if result.end is End.SUCCESS:
            return Outcome(termination=Termination.EXPAND, output=result.output)
        if any(outcome.asked for outcome in result.outcomes):
            output = "\n\n".join(filter(None, [result.output, _left(wanted, result)]))
            return Outcome(termination=Termination.EXPAND, output=output, asked=True)
        stop = next((outcome.stop for outcome in result.outcomes if outcome.stop is not None), None)
        if result.end is End.STOPPED and stop is not None:
            return self._stopped(stop)
        report = failure_report(wanted, result)
        trace.observe(report, is_error=True)
        advice = "You cannot expand again. Answer with what there is, use a tool, or fail."
        dialogue.remark(f"{tool_output('expand', report)}\n{advice}", is_error=True)
        return None

    def _child(self, wanted: Expand, number: int) -> Child:
        run, goal = self._run, wanted.subgoals[number]
        task = Task(
            goal=goal,
            path=f"{self._task.path}.{number}",
            parent_id=self._trace.id,
            depth=self._task.depth + 1,
            why=(wanted.reasons[number] if wanted.reasons else "") or f"it is part of: {self._task.goal}",
            flow=wanted.flow.value,
            position=number + 1,
            total=len(wanted.subgoals),
            siblings=wanted.subgoals[:number] + wanted.subgoals[number + 1 :],
        )

        async def pursue() -> Outcome:
            outcome = await AgentNode(run, task).pursue()
            if wanted.flow is Flow.SEQUENCE and outcome.end is End.SUCCESS:
                # Later subgoals of a sequence build on earlier ones, and see nothing of them but the board.
                run.memory.store(finding_key(goal), outcome.output, node=task.path, at=run.clock())
            return outcome

        return pursue

    @property
    def _is_above_the_last_level(self) -> bool:
        return self._task.depth < self._run.budget.limits.max_depth

    def _refusal(self, wanted: Expand) -> str:
        """Why this expansion is not carried out; empty when it is."""
        if not self._is_above_the_last_level:
            return "This goal cannot be split further: the tree is as deep as it may get. Use a tool, answer or fail."
        if self._trace.expanded is not None:
            return "You have expanded before, and cannot again. Use a tool, answer or fail."
        if any(is_same_goal(subgoal, self._task.goal) for subgoal in wanted.subgoals):
            return "A subgoal repeats the goal itself. Pursue it here: use a tool, answer or fail."
        return ""

    def _mistake(self, problem: str, dialogue: Dialogue) -> Outcome | None:
        self._trace.observe(problem, is_error=True)
        dialogue.remark(problem, is_error=True)
        self._mistakes += 1
        return self._given_up()

    def _given_up(self) -> Outcome | None:
        if self._mistakes < MAX_MISTAKES:
            return None
        return self._failed("I could not work out how to go on.", self._trace.found)

    def _failed(self, reason: str, known: str) -> Outcome:
        return Outcome(termination=Termination.FAILURE, output=f"{known}\n\n{reason}" if known else reason)

    def _stopped(self, stop: Stop) -> Outcome:
        """Aborted. The root tells the person why, once; the others hand up what they found."""
        found = self._trace.found
        if self._task.parent_id:
            return Outcome(termination=Termination.ABORTED, output=found, stop=stop)
        rest = f"\n\nThis is what I found so far:\n\n{found}" if found else " I had found nothing by then."
        return Outcome(termination=Termination.ABORTED, output=f"I had to stop: {stop.reason}.{rest}", stop=stop)

    def _after_model_error(self, fault: ModelError) -> Outcome:
        match fault:
            case ModelRefused():
                return self._failed("The language model declined to go on with this.", self._trace.found)
            case MalformedReply():
                return self._failed("The language model gave a reply that makes no sense.", self._trace.found)
            case ModelUnavailable():
                return self._stopped(Stop(reason="the language model cannot be reached at the moment"))
            case _:
                return self._stopped(Stop(reason="the language model does not accept my requests"))


def _left(wanted: Expand, result: FlowResult) -> str:
    """What was not answered beside a question to the person; empty where that is nothing."""
    if wanted.flow is Flow.FALLBACK:
        return ""
    tried = len(result.outcomes)
    left = [
        f"“{one_line(subgoal, 200)}”"
        for number, subgoal in enumerate(wanted.subgoals)
        if number >= tried or result.outcomes[number].end is End.FAILURE
    ]
    return f"I have not answered this yet: {', '.join(left)}." if left else ""


def failure_report(wanted: Expand, result: FlowResult) -> str:
    """Which subgoals failed and why, what the others found, and which were not tried."""
    lines = [f"The {wanted.flow.value} failed."]
    for number, subgoal in enumerate(wanted.subgoals):
        name = f'Subgoal {number + 1} of {len(wanted.subgoals)} "{one_line(subgoal, 200)}"'
        if number >= len(result.outcomes):
            lines.append(f"{name} was not tried.")
            continue
        outcome = result.outcomes[number]
        lines.append(f"{name} {'failed' if outcome.end is End.FAILURE else 'found'}: {outcome.output}")
    return "\n".join(lines)

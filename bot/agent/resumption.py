"""Takes over the earlier steps of a node whose run waited for the person or was left unfinished by a process.

The steps get into the node's trace and dialogue. Tool calls that were finished do not run again, except those of notes
tools, as the working memory is lost. What was not finished is yielded, for the node to carry out.
"""

from collections.abc import AsyncGenerator

from bot.agent.control import Flow, NodeOutcome, Policy
from bot.agent.decision import EXPAND, Act, Expand
from bot.agent.dialogue import Dialogue
from bot.agent.earlier_run import question_of
from bot.agent.record import Trace
from bot.agent.run import Run
from bot.model import ToolCall
from memory.model import ASK, Episode, Option, Step, StepKind, Termination, options_of

Unfinished = Act | Expand | Option | NodeOutcome
"""A call, an expansion, the option that the person chose, or the outcome of asking a question again."""


async def take_over(run: Run, trace: Trace, earlier: Episode, dialogue: Dialogue) -> AsyncGenerator[Unfinished, None]:
    """Take over the earlier steps of a node, in order; yields what is to be carried out before the next step."""
    steps = earlier.trajectory
    for number, step in enumerate(steps):
        following = steps[number + 1] if number + 1 < len(steps) else None
        match step.kind:
            case StepKind.THINK:
                trace.think(step.text)
                dialogue.recount(step.text)
            case StepKind.EXPAND:
                yield _begun_expansion(step, number, dialogue)
            case StepKind.ACT if step.tool and step.tool != ASK:
                call = _begun_call(step, number, dialogue)
                if following is not None and following.kind is StepKind.OBSERVE:
                    await _retake_result(run, trace, call, (step, following), dialogue)
                else:
                    yield Act(calls=(call,))
            case StepKind.OBSERVE if step.tool == ASK:
                trace.steps.append(step)
                dialogue.remark(step.text)
            case _:
                pass  # An observation that was taken with its action, or the node's end.
    question = question_of(earlier)
    if question is None:
        return
    if run.earlier is None or run.earlier.answered != trace.task.path:
        trace.ask(question.text, options_of((question,)))
        yield NodeOutcome(termination=Termination.SUCCESS, output=question.text, asked=True)
    elif run.chosen is not None:
        yield run.chosen
    else:
        _take_reply(trace, question, run.earlier.reply, dialogue)


def _begun_expansion(step: Step, number: int, dialogue: Dialogue) -> Expand:
    policy = str(step.arguments.get("policy", "")) or Policy.ALL.value
    wanted = Expand(flow=Flow(step.flow), subgoals=step.subgoals, policy=Policy(policy))
    split = {"flow": wanted.flow.value, "subgoals": list(wanted.subgoals)}
    dialogue.begin_with(ToolCall(id=f"earlier-{number}", name=EXPAND.name, arguments=split))
    return wanted


def _begun_call(step: Step, number: int, dialogue: Dialogue) -> ToolCall:
    arguments = None if step.text else dict(step.arguments)
    call = ToolCall(id=f"earlier-{number}", name=step.tool, arguments=arguments, raw=step.text)
    dialogue.begin_with(call)
    return call


async def _retake_result(run: Run, trace: Trace, call: ToolCall, steps: tuple[Step, Step], dialogue: Dialogue) -> None:
    """Take over a call and what it returned. A notes tool runs again, to restore the working memory."""
    _, observed = steps
    trace.steps += steps
    dialogue.observe(call, observed.text, is_error=observed.is_error)
    if observed.is_error:
        return
    tool = run.tools.get(call.name)
    trace.note(tool, call, observed.text)
    if tool is not None and not tool.is_informative and not tool.has_side_effects:
        await run.within(run.tools.run(call, run.tool_context(trace.task)))


def _take_reply(trace: Trace, question: Step, reply: str, dialogue: Dialogue) -> None:
    """Take the person's answer in words to the node's question."""
    call = ToolCall(id="asked", name=ASK, arguments={"question": question.text})
    dialogue.begin_with(call)
    dialogue.observe(call, reply)
    trace.observe(f"{question.text}\n{reply}", tool=ASK)

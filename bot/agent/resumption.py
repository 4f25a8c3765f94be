"""Resumes a run that waited for the person or that a process left unfinished.

Nodes that had ended are taken over. Any other node gets its earlier steps in its dialogue, and continues after the last
one. Tool calls that were finished do not run again, except those of notes tools, as the working memory is lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.agent.control import Flow, NodeOutcome, Policy
from bot.agent.decision import EXPAND, Act, Expand
from bot.agent.dialogue import Dialogue
from bot.model import ToolCall
from memory.model import ASK, Episode, Step, StepKind, Termination, options_of

if TYPE_CHECKING:
    from bot.agent.node import AgentNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """An unfinished run that is resumed."""

    nodes: Mapping[str, Episode]
    """Its nodes by path; `0` is the root."""
    answered: str = ""
    """The path of the node whose question the person answered; empty if none was answered."""
    reply: str = ""
    """The person's answer in words; empty if they chose an option."""

    @property
    def goal(self) -> str:
        """The root's goal."""
        return self.nodes["0"].goal

    def of(self, path: str, goal: str) -> Episode | None:
        """The earlier node at this path, if it has the same goal."""
        known = self.nodes.get(path)
        return known if known is not None and known.goal == goal else None


def question_of(node: Episode) -> Step | None:
    """The question that a node waits for; None if it does not wait."""
    last = node.trajectory[-1] if node.trajectory else None
    return last if last is not None and last.kind is StepKind.ACT and last.tool == ASK else None


def is_over(node: Episode) -> bool:
    """Whether a node ended by itself. One that expanded did not: its subgoals are resumed."""
    return node.termination in (Termination.SUCCESS, Termination.FAILURE) and question_of(node) is None


async def resume(node: "AgentNode", earlier: Episode, dialogue: Dialogue) -> NodeOutcome | None:
    """Take over the earlier steps of a node. Only a call that was not finished runs. None: ask the model."""
    node.run.has_decided = True
    steps = earlier.trajectory
    for number, step in enumerate(steps):
        following = steps[number + 1] if number + 1 < len(steps) else None
        outcome = await _retake(node, step, following, number, dialogue)
        if outcome is not None:
            return outcome
    question = question_of(earlier)
    return await _answered(node, question, dialogue) if question is not None else None


async def _retake(
    node: "AgentNode", step: Step, following: Step | None, number: int, dialogue: Dialogue
) -> NodeOutcome | None:
    """Take over one step and its observation."""
    match step.kind:
        case StepKind.THINK:
            node.trace.think(step.text)
            dialogue.recount(step.text)
        case StepKind.EXPAND:
            wanted = _expansion(step)
            split = {"flow": wanted.flow.value, "subgoals": list(wanted.subgoals)}
            dialogue.begin_with(ToolCall(id=f"earlier-{number}", name=EXPAND.name, arguments=split))
            return await node.expand(wanted, dialogue)
        case StepKind.ACT if step.tool and step.tool != ASK:
            arguments = None if step.text else dict(step.arguments)
            call = ToolCall(id=f"earlier-{number}", name=step.tool, arguments=arguments, raw=step.text)
            dialogue.begin_with(call)
            if following is None or following.kind is not StepKind.OBSERVE:  # it had not finished
                return await node.act(Act(calls=(call,)), dialogue)
            await _found(node, call, step, following, dialogue)
        case StepKind.OBSERVE if step.tool == ASK:
            node.trace.steps.append(step)
            dialogue.remark(step.text)
        case _:
            pass  # An observation that was taken with its action, or the node's end.
    return None


async def _found(node: "AgentNode", call: ToolCall, step: Step, observed: Step, dialogue: Dialogue) -> None:
    """Take over the result of a tool. A notes tool runs again, to restore the working memory."""
    node.trace.steps += [step, observed]
    dialogue.observe(call, observed.text, is_error=observed.is_error)
    if observed.is_error:
        return
    node.note(call, observed.text)
    tool = node.run.tools.get(call.name)
    if tool is not None and not tool.is_informative and not tool.has_side_effects:
        await node.run.within(node.run.tools.run(call, node.context))


async def _answered(node: "AgentNode", question: Step, dialogue: Dialogue) -> NodeOutcome | None:
    """Continue with the person's answer to this node's question; ask again if it was not answered."""
    earlier = node.run.earlier
    if earlier is None or earlier.answered != node.trace.task.path:
        node.trace.ask(question.text, options_of((question,)))
        return NodeOutcome(termination=Termination.SUCCESS, output=question.text, asked=True)
    if node.run.chosen is not None:
        return await node.carry_out_chosen(node.run.chosen, dialogue)
    call = ToolCall(id="asked", name=ASK, arguments={"question": question.text})
    dialogue.begin_with(call)
    dialogue.observe(call, earlier.reply)
    node.trace.observe(f"{question.text}\n{earlier.reply}", tool=ASK)
    return None


def _expansion(step: Step) -> Expand:
    policy = str(step.arguments.get("policy", "")) or Policy.ALL.value
    return Expand(flow=Flow(step.flow), subgoals=step.subgoals, policy=Policy(policy))

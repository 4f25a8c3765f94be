"""Expansions: whether a goal may be split, the tasks of its subgoals, and the report on failed ones."""

from bot.agent.control import End, Flow, FlowResult
from bot.agent.decision import Expand, is_same_goal
from bot.agent.record import Task, Trace
from memory.rules.retrieval.prompt import one_line


def refusal(wanted: Expand, trace: Trace, most_depth: int) -> str:
    """Why this expansion is refused, for the model; empty if it is not."""
    if trace.task.depth >= most_depth:
        return "This goal cannot be split further: the tree is as deep as it may get. Use a tool, answer or fail."
    if trace.expanded is not None:
        return "You have expanded before, and cannot again. Use a tool, answer or fail."
    if any(is_same_goal(subgoal, trace.task.goal) for subgoal in wanted.subgoals):
        return "A subgoal repeats the goal itself. Pursue it here: use a tool, answer or fail."
    return ""


def child_task(wanted: Expand, number: int, parent: Trace) -> Task:
    """The task of one subgoal, by its index from 0."""
    task = parent.task
    return Task(
        goal=wanted.subgoals[number],
        path=f"{task.path}.{number}",
        parent_id=parent.id,
        depth=task.depth + 1,
        why=(wanted.reasons[number] if wanted.reasons else "") or f"it is part of: {task.goal}",
        flow=wanted.flow.value,
        position=number + 1,
        total=len(wanted.subgoals),
        siblings=wanted.subgoals[:number] + wanted.subgoals[number + 1 :],
    )


def unanswered_parts(wanted: Expand, result: FlowResult) -> str:
    """Sentences that list the failed and the untried subgoals, to be posted with a question; empty without any."""
    if wanted.flow is Flow.FALLBACK:
        return ""
    shown = [f"“{one_line(subgoal, 200)}”" for subgoal in wanted.subgoals]
    failed = [part for part, outcome in zip(shown, result.outcomes, strict=False) if outcome.end is End.FAILURE]
    untried = shown[len(result.outcomes) :]
    sentences = {"I don't know": failed, "I have not answered this yet": untried}
    return " ".join(f"{beginning}: {', '.join(parts)}." for beginning, parts in sentences.items() if parts)


def failure_report(wanted: Expand, result: FlowResult) -> str:
    """A report for the model: which subgoals failed and why, what the others found, which were not tried."""
    lines = [f"The {wanted.flow.value} failed."]
    for number, subgoal in enumerate(wanted.subgoals):
        name = f'Subgoal {number + 1} of {len(wanted.subgoals)} "{one_line(subgoal, 200)}"'
        if number >= len(result.outcomes):
            lines.append(f"{name} was not tried.")
            continue
        outcome = result.outcomes[number]
        lines.append(f"{name} {'failed' if outcome.end is End.FAILURE else 'found'}: {outcome.output}")
    return "\n".join(lines)

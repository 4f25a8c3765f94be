"""Prints a run: its nodes and their steps, votes and history, and the explanation of its answer."""

from datetime import datetime

from bot.cli.session import say
from bot.conversation.counts import cost_text
from bot.conversation.explanations.explanation import explain
from bot.conversation.explanations.lesson_explanation import explain_lesson
from bot.conversation.messages import why_held
from bot.conversation.reply import short_id
from memory.model import Episode, Event, Step, StepKind
from memory.rules.retrieval.prompt import shown_line
from memory.services import AnswerExplanation, LessonExplanation, RunView


def print_run(view: RunView, *, focus: str) -> None:
    """Print a run as a tree, then its votes and history. The node with the id `focus` is marked."""
    root = view.root
    where = shown_line(f"{root.workspace} {root.place or root.channel}", 120)
    say(f"run {shown_line(root.run_id, 40)} in {where}, asked by {shown_line(root.person, 40)}")
    for node in view.nodes:
        _print_node(node, is_focus=node.id == focus)
    say("votes")
    for vote in view.votes:
        about = f" on node {short_id(vote.node_id)}" if vote.node_id else ""
        who = f"{shown_line(vote.actor, 30)} ({vote.role})"
        beyond = ", beyond the limit" if vote.is_limited else ""
        say(f"  {who} {vote.value:+d}{about}, {shown_line(vote.source, 40)}, {_when(vote.at)}{beyond}")
    if not view.votes:
        say("  none")
    say("history")
    for event in view.events:
        say(f"  {_when(event.at)}  {short_id(event.episode_id)}  {event.kind.value:<12} {_event_text(event)}")


def _print_node(node: Episode, *, is_focus: bool) -> None:
    pad = "  " * (node.node_path.count(".") + 1)
    mark = "*" if is_focus else "-"
    say(f"{pad}{mark} {node.node_path}  “{shown_line(node.goal, 100)}”  [{short_id(node.id)}]")
    decided = node.verdicts
    verdicts = f"personal {decided.personal}, channel {decided.channel}, workspace {decided.workspace}"
    say(f"{pad}  ended {node.termination.value}; status {node.status.value}; verdict: {verdicts}")
    numbers = f"strength {node.strength:.2f}, shown {node.retrieval_count} times, used {node.used_count}"
    held_back = f", held back: {why_held(node)}" if node.quarantine else ""
    say(f"{pad}  {numbers}{', archived' if node.archived_at else ''}{held_back}")
    if node.usage.tokens or node.exemplar_ids:
        shown = ", ".join(short_id(each) for each in node.exemplar_ids) or "no lessons"
        cost = f"{shown_line(node.model, 60)}: {cost_text(node.usage)}; " if node.usage.tokens else ""
        say(f"{pad}  {cost}shown {shown}")
    for step in node.trajectory:
        say(f"{pad}  · {_step(step)}")
    answer = node.output.replace("\n", f"\n{pad}    ")
    say(f"{pad}  = {answer}")
    if node.correction:
        say(f"{pad}  corrected to: {shown_line(node.correction, 300)}")


def _step(step: Step) -> str:
    match step.kind:
        case StepKind.ACT:
            return shown_line(f"act {step.call}" if step.tool else f"answer {step.text}", 200)
        case StepKind.OBSERVE:
            origin = " (from outside)" if step.is_untrusted else ""
            return shown_line(f"{'error' if step.is_error else 'observe'}{origin} {step.text}", 200)
        case StepKind.EXPAND:
            return shown_line(f"expand into {step.flow}: {' | '.join(step.subgoals)}", 200)
        case StepKind.THINK:
            return shown_line(f"think {step.text}", 200)


def _event_text(event: Event) -> str:
    detail = ", ".join(f"{name}={value}" for name, value in event.detail.items() if value not in ("", None))
    return shown_line(f"by {event.actor or 'nobody'}  {detail}", 160)


def _when(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def print_why(explanation: AnswerExplanation, lesson: LessonExplanation) -> None:
    """Print the explanation of an answer, and of how it did as a lesson. Administrators see everything."""
    for part in (explain(explanation, None), explain_lesson(lesson, None)):
        say(part.replace("**", ""))
        say()

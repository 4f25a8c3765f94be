"""Why an answer is what it is: the lessons it was shown with their numbers, the tree in short, the votes."""

from bot.conversation.wording import verdict_word
from memory.audience import may_see
from memory.model import Episode, LinkKind, Scope, StepKind
from memory.retrieval.prompt import percent, shown_line
from memory.service import RunView


def explain(view: RunView, reader: Scope) -> str:
    """The answer's story as Markdown. A lesson the reader may not see is counted, not shown."""
    root = view.root
    lines = [f"**Why** “{shown_line(root.goal, 100)}”", "", *_lessons(view, reader), "", "**Steps**"]
    lines.extend(_node(node) for node in view.nodes)
    lines += ["", f"**Verdict**: {verdict_word(root.verdict)}{_votes(view)}"]
    if root.correction:
        lines.append(f"**Corrected to**: {shown_line(root.correction, 200)}")
    if any(link.kind is LinkKind.CORRECTS and link.from_id == root.id for link in view.links):
        lines.append("This is a lesson somebody wrote, not an answer of mine.")
    return "\n".join(lines)


def _lessons(view: RunView, reader: Scope) -> list[str]:
    shown = [item for _, items in view.recalls for item in items]
    if not shown:
        searched = sum(int(retrieval.counts.get("total_loaded", 0)) for retrieval, _ in view.recalls)
        return [f"**Lessons**: none was near enough ({searched} looked at)."]
    lines = ["**Lessons it was shown**"]
    hidden = 0
    for item in shown:
        lesson = view.lessons.get(item.episode_id)
        if lesson is None or not may_see(reader, lesson):
            hidden += 1
            continue
        signal = item.signal.value if item.signal else "unknown"
        lines.append(
            f"- {item.lesson.value} “{shown_line(lesson.goal, 60)}” by {shown_line(lesson.author, 30)}: "
            f"{percent(item.relevance)}% relevant (same situation {percent(item.context_score)}%, "
            f"same question {percent(max(0.0, item.intent_score))}%), {signal}"
        )
    if hidden:
        lines.append(f"- and {hidden} that are not yours to see or were forgotten")
    return lines


def _node(node: Episode) -> str:
    depth = node.node_path.count(".")
    done = [
        _step(step.tool, step.flow, step.subgoals)
        for step in node.trajectory
        if step.kind is StepKind.EXPAND or (step.kind is StepKind.ACT and step.tool)
    ]
    what = ", ".join(done) or node.action
    return f"{'  ' * depth}- “{shown_line(node.goal, 80)}”: {what} → {node.termination.value}"


def _step(tool: str, flow: str, subgoals: tuple[str, ...]) -> str:
    return tool or f"split into {len(subgoals)} ({flow})"


def _votes(view: RunView) -> str:
    if not view.votes:
        return ""
    cast = ", ".join(f"{shown_line(vote.actor, 30)} {'👍' if vote.value > 0 else '👎'}" for vote in view.votes)
    return f" ({cast})"

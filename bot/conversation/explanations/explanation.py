"""The text of `why` for an answer: its evidence, its lessons with their numbers, its steps and its votes."""

from bot.conversation.answers.choice_messages import GRANTS
from bot.conversation.counts import cost_text, counts
from bot.conversation.explanations.evidence_explanation import explain_evidence
from bot.conversation.explanations.lesson_explanation import message_author, votes_text
from bot.conversation.messages import named, verdict_word
from bot.conversation.reply import short_id
from memory.model import Episode, EventKind, Grant, LinkKind, Scope, StepKind, Usage, offers_of
from memory.rules.audience import is_in_reach, may_see
from memory.rules.evidence.judged_lesson import ANSWER
from memory.rules.retrieval.prompt import BY_A_MODEL, percent, shown_line
from memory.services import AnswerExplanation, RunView, guess_of
from memory.services.reports.explain import RecallExplanation, ShownLesson, ShownRule

_MOST_SEEN = 5
"""How many tool results of one node are shown."""


def explain(explanation: AnswerExplanation, reader: Scope | None, *, has_numbers: bool = True) -> str:
    """The answer's explanation as Markdown, on request without the numbers of the search and of the evidence.

    Lessons that the reader may not see are counted. No reader means an administrator, who may see all.
    """
    view, root = explanation.view, explanation.view.root
    asked = view.incoming if view.incoming is not None and view.incoming.understood else None
    lines = [f"**Why** “{shown_line(asked.text if asked else root.goal, 100)}”", ""]
    if asked:
        lines += [f"**Understood as** “{shown_line(asked.understood, 200)}”, from what was said before it", ""]
    lines += [*_offered(explanation, reader), *_allowed(view, reader), *_evidence(explanation, reader, has_numbers)]
    lines += [*_lessons(explanation, reader, has_numbers), "", "**Steps**"]
    for node in view.nodes:
        lines += _node(node, reader)
    lines += _cost(view)
    lines += ["", f"**Verdict**: {verdict_word(root.verdict)}{_votes(view, reader)}"]
    if (reader is None or reader.person == root.person) and not any(vote.value for vote in view.votes):
        lines.extend(_guess(view, root.id))
    if root.correction:
        lines.append(f"**Corrected to**: {shown_line(root.correction, 200)}")
    if any(link.kind is LinkKind.CORRECTS and link.from_id == root.id for link in view.links):
        lines.append("This is a lesson somebody wrote, not an answer of mine.")
    return "\n".join(lines)


def _offered(explanation: AnswerExplanation, reader: Scope | None) -> list[str]:
    """The options that the asker had, and which one they chose."""
    if not explanation.offered:
        return []
    labels = "; ".join(f"“{shown_line(each.label, 70)}”" for each in explanation.offered)
    if any(each.is_approval for each in explanation.offered):
        is_open = explanation.chosen is None
        return [f"**Asked** whether I may: {labels}.", *_decided(explanation.view, reader), ""] if is_open else []
    if explanation.chosen is None:
        return [f"**Asked**, because I was not sure: I offered {labels}.", ""]
    asker = named(explanation.view.root.person, reader)
    return [f"**Chosen** by {asker}: “{shown_line(explanation.chosen.label, 70)}”, when I offered {labels}.", ""]


def deciders(view: RunView) -> list[str]:
    """The ids of those who decided about actions with effects."""
    return [each.actor for each in view.events if each.kind in (EventKind.DECIDED, EventKind.ALLOWED)]


def _decided(view: RunView, reader: Scope | None) -> list[str]:
    """Who allowed or refused an action."""
    lines: list[str] = []
    for each in view.events:
        if each.kind is EventKind.DECIDED:
            what = f"allowed, {GRANTS[Grant(str(each.detail['grant']))]}" if each.detail.get("grant") else "refused"
            lines.append(f"- {what}, by {named(each.actor, reader)}")
    return lines


def _allowed(view: RunView, reader: Scope | None) -> list[str]:
    """The actions with effects, and who allowed them."""
    lines: list[str] = []
    for each in view.events:
        if each.kind is EventKind.ALLOWED:
            grant, basis = Grant(str(each.detail["grant"])), str(each.detail.get("basis", ""))
            why = f"{GRANTS[grant]}, by {named(each.actor, reader)} [{short_id(basis)}]"
            lines.append(f"**Allowed** `{shown_line(str(each.detail['tool']), 64)}`: {why}")
    return [*lines, ""] if lines else []


def _evidence(explanation: AnswerExplanation, reader: Scope | None, has_numbers: bool) -> list[str]:
    """The evidence of each recall that has any."""
    weighed = [(each.retrieval, each.retrieval.evidence) for each in explanation.recalls]
    lines: list[str] = []
    for retrieval, evidence in weighed:
        if evidence is not None:
            part = f"{_part(explanation.view, retrieval.node_path, has_numbers)}: " if len(weighed) > 1 else ""
            shown = _shown_to(explanation, reader)
            first, *rest = explain_evidence(evidence, explanation.weighed, reader, shown, has_numbers=has_numbers)
            lines += [f"- {part}{first}", *(f"  {line}" for line in rest)]
    return ["**What people's verdicts say**", *lines, ""] if lines else []


def _part(view: RunView, node_path: str, has_numbers: bool) -> str:
    """A part of the answer: its question, or with numbers its path."""
    node = next((each for each in view.nodes if each.node_path == node_path), None)
    is_named = node is not None and not has_numbers
    return f"“{shown_line(node.goal, 60)}”" if node and is_named else f"part {shown_line(node_path, 40)}"


def _shown_to(explanation: AnswerExplanation, reader: Scope | None) -> set[str]:
    """The lessons that the reader was shown or offered in the answer and that are still in their reach."""
    if reader is None or reader.person != explanation.view.root.person:
        return set()
    shown = {each.item.episode_id: each.lesson for recall in explanation.recalls for each in recall.shown}
    offered = {each: explanation.weighed.get(each) for option in explanation.offered for each in option.lessons}
    every = shown | offered | _repeated(explanation)
    return {name for name, each in every.items() if each is not None and is_in_reach(reader, each)}


def _repeated(explanation: AnswerExplanation) -> dict[str, Episode]:
    """The approving lessons with the same answer, which no node was shown."""
    answers = {node.output for node in explanation.view.nodes if node.action == ANSWER}
    records = (recall.retrieval.evidence for recall in explanation.recalls)
    beliefs = (belief for record in records if record is not None for belief in record.beliefs)
    approving = {each.episode_id for belief in beliefs for each in belief.weights if each.approves}
    weighed = explanation.weighed.items()
    return {name: each for name, each in weighed if name in approving and each.output in answers}


def _lessons(explanation: AnswerExplanation, reader: Scope | None, has_numbers: bool) -> list[str]:
    recalls = explanation.recalls
    if any(recall.retrieval.is_control for recall in recalls):
        return ["**Lessons**: none. This answer was made without any, to see what lessons are worth."]
    if not any(recall.shown for recall in recalls):
        is_above = _repeated(explanation) or any(option.lessons for option in explanation.offered)
        why = (
            "none was sure enough to be shown; what they say together is above" if is_above else "none was near enough"
        )
        return [f"**Lessons**: {why}.", *(_stages(recall, reader) for recall in recalls if has_numbers)]
    lines, shown_to = ["**Lessons it was shown**"], _shown_to(explanation, reader)
    for recall in recalls:
        if has_numbers:
            lines.append(_stages(recall, reader))
        hidden = 0
        for shown in recall.shown:
            lesson = shown.lesson
            if lesson is not None and (reader is None or lesson.id in shown_to or may_see(reader, lesson)):
                lines.extend(_exemplar(explanation.view, shown, lesson, reader, has_numbers))
            else:
                hidden += 1
        if hidden:
            lines.append(f"- and {hidden} that are not yours to see or were forgotten")
        lines.extend(_rule(rule, reader) for rule in recall.rules)
    return lines


def _stages(recall: RecallExplanation, reader: Scope | None) -> str:
    """The counts of the search's stages: in words for people, by name for an administrator."""
    stages = ", ".join(f"{name} {value}" for name, value in recall.stages)
    if reader is not None:
        of = recall.retrieval.counts
        gated = "near enough" if recall.retrieval.evidence is None else "weighed"
        stages = f"{of.get('total_loaded', 0)} searched, {of.get('gated', 0)} {gated}, {of.get('selected', 0)} chosen"
    return f"- search for part {shown_line(recall.retrieval.node_path, 40)}: {stages}"


def _exemplar(view: RunView, shown: ShownLesson, lesson: Episode, reader: Scope | None, has_numbers: bool) -> list[str]:
    item = shown.item
    signal = item.signal.value if item.signal else "unknown"
    if lesson.output in {each.option.text for each in offers_of(view.nodes)} - {node.output for node in view.nodes}:
        signal = "offered"
    is_guess = not lesson.verdict.is_validated and guess_of(view.grades.get(lesson.id, ())) is not None
    verb = "by" if lesson.verdict.is_validated or not lesson.verdicts.is_proposed else "proposed by"
    author = f"{verb} {named(lesson.author, reader)}" if not is_guess else "judged by a model, not by a person"
    reached = f", {shown.audience.value}" if shown.audience else ""
    message = [f"  - {message_author(lesson, shown.message)}"] if shown.message is not None else []
    match = f"{percent(item.relevance)}% match, {signal}"
    if has_numbers:
        match = (
            f"{percent(item.relevance)}% relevant (same situation {percent(item.context_score)}%, "
            f"same question {percent(max(0.0, item.intent_score))}%), {signal} ({item.ratio:.2f})"
        )
    return [
        f"- {item.rank}. {item.lesson.value} “{shown_line(lesson.goal, 60)}” {author} "
        f"[{short_id(lesson.id)}{reached}]: {match}",
        *message,
        f"  - votes: {votes_text(shown.votes, reader, has_numbers=has_numbers)}",
    ]


def _rule(rule: ShownRule, reader: Scope | None) -> str:
    """The line of a rule: its lessons that the reader may see, with their ids, and how many more."""
    seen = [each for each in rule.lessons if reader is None or may_see(reader, each)]
    named = ", ".join(f"“{shown_line(each.goal, 40)}” [{short_id(each.id)}]" for each in seen)
    hidden = len(rule.lesson_ids) - len(seen)
    more = f"{' and ' if named else ''}{hidden} not yours to see or forgotten" if hidden else ""
    return f"- rule [{shown_line(rule.rule_id, 8)}] from {named}{more}"


def _node(node: Episode, reader: Scope | None) -> list[str]:
    """The lines of a node. Only the asker and administrators see tool results, which may say more than the answer."""
    pad = "  " * node.node_path.count(".")
    done = [
        step.tool or f"split into {len(step.subgoals)} ({step.flow})"
        for step in node.trajectory
        if step.kind is StepKind.EXPAND or (step.kind is StepKind.ACT and step.tool)
    ]
    what = ", ".join(done) or node.action
    used = [counts((len(node.exemplar_ids), "lesson"))] if node.exemplar_ids else []
    used += [cost_text(node.usage)] if node.usage.tokens else []
    line = f"{pad}- “{shown_line(node.goal, 80)}”: {', '.join([f'{what} → {node.termination.value}', *used])}"
    if reader is not None and reader.person != node.person:
        return [line]
    seen = [step for step in node.trajectory if step.kind is StepKind.OBSERVE and step.tool][:_MOST_SEEN]
    return [line, *(f"{pad}  - {'failed' if step.is_error else 'saw'}: {shown_line(step.text, 100)}" for step in seen)]


def _cost(view: RunView) -> list[str]:
    """The cost of all nodes; empty if no model was used."""
    total = sum((node.usage for node in view.nodes), Usage())
    return [f"**Cost**: {cost_text(total)}"] if total.tokens else []


def _guess(view: RunView, episode_id: str) -> list[str]:
    """A model's grade of an answer without votes, for the asker alone."""
    guess = guess_of(view.grades.get(episode_id, ()))
    if guess is None:
        return []
    explained = f"{'good' if guess.is_correct else 'bad'}: {shown_line(guess.explanation, 200)}"
    return [f"**A guess**: {explained} ({BY_A_MODEL[:-1]}; your reaction takes its place.)"]


def _votes(view: RunView, reader: Scope | None) -> str:
    """The votes on the answer, without those on single parts."""
    votes = [vote for vote in view.votes if not vote.node_id]
    cast = ", ".join(f"{named(vote.actor, reader)} {'👍' if vote.value > 0 else '👎'}" for vote in votes)
    return f" ({cast})" if votes else ""

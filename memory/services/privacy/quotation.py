"""Finds answers that contain a person's words: their question, or what they taught."""

from collections.abc import Collection, Iterable, Sequence

from memory.model import Episode, EventKind, Lesson, LinkKind, RetrievalItem, Signal
from memory.model.normal_form import comparable
from memory.ports import Transaction
from memory.rules.consolidation import GOAL_CHARACTERS
from memory.rules.retrieval.prompt import shown_line
from memory.services.core import ALL
from memory.services.verdicts.quarantine import SYSTEM

_NAMED_CHARACTERS = 60
"""How much of a goal a reply that names it has at least."""


def answers_repeating_words(tx: Transaction, workspace: str, own: Sequence[str], answers: Sequence[str]) -> list[str]:
    """The answers to others that contain a person's words.

    They are `answers`, which contain the person's question, and all that used the person's own or these, and so on.
    """
    found: dict[str, None] = dict.fromkeys(answers)
    sources = [*own, *answers]
    while sources:
        resting = [node.id for node in resting_on(tx, workspace, sources)]
        sources = [each for each in dict.fromkeys(resting) if each not in found and each not in set(own)]
        found |= dict.fromkeys(sources)
    return list(found)


def answers_repeating_questions(
    tx: Transaction, workspace: str, lessons: Sequence[str], without: Collection[str]
) -> list[str]:
    """The answers to others that were shown one of these lessons and repeat its question, unlike their own question.

    A rule shows the questions of its lessons too, shortened where they do not fit.
    """
    found: dict[str, None] = {}
    by_rule = _shown_in_rules(tx, workspace, lessons)
    shown = tx.retrievals.of_episodes(workspace, lessons)
    runs = {
        each: {retrieval.run_id for retrieval, _ in shown.get(each, ())} | by_rule.get(each, set()) for each in lessons
    }
    nodes_of = tx.episodes.of_runs(workspace, sorted(set().union(*runs.values())))
    for lesson in tx.episodes.get_many(workspace, lessons).values():
        question = comparable(lesson.goal)[: GOAL_CHARACTERS - 1].rstrip()
        for run_id in sorted(runs[lesson.id]):
            nodes = [node for node in nodes_of.get(run_id, ()) if node.id not in without]
            if nodes and question not in comparable(nodes[0].goal) and any(question in _text(each) for each in nodes):
                found |= dict.fromkeys(node.id for node in nodes)
    return list(found)


def _shown_in_rules(tx: Transaction, workspace: str, lessons: Collection[str]) -> dict[str, set[str]]:
    """For each lesson, the runs that were shown a rule derived from it."""
    events = tx.log.by_actor(workspace, SYSTEM, [EventKind.RULE_SHOWN], limit=ALL)
    nodes = tx.episodes.get_many(workspace, dict.fromkeys(each.episode_id for each in events))
    wanted, runs = set(lessons), dict[str, set[str]]()
    for each in events:
        behind = each.detail.get("lessons", ())
        for lesson_id in wanted.intersection(behind if isinstance(behind, list | tuple) else ()):
            if each.episode_id in nodes:
                runs.setdefault(lesson_id, set()).add(nodes[each.episode_id].run_id)
    return runs


def _text(node: Episode) -> str:
    """The whole text of a node: its goal, output, actions and observations."""
    steps = (f"{step.text} {step.tool} {dict(step.arguments)} {' '.join(step.subgoals)}" for step in node.trajectory)
    texts = (node.goal, node.why, node.thoughts, node.action_target, node.output, node.task_incomplete)
    return comparable(" ".join([*texts, *node.context_before, *node.context_after, *steps]))


def replies_about(tx: Transaction, workspace: str, nodes: Iterable[Episode]) -> list[str]:
    """The runs of replies to feedback in words that name the goal of one of these answers or lessons.

    Such a reply has no episode, and is to a message of who asked for the answer or wrote the lesson.
    """
    goals: dict[tuple[str, str], set[str]] = {}
    for node in nodes:
        named = comparable(shown_line(node.goal, _NAMED_CHARACTERS).removesuffix("…"))
        goals.setdefault((node.channel, node.author or node.person), set()).add(named)
    found: list[str] = []
    for (channel, person), named_there in goals.items():
        messages = tx.deliveries.messages_of(workspace, channel, person, ALL)
        runs = [each.run_id for each in messages if each.understood and each.run_id]
        for run_id in set(runs) - tx.episodes.of_runs(workspace, runs).keys():
            texts = [comparable(part.text) for part in tx.deliveries.outgoing(workspace, run_id)]
            found += [run_id] if any(named in text for text in texts for named in named_there - {""}) else []
    return sorted(found)


def resting_on(tx: Transaction, workspace: str, episode_ids: Sequence[str]) -> list[Episode]:
    """The nodes of the answers that contain these episodes' words.

    Such an answer used an episode, contradicted it, or repeated the mistake it warns of; or it heeded the warning about
    another answer that the episode corrects, and so repeats the correction.
    """
    corrections = tx.episodes.links(workspace, episode_ids, LinkKind.CORRECTS)
    wanted = set(episode_ids)
    warnings = {link.to_id for link in corrections if link.from_id in wanted}
    uncorrected = wanted - {link.to_id for link in corrections}
    imported = tx.episodes.get_many(workspace, sorted(uncorrected)).values()  # a correction that came with it
    warnings |= {each.id for each in imported if each.correction}
    shown = tx.retrievals.of_episodes(workspace, sorted(wanted | warnings))
    runs = {
        retrieval.run_id
        for episode_id, every in shown.items()
        for retrieval, item in every
        if (episode_id in wanted and _holds_words(item))
        or (episode_id in warnings and (item.lesson, item.signal) == (Lesson.AVOID, Signal.USED))
    }
    found = tx.episodes.of_runs(workspace, sorted(runs))
    return [node for run_id in sorted(found) for node in found[run_id]]


def _holds_words(item: RetrievalItem) -> bool:
    """Whether an answer that was shown this lesson contains its words."""
    if item.lesson is Lesson.AVOID:
        return item.signal is Signal.CONTRADICTED
    return item.signal in (Signal.USED, Signal.CONTRADICTED)

"""What the nodes of a run were shown, and whether it may still be used."""

from collections.abc import Iterable
from datetime import datetime

from memory.model import Episode, Event, EventKind
from memory.ports import Transaction
from memory.services.core import event
from memory.services.finished_run import NodeRecall


def still_there(tx: Transaction, workspace: str, recalls: Iterable[NodeRecall]) -> dict[str, Episode] | None:
    """The lessons that a run was shown, also as part of a rule; None if one of them, or its question, was erased."""
    shown: dict[str, str] = {}
    for recall in recalls:
        exemplars = (exemplar.episode for exemplar in recall.recollection.exemplars)
        shown |= {each.id: each.goal for each in exemplars if each.id in recall.shown_ids}
        for rule in recall.rules:
            shown |= zip(rule.lesson_ids, rule.goals, strict=True)
    lessons = tx.episodes.get_many(workspace, shown)
    is_whole = all(each in lessons and lessons[each].goal == goal for each, goal in shown.items())
    return lessons if is_whole else None


def rules_shown(node: Episode, recall: NodeRecall, now: datetime) -> list[Event]:
    """Which rules were in a node's prompt: their ids and those of the lessons each was made of."""
    retrieval_id = recall.recollection.retrieval_id
    return [
        event(
            node,
            EventKind.RULE_SHOWN,
            "goodbot",
            now,
            source=f"rule/{retrieval_id}/{rule.rule_id}",
            detail={"retrieval": retrieval_id, "rule": rule.rule_id, "lessons": list(rule.lesson_ids)},
        )
        for rule in recall.rules
    ]

"""What the nodes of a run were shown, and whether it may still be used."""

from collections.abc import Iterable
from datetime import datetime

from memory.model import Episode, Event, EventKind
from memory.ports import Transaction
from memory.service.core import event
from memory.service.finished_run import NodeRecall


def still_there(tx: Transaction, workspace: str, recalls: Iterable[NodeRecall]) -> dict[str, Episode] | None:
    """The lessons that a run was shown; None if one of them, or its question, was erased meanwhile."""
    shown = {
        exemplar.episode.id: exemplar.episode.goal
        for recall in recalls
        for exemplar in recall.recollection.exemplars
        if exemplar.episode.id in recall.shown_ids
    }
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

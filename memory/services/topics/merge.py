"""Merging duplicates: topics with the same title that the same people can see become one topic with both histories.

Nothing is moved or copied. A merged topic keeps its own rows and points to the topic that replaces it; readers
combine the two. So nothing is lost, and erasing one of them leaves the other complete.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from memory.model.topic import Topic, TopicEventKind
from memory.ports import Transaction
from memory.rules.audience import has_narrowed
from memory.services.topics.audit_log import append


def merge_duplicates(
    tx: Transaction, topics: Iterable[Topic], at: datetime, *, limit: int, actor: str = ""
) -> list[tuple[str, str]]:
    """Merge topics with exactly the same title, including case, in the same partition, at most `limit`.

    The topic with the lowest id, as its author chose it, survives, and is active if either was. Topics without a title
    are never merged. Returns (duplicate, survivor) pairs; those beyond the limit are merged next time.
    """
    groups: dict[tuple[str, str, str], list[Topic]] = defaultdict(list)
    for topic in topics:
        if topic.title and not topic.merged_into:
            # The topics of a channel that became private are not visible to the same people as those elsewhere.
            place = topic.channel if has_narrowed(topic) else ""
            groups[topic.partition, topic.title, place].append(topic)
    pairs: list[tuple[str, str]] = []
    for key in sorted(groups):
        survivor, *duplicates = sorted(groups[key], key=lambda topic: (topic.public_id, topic.id))
        for duplicate in duplicates[: limit - len(pairs)]:
            survivor = _join(tx, duplicate, survivor, at, actor)
            pairs.append((duplicate.id, survivor.id))
    return pairs


def _join(tx: Transaction, duplicate: Topic, survivor: Topic, at: datetime, actor: str) -> Topic:
    for each in [duplicate, *tx.topics.merged_into(duplicate.workspace, [duplicate.id])]:
        append(tx, each, TopicEventKind.MERGED, actor, at, into=survivor.id)
    if survivor.archived_at is not None and duplicate.archived_at is None:
        return append(tx, survivor, TopicEventKind.RESTORED, actor, at, because=duplicate.id)
    return survivor

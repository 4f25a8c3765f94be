"""The audit trail of topics: each change of a topic's numbers is an entry, from which they can be recomputed."""

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from datetime import datetime
from functools import partial

from memory.model.topic import Topic, TopicEvent, TopicEventKind
from memory.model.upkeep import Fault
from memory.ports import Transaction
from memory.rules.strength import salience


def apply_entry(topic: Topic, event: TopicEvent) -> Topic:
    """The topic with one entry applied."""
    match event.kind:
        case TopicEventKind.SALIENCE:
            return replace(topic, salience=float(str(event.detail["to"])), salience_at=event.at)
        case TopicEventKind.ARCHIVED:
            return replace(topic, archived_at=event.at)
        case TopicEventKind.RESTORED:
            return replace(topic, archived_at=None)
        case TopicEventKind.MERGED:
            return replace(topic, merged_into=str(event.detail["into"]))
        case TopicEventKind.SPLIT:
            return replace(topic, merged_into="")
        case _:
            return topic


def replay_entries(topic: Topic, trail: Iterable[TopicEvent]) -> Topic:
    """The topic with its whole trail applied."""
    state = replace(
        topic, salience=topic.first_salience, salience_at=topic.created_at, archived_at=None, merged_into=""
    )
    for event in trail:
        state = apply_entry(state, event)
    return state


def append(tx: Transaction, topic: Topic, kind: TopicEventKind, actor: str, at: datetime, /, **detail: object) -> Topic:
    """Append an entry and store the topic with the entry applied."""
    return _append(
        tx,
        topic,
        TopicEvent(workspace=topic.workspace, topic_id=topic.id, kind=kind, actor=actor, at=at, detail=detail),
    )


def _append(tx: Transaction, topic: Topic, event: TopicEvent) -> Topic:
    tx.topics.append(event)
    after = apply_entry(topic, event)
    if after != topic:
        tx.topics.put(after)
    return after


def change_salience(
    tx: Transaction,
    topic: Topic,
    actor: str,
    at: datetime,
    *,
    reason: str,
    cap: float,
    by: float = 0.0,
    times: float = 1.0,
) -> Topic:
    """Change a topic's salience (`salience_entry`)."""
    return _append(tx, topic, salience_entry(topic, actor, at, reason=reason, cap=cap, by=by, times=times))


def salience_entry(
    topic: Topic, actor: str, at: datetime, *, reason: str, cap: float, by: float = 0.0, times: float = 1.0
) -> TopicEvent:
    """The entry that sets a topic's salience to its value after decay, times `times`, plus `by`, at most `cap`."""
    left = salience(topic.salience, topic.salience_at, at)
    return TopicEvent(
        workspace=topic.workspace,
        topic_id=topic.id,
        kind=TopicEventKind.SALIENCE,
        actor=actor,
        at=at,
        detail={"from": left, "to": min(cap, left * times + by), "reason": reason},
    )


def faults_of_topics(tx: Transaction, workspace: str) -> Iterator[Fault]:
    """The stored numbers of topics that differ from what their trails say."""
    for topic in tx.topics.within(workspace):
        expected = replay_entries(topic, tx.topics.event_log(workspace, topic.id))
        for field in fields(Topic):
            stored, logged = getattr(topic, field.name), getattr(expected, field.name)
            if stored != logged:
                yield Fault(
                    episode_id=topic.id,
                    what=f"topic {field.name}",
                    stored=stored,
                    expected=logged,
                    repair=partial(tx.topics.put, expected),
                )

"""Taking back what one person told about topics, without erasing a word of it.

The trail of a topic says up to which number (`seq`) a person's values of a field are taken back, so that these never
hold again: neither when another person is purged, nor when somebody is forgotten.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from memory.model.topic import Revision, Topic, TopicEventKind
from memory.ports import NewId, Transaction
from memory.rules.audience import is_personal
from memory.services.topics.audit_log import append
from memory.services.topics.bundles import precedence

PURGED = "purge"
"""Provenance of the null that stands where only the person had given a value."""

_ARCHIVE_EVENTS = (TopicEventKind.ARCHIVED, TopicEventKind.RESTORED)


def withdraw_person(tx: Transaction, workspace: str, person: str, at: datetime, new_id: NewId) -> tuple[int, int, int]:
    """Let others' values hold again where this person's do, and archive topics that only they spoke of.

    Topics of others that they archived or restored go back to how they were. History stays whole: the value that held
    before is given again in its author's name, and a null where there is none. What was told to nobody else stays.
    Returns (values that were taken back, topics that were archived, topics of others that changed partitions).
    """
    topics = {each.id: each for each in tx.topics.within(workspace) if not is_personal(each.partition, person)}
    given = tx.topics.revisions_by(workspace, person)
    homes = {
        (topics[each.topic_id].merged_into or each.topic_id, each.name) for each in given if each.topic_id in topics
    }
    values = sum(_withdraw(tx, workspace, person, home, name, at, new_id) for home, name in sorted(homes))
    archived = shelved = 0
    for topic in topics.values():
        if topic.person != person:
            shelved += _shelve_back(tx, topic, person, at)
        elif topic.archived_at is None and not topic.merged_into and _speakers(tx, topic) <= {person}:
            append(tx, topic, TopicEventKind.ARCHIVED, person, at, because=PURGED)
            archived += 1
    return values, archived, shelved


def take_back(
    tx: Transaction, home: Topic, name: str, revision_id: str, person: str, at: datetime, new_id: NewId
) -> bool:
    """Let what held before one value of the person's hold again, or nothing; False if that one holds no more."""
    given = [each for each in _given(tx, home.workspace, home.id) if each.name == name]
    current = _current(home.id, given, name, at)
    if current is None or (current.id, current.person) != (revision_id, person):
        return False
    others = [each for each in _not_withdrawn(tx, home.workspace, home.id, given) if each != current]
    _replace(tx, home.id, current, others, person, at, at, new_id)
    return True


def hold_again(tx: Transaction, workspace: str, topic_ids: Iterable[str], at: datetime, new_id: NewId) -> None:
    """Let no value hold in these topics that was taken back: after what had replaced it was erased."""
    every = {each.id: each.merged_into or each.id for each in tx.topics.within(workspace)}
    for home in sorted({every[each] for each in topic_ids if each in every}):
        given = _given(tx, workspace, home)
        valid = _not_withdrawn(tx, workspace, home, given)
        for name in sorted({each.name for each in given}):
            for moment in _moments(given, name, at):
                current = _current(home, _given(tx, workspace, home), name, moment)
                if current is not None and current not in valid and current.provenance != PURGED:
                    _replace(tx, home, current, valid, "", at, moment, new_id)
                    valid = _not_withdrawn(tx, workspace, home, _given(tx, workspace, home))


def _withdraw(tx: Transaction, workspace: str, person: str, home: str, name: str, at: datetime, new_id: NewId) -> bool:
    """Let others' values hold now, and from each moment on from which a value of the person's would."""
    given = [each for each in _given(tx, workspace, home) if each.name == name]
    valid = _not_withdrawn(tx, workspace, home, given)
    others = [each for each in valid if each.person != person]
    detail: dict[str, object] = {"until": max(each.seq for each in given if each.person == person)}
    is_replaced = False
    for moment in _moments(given, name, at):
        current = _current(home, _given(tx, workspace, home), name, moment)
        if current is not None and current.person == person and current.provenance != PURGED:
            _replace(tx, home, current, others, person, at, moment, new_id, **detail)
            is_replaced = True
    topic = tx.topics.get(workspace, home)
    if not is_replaced and topic is not None and any(each.person == person for each in valid):
        current = _current(home, given, name, at)
        detail |= {"field": name, "revision": current.id if current is not None else "", "because": PURGED}
        append(tx, topic, TopicEventKind.CONFIRMED, person, at, **detail)
    return is_replaced


def _replace(
    tx: Transaction,
    home: str,
    current: Revision,
    others: Sequence[Revision],
    actor: str,
    at: datetime,
    moment: datetime,
    new_id: NewId,
    **detail: object,
) -> None:
    """Give again what would hold from this moment on without the current value, or a null, in its place."""
    blank = replace(current, value=None, provenance=PURGED, why_changed=None, impact_expected=None)
    before = _current(home, others, current.name, moment) or blank
    again = replace(before, id=new_id(), topic_id=current.topic_id, valid_from=moment)
    tx.topics.add_revision(again)
    topic = tx.topics.get(current.workspace, current.topic_id)
    if topic is not None:
        because = {"field": current.name, "revision": again.id, "because": PURGED}
        append(tx, topic, TopicEventKind.REVISED, actor, at, **because, **detail)


def _given(tx: Transaction, workspace: str, home: str) -> list[Revision]:
    return tx.topics.revisions(workspace, [home, *(each.id for each in tx.topics.merged_into(workspace, [home]))])


def _moments(given: Iterable[Revision], name: str, at: datetime) -> list[datetime]:
    """Now, and every moment from which another value of the field may hold."""
    return sorted({at} | {each.valid_from for each in given if each.name == name and each.valid_from > at})


def _current(home: str, given: Iterable[Revision], name: str, moment: datetime) -> Revision | None:
    """The value that a field has at a moment."""
    held = [each for each in given if each.name == name and each.valid_from <= moment]
    return max(held, key=lambda each: precedence(home, each), default=None)


def _not_withdrawn(tx: Transaction, workspace: str, home: str, given: Sequence[Revision]) -> list[Revision]:
    """The values that no purge took back, without the nulls that purges left."""
    until: dict[tuple[str, str], int] = {}
    for topic_id in (home, *(each.id for each in tx.topics.merged_into(workspace, [home]))):
        for event in tx.topics.event_log(workspace, topic_id):
            if event.detail.get("because") == PURGED and "until" in event.detail:
                key = (event.actor, str(event.detail["field"]))
                until[key] = max(until.get(key, 0), int(str(event.detail["until"])))
    return [each for each in given if each.provenance != PURGED and each.seq > until.get((each.person, each.name), 0)]


def _speakers(tx: Transaction, topic: Topic) -> set[str]:
    """Who spoke of a topic, or of one it stands for, and was not taken back."""
    joined = tx.topics.merged_into(topic.workspace, [topic.id])
    valid = _not_withdrawn(tx, topic.workspace, topic.id, _given(tx, topic.workspace, topic.id))
    return {each.person for each in joined} | {each.person for each in valid}


def _shelve_back(tx: Transaction, topic: Topic, person: str, at: datetime) -> bool:
    """Whether the person had put the topic into the archive, or taken it out, and it is back now."""
    moves = [each for each in tx.topics.event_log(topic.workspace, topic.id) if each.kind in _ARCHIVE_EVENTS]
    if not moves or moves[-1].actor != person or moves[-1].detail.get("because") == PURGED:
        return False
    left = [each.kind for each in moves if each.actor != person]
    wanted = left[-1] if left else TopicEventKind.RESTORED
    if wanted is moves[-1].kind:
        return False
    append(tx, topic, wanted, person, at, because=PURGED)
    return True

"""Withdrawing what one person contributed to topics, without erasing it.

The trail of a topic records up to which number (`seq`) a person's values of a field are withdrawn, so that they never
become current again, neither when another person is purged nor when somebody is forgotten.
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
"""The provenance of the null that replaces a value where only the person had given any."""

_ARCHIVE_EVENTS = (TopicEventKind.ARCHIVED, TopicEventKind.RESTORED)


def withdraw_person(tx: Transaction, workspace: str, person: str, at: datetime, new_id: NewId) -> tuple[int, int, int]:
    """Replace this person's current values by others', and archive topics that only they contributed to.

    Topics of others that they archived or restored are reverted. The history stays complete: the former value is given
    again in its author's name, or a null if there is none. What only the person can see stays. Returns (values
    withdrawn, topics archived, topics of others reverted).
    """
    topics = {each.id: each for each in tx.topics.within(workspace) if not is_personal(each.partition, person)}
    revisions = tx.topics.revisions_by(workspace, person)
    homes = {
        (topics[each.topic_id].merged_into or each.topic_id, each.name) for each in revisions if each.topic_id in topics
    }
    values = sum(_withdraw(tx, workspace, person, home, name, at, new_id) for home, name in sorted(homes))
    archived = reverted = 0
    for topic in topics.values():
        if topic.person != person:
            reverted += _revert_archiving(tx, topic, person, at)
        elif topic.archived_at is None and not topic.merged_into and _speakers(tx, topic) <= {person}:
            append(tx, topic, TopicEventKind.ARCHIVED, person, at, because=PURGED)
            archived += 1
    return values, archived, reverted


def take_back(
    tx: Transaction, home: Topic, name: str, revision_id: str, person: str, at: datetime, new_id: NewId
) -> bool:
    """Replace one current value of the person's by the former one, or by none; False if it is no longer current."""
    revisions = [each for each in _revisions_of(tx, home.workspace, home.id) if each.name == name]
    current = _current(home.id, revisions, name, at)
    if current is None or (current.id, current.person) != (revision_id, person):
        return False
    others = [each for each in _not_withdrawn(tx, home.workspace, home.id, revisions) if each != current]
    _replace(tx, home.id, current, others, person, at, at, new_id)
    return True


def hold_again(tx: Transaction, workspace: str, topic_ids: Iterable[str], at: datetime, new_id: NewId) -> None:
    """Replace withdrawn values that became current in these topics because their replacement was erased."""
    every = {each.id: each.merged_into or each.id for each in tx.topics.within(workspace)}
    for home in sorted({every[each] for each in topic_ids if each in every}):
        revisions = _revisions_of(tx, workspace, home)
        valid = _not_withdrawn(tx, workspace, home, revisions)
        for name in sorted({each.name for each in revisions}):
            for moment in _moments(revisions, name, at):
                current = _current(home, _revisions_of(tx, workspace, home), name, moment)
                if current is not None and current not in valid and current.provenance != PURGED:
                    _replace(tx, home, current, valid, "", at, moment, new_id)
                    valid = _not_withdrawn(tx, workspace, home, _revisions_of(tx, workspace, home))


def _withdraw(tx: Transaction, workspace: str, person: str, home: str, name: str, at: datetime, new_id: NewId) -> bool:
    """Replace the person's values by others', now and from each later time at which one of theirs becomes valid."""
    revisions = [each for each in _revisions_of(tx, workspace, home) if each.name == name]
    valid = _not_withdrawn(tx, workspace, home, revisions)
    others = [each for each in valid if each.person != person]
    detail: dict[str, object] = {"until": max(each.seq for each in revisions if each.person == person)}
    is_replaced = False
    for moment in _moments(revisions, name, at):
        current = _current(home, _revisions_of(tx, workspace, home), name, moment)
        if current is not None and current.person == person and current.provenance != PURGED:
            _replace(tx, home, current, others, person, at, moment, new_id, **detail)
            is_replaced = True
    topic = tx.topics.get(workspace, home)
    if not is_replaced and topic is not None and any(each.person == person for each in valid):
        current = _current(home, revisions, name, at)
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
    """Give the value again that would be current from this time on without the current one, or a null."""
    blank = replace(current, value=None, provenance=PURGED, why_changed=None, impact_expected=None)
    before = _current(home, others, current.name, moment) or blank
    again = replace(before, id=new_id(), topic_id=current.topic_id, valid_from=moment)
    tx.topics.add_revision(again)
    topic = tx.topics.get(current.workspace, current.topic_id)
    if topic is not None:
        because = {"field": current.name, "revision": again.id, "because": PURGED}
        append(tx, topic, TopicEventKind.REVISED, actor, at, **because, **detail)


def _revisions_of(tx: Transaction, workspace: str, home: str) -> list[Revision]:
    return tx.topics.revisions(workspace, [home, *(each.id for each in tx.topics.merged_into(workspace, [home]))])


def _moments(revisions: Iterable[Revision], name: str, at: datetime) -> list[datetime]:
    """Now, and every later time from which another value of the field may be current."""
    return sorted({at} | {each.valid_from for each in revisions if each.name == name and each.valid_from > at})


def _current(home: str, revisions: Iterable[Revision], name: str, moment: datetime) -> Revision | None:
    """The current value of a field at a time."""
    begun = [each for each in revisions if each.name == name and each.valid_from <= moment]
    return max(begun, key=lambda each: precedence(home, each), default=None)


def _not_withdrawn(tx: Transaction, workspace: str, home: str, revisions: Sequence[Revision]) -> list[Revision]:
    """The values that no purge withdrew, without the nulls of purges."""
    until: dict[tuple[str, str], int] = {}
    for topic_id in (home, *(each.id for each in tx.topics.merged_into(workspace, [home]))):
        for event in tx.topics.event_log(workspace, topic_id):
            if event.detail.get("because") == PURGED and "until" in event.detail:
                key = (event.actor, str(event.detail["field"]))
                until[key] = max(until.get(key, 0), int(str(event.detail["until"])))
    kept = (each for each in revisions if each.provenance != PURGED)
    return [each for each in kept if each.seq > until.get((each.person, each.name), 0)]


def _speakers(tx: Transaction, topic: Topic) -> set[str]:
    """The people who contributed to a topic or its duplicates, without those whose contributions were withdrawn."""
    joined = tx.topics.merged_into(topic.workspace, [topic.id])
    valid = _not_withdrawn(tx, topic.workspace, topic.id, _revisions_of(tx, topic.workspace, topic.id))
    return {each.person for each in joined} | {each.person for each in valid}


def _revert_archiving(tx: Transaction, topic: Topic, person: str, at: datetime) -> bool:
    """Revert the person's archiving or restoring of a topic. Returns whether there was any."""
    moves = [each for each in tx.topics.event_log(topic.workspace, topic.id) if each.kind in _ARCHIVE_EVENTS]
    if not moves or moves[-1].actor != person or moves[-1].detail.get("because") == PURGED:
        return False
    left = [each.kind for each in moves if each.actor != person]
    wanted = left[-1] if left else TopicEventKind.RESTORED
    if wanted is moves[-1].kind:
        return False
    append(tx, topic, wanted, person, at, because=PURGED)
    return True

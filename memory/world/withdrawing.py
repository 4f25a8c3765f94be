"""Taking back what one person told about topics, without erasing a word of it."""

from dataclasses import replace
from datetime import datetime

from memory.audience import is_personal
from memory.model.world import Revision, TopicEventKind
from memory.ports import NewId, Transaction
from memory.world.trail import told

PURGED = "purge"
"""Provenance of the null that stands where only the person had given a value."""


def withdraw_person(tx: Transaction, workspace: str, person: str, at: datetime, new_id: NewId) -> tuple[int, int]:
    """Let others' values hold again where this person's do, and archive topics that only they spoke of.

    History stays whole: the value that held before is given again in its author's name, and a null where there is none.
    What was told to nobody else stays. Returns (values, topics) that were taken back.
    """
    topics = {each.id: each for each in tx.world.within(workspace) if not is_personal(each.partition, person)}
    said = tx.world.revisions_by(workspace, person)
    homes = {
        (topics[each.topic_id].merged_into or each.topic_id, each.name) for each in said if each.topic_id in topics
    }
    values = sum(_withdraw(tx, workspace, person, home, name, at, new_id) for home, name in sorted(homes))
    archived = 0
    for topic in topics.values():
        speakers = {each.person for each in tx.world.revisions(workspace, [topic.id])}
        if topic.person == person and topic.archived_at is None and not topic.merged_into and speakers <= {person}:
            told(tx, topic, TopicEventKind.ARCHIVED, person, at, because=PURGED)
            archived += 1
    return values, archived


def _withdraw(tx: Transaction, workspace: str, person: str, home: str, name: str, at: datetime, new_id: NewId) -> bool:
    members = [home, *(each.id for each in tx.world.merged_into(workspace, [home]))]
    given = [each for each in tx.world.revisions(workspace, members) if each.name == name]

    def place(each: Revision) -> tuple[bool, datetime, int]:
        return each.topic_id == home, each.valid_from, each.seq

    current = max(given, key=place)
    if current.person != person or current.provenance == PURGED:
        return False
    blank = replace(current, value=None, provenance=PURGED, why_changed=None, impact_expected=None)
    others = [each for each in given if each.person != person]
    before = max(others, key=place) if others else blank
    again = replace(before, id=new_id(), topic_id=current.topic_id, valid_from=max(at, current.valid_from))
    tx.world.add_revision(again)
    topic = tx.world.get(workspace, current.topic_id)
    if topic is not None:
        told(tx, topic, TopicEventKind.REVISED, person, at, field=name, revision=again.id, because=PURGED)
    return True

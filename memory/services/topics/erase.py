"""Erasing one person from the topics, without losing what others contributed.

A topic of theirs to which others contributed is handed on: it becomes another person's, under a new id and without its
title, with the others' contributions. Their other topics are deleted.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memory.model.topic import NAMING, Topic, TopicEventKind, TopicField
from memory.ports import NewId, Transaction
from memory.rules.audience import has_narrowed, is_personal
from memory.services.topics.audit_log import append
from memory.services.topics.merge import merge_duplicates
from memory.services.topics.withdraw import hold_again


def erase_person(tx: Transaction, workspace: str, person: str, at: datetime, new_id: NewId) -> None:
    """Erase a person's topics and contributions, and hand on the topics to which others contributed.

    Topics of others that were merged into theirs are separated again. A value that a purge withdrew stays withdrawn,
    although its replacement is erased.
    """
    ids = {each.id for each in tx.topics.revisions_by(workspace, person)}
    touched = tx.topics.erase_words(workspace, person)
    # Those that nobody owns end with the last part that anybody had in them.
    own = {each.id: each for who in (person, "") for each in tx.topics.of_person(workspace, who)}
    parts = _parts(tx, workspace, {each.id for each in own.values() if not is_personal(each.partition, person)})
    names = {each: new_id() for each in own if each in parts and own[each].person == person}
    gone = own.keys() - parts.keys()
    for topic_id, name in names.items():
        _hand_on(tx, own[topic_id], name, parts[topic_id], names)
    tx.topics.delete(workspace, [*gone, *names])
    alone = [_split(tx, each, own[each.merged_into], at) for each in tx.topics.merged_into(workspace, gone)]
    merge_duplicates(tx, alone, at, limit=len(alone))
    _rename(tx, workspace, names, gone)
    left = [names.get(each, each) for each in touched if each not in gone]
    _erase_revision_ids(tx, workspace, left, ids)
    hold_again(tx, workspace, left, at, new_id)


def _parts(tx: Transaction, workspace: str, own: Collection[str]) -> dict[str, list[str]]:
    """Who has a part in each of these topics, first who gave its first value; only topics that somebody has one in.

    A part is a value, a field, an edge or a reference; also to have brought up one of several topics that it joins.
    """
    parts: dict[str, list[str]] = defaultdict(list)
    for revision in tx.topics.revisions(workspace, own):
        parts[revision.topic_id].append(revision.person)
    for link in sorted(tx.topics.links(workspace, own), key=lambda link: link.at):
        for end in {link.from_id, link.to_id} & set(own):
            parts[end].append(link.person)
    for field in _all_fields(tx, workspace):
        for topic_id in {field.topic_id, field.ref_topic_id or ""} & set(own):
            if field.person:
                parts[topic_id].append(field.person)
    for home, people in _joined(tx, workspace, own, parts).items():
        # One alone stands for itself again; of several, the topic that joins them decides what holds.
        if home in parts or len(people) > 1:
            parts[home] += people
    return dict(parts)


def _joined(
    tx: Transaction, workspace: str, own: Collection[str], parts: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """For each of these topics into which remaining topics were merged, the future owners of those."""
    joined: dict[str, list[str]] = defaultdict(list)
    for each in tx.topics.merged_into(workspace, own):
        if each.id not in own:
            joined[each.merged_into].append(each.person)
        elif each.id in parts:
            joined[each.merged_into].append(parts[each.id][0])
    return joined


def _hand_on(tx: Transaction, topic: Topic, name: str, parts: Iterable[str], names: Mapping[str, str]) -> None:
    """Hand on a topic under another id: to the author of a duplicate, with its words, else to another without words."""
    joined = [each for each in tx.topics.merged_into(topic.workspace, [topic.id]) if each.person != topic.person]
    titled = sorted((each for each in joined if each.title and each.person), key=lambda each: (each.public_id, each.id))
    # In the owner's own partition, whatever became of the channel, so that nobody sees more than before.
    twin = titled[0] if titled and not has_narrowed(topic) else None
    heir = "" if has_narrowed(topic) else twin.person if twin is not None else next(iter(parts))
    tx.topics.put(
        replace(
            topic,
            id=name,
            alias="",
            person=heir,
            title=twin.title if twin is not None else None,
            summary=twin.summary if twin is not None else None,
            topic_kind=twin.topic_kind if twin is not None else None,
            merged_into=names.get(topic.merged_into, topic.merged_into),
        )
    )
    tx.topics.move(topic.workspace, topic.id, name)
    if twin is not None:
        tx.topics.copy_vector(topic.workspace, twin.id, name)
    for each in joined:
        tx.topics.put(replace(each, merged_into=name))
    for event in tx.topics.event_log(topic.workspace, name):
        if event.kind is TopicEventKind.CREATED:
            tx.topics.replace_detail(replace(event, detail={**event.detail, "title": None}))


def _split(tx: Transaction, topic: Topic, home: Topic, at: datetime) -> Topic:
    """Separate a topic from the one that it was merged into; it is archived if that one was."""
    alone = append(tx, topic, TopicEventKind.SPLIT, "", at)
    if (alone.archived_at is None) == (home.archived_at is None):
        return alone
    return append(tx, alone, TopicEventKind.RESTORED if home.archived_at is None else TopicEventKind.ARCHIVED, "", at)


def _rename(tx: Transaction, workspace: str, names: Mapping[str, str], gone: Collection[str]) -> None:
    """Replace the ids of topics that were handed on wherever they are named, and remove those of deleted topics."""
    erased = {**dict.fromkeys(gone, ""), **names}
    for event in tx.topics.naming(workspace, erased):
        key = NAMING[event.kind]
        tx.topics.replace_detail(replace(event, detail={**event.detail, key: erased[str(event.detail[key])]}))
    for field in _all_fields(tx, workspace):
        if field.ref_topic_id in erased:
            tx.topics.put_field(replace(field, ref_topic_id=erased[field.ref_topic_id] or None))


def _erase_revision_ids(tx: Transaction, workspace: str, topic_ids: Collection[str], ids: Collection[str]) -> None:
    """Remove the ids of a person's values, which they may have chosen, from others' confirmations."""
    homes = {each.merged_into or each.id for each in tx.topics.get_many(workspace, topic_ids).values()}
    for home in sorted(homes):
        group = [home, *(each.id for each in tx.topics.merged_into(workspace, [home]))]
        left = {(each.name, each.id) for each in tx.topics.revisions(workspace, group)}
        for event in (event for topic_id in group for event in tx.topics.event_log(workspace, topic_id)):
            named = event.detail.get("revision")
            if named in ids and (event.detail.get("field"), named) not in left:
                tx.topics.replace_detail(replace(event, detail={**event.detail, "revision": ""}))


def _all_fields(tx: Transaction, workspace: str) -> list[TopicField]:
    return tx.topics.fields(workspace, [each.id for each in tx.topics.within(workspace)])

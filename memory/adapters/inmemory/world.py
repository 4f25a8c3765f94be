"""Topics in dictionaries."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from memory.adapters.inmemory.state import Access
from memory.adapters.row_validation import exact, plain, storable, to_json
from memory.errors import NotFound
from memory.model.topic import Revision, Topic, TopicEvent, TopicEventKind, TopicField, TopicLink, names_topic

if TYPE_CHECKING:
    from memory.model import Vector

K = TypeVar("K")
V = TypeVar("V")

WORDS = (TopicEventKind.REVISED, TopicEventKind.CONFIRMED, TopicEventKind.LINKED)
"""Events that only tell of what a person said."""


class World:
    """`memory.ports.WorldTable` over dictionaries."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def put(self, topic: Topic) -> None:
        topics = self._access.changing.topics
        known = topics.get((storable(topic).workspace, topic.id))
        seq = known.seq if known else self._access.next_number(topic.workspace, "topic")
        topics[topic.workspace, topic.id] = replace(topic, seq=seq, channel_visibility=None)

    def get(self, workspace: str, topic_id: str) -> Topic | None:
        return self.get_many(workspace, [topic_id]).get(topic_id)

    def get_many(self, workspace: str, topic_ids: Iterable[str]) -> dict[str, Topic]:
        topics = self._access.state.topics
        return {each: self._now(topics[workspace, each]) for each in topic_ids if (workspace, each) in topics}

    def within(self, workspace: str, partitions: Sequence[str] | None = None) -> list[Topic]:
        return self._where(workspace, lambda topic: partitions is None or topic.partition in partitions)

    def titled(self, workspace: str, partition: str, title: str) -> list[Topic]:
        found = self._where(workspace, lambda topic: (topic.partition, topic.title) == (partition, title))
        return sorted(found, key=lambda topic: topic.id)

    def merged_into(self, workspace: str, topic_ids: Iterable[str]) -> list[Topic]:
        wanted = set(topic_ids) - {""}
        return sorted(self._where(workspace, lambda topic: topic.merged_into in wanted), key=lambda topic: topic.id)

    def of_person(self, workspace: str, person: str) -> list[Topic]:
        return self._where(workspace, lambda topic: topic.person == person)

    def count(self, workspace: str) -> int:
        return len(self._where(workspace, lambda topic: True))

    def delete(self, workspace: str, topic_ids: Iterable[str]) -> int:
        state = self._access.changing
        gone = {each for each in topic_ids if state.topics.pop((workspace, each), None) is not None}
        for each in gone:
            state.topic_vectors.pop((workspace, each), None)
        _drop(state.topic_fields, lambda key, field: key[0] == workspace and field.topic_id in gone)
        _drop(state.revisions, lambda key, revision: key[0] == workspace and revision.topic_id in gone)
        _drop(state.topic_links, lambda key, link: key[0] == workspace and bool(gone & {link.from_id, link.to_id}))
        _drop(state.topic_events, lambda key, event: key[0] == workspace and event.topic_id in gone)
        return len(gone)

    def put_vector(self, workspace: str, topic_id: str, model: str, vector: "Vector") -> None:
        state = self._access.changing
        kept = exact(vector)
        self._require(workspace, topic_id)
        state.topic_vectors[workspace, topic_id] = (storable(model), kept)

    def vectors(self, workspace: str, model: str, topic_ids: Iterable[str]) -> "dict[str, Vector]":
        vectors = self._access.state.topic_vectors
        found = {each: vectors[workspace, each] for each in topic_ids if (workspace, each) in vectors}
        return {each: np.frombuffer(vector, "<f8") for each, (of, vector) in found.items() if of == model}

    def copy_vector(self, workspace: str, from_id: str, to_id: str) -> None:
        state = self._access.changing
        self._require(workspace, to_id)
        if (workspace, from_id) in state.topic_vectors:
            state.topic_vectors[workspace, to_id] = state.topic_vectors[workspace, from_id]

    def put_field(self, field: TopicField) -> None:
        state = self._access.changing
        self._require(storable(field).workspace, field.topic_id)
        state.topic_fields[field.workspace, field.topic_id, field.name] = field

    def fields(self, workspace: str, topic_ids: Iterable[str]) -> list[TopicField]:
        wanted = set(topic_ids)
        fields = self._access.state.topic_fields
        return [fields[key] for key in sorted(fields) if key[0] == workspace and key[1] in wanted]

    def add_revision(self, revision: Revision) -> bool:
        state = self._access.changing
        value = json.loads(to_json(storable(revision).value))
        if (revision.workspace, revision.topic_id, revision.name) not in state.topic_fields:
            raise NotFound(f"Topic {revision.topic_id} has no field {revision.name}; store the field first.")
        key = (revision.workspace, revision.topic_id, revision.name, revision.person, revision.id)
        if key in state.revisions:
            return False
        seq = self._access.next_number(revision.workspace, "topic")
        state.revisions[key] = replace(revision, value=value, seq=seq)
        return True

    def revisions(self, workspace: str, topic_ids: Iterable[str]) -> list[Revision]:
        wanted = set(topic_ids)
        return self._revisions(workspace, lambda revision: revision.topic_id in wanted)

    def revisions_by(self, workspace: str, person: str) -> list[Revision]:
        return self._revisions(workspace, lambda revision: revision.person == person)

    def add_link(self, link: TopicLink) -> bool:
        state = self._access.changing
        self._require(storable(link).workspace, link.from_id)
        self._require(link.workspace, link.to_id)
        key = (link.workspace, link.from_id, link.to_id, link.kind)
        return state.topic_links.setdefault(key, link) is link

    def links(self, workspace: str, topic_ids: Iterable[str]) -> list[TopicLink]:
        wanted = set(topic_ids)
        links = self._access.state.topic_links
        return [links[key] for key in sorted(links) if key[0] == workspace and wanted.intersection(key[1:3])]

    def append(self, event: TopicEvent) -> None:
        state = self._access.changing
        detail = plain(storable(event).detail)
        self._require(event.workspace, event.topic_id)
        seq = self._access.next_number(event.workspace, "topic")
        state.topic_events[event.workspace, seq] = replace(event, detail=detail, seq=seq)

    def trail(self, workspace: str, topic_id: str) -> list[TopicEvent]:
        events = self._access.state.topic_events.values()
        return [event for event in events if (event.workspace, event.topic_id) == (workspace, topic_id)]

    def erase_words(self, workspace: str, person: str) -> list[str]:
        state = self._access.changing
        said = _drop(state.revisions, lambda key, revision: (key[0], revision.person) == (workspace, person))
        edges = _drop(state.topic_links, lambda key, link: (key[0], link.person) == (workspace, person))
        valued = {(revision.workspace, revision.topic_id, revision.name) for revision in state.revisions.values()}
        named = _drop(
            state.topic_fields,
            lambda key, field: (key[0], field.person) == (workspace, person) and key not in valued,
        )
        for key, field in state.topic_fields.items():
            if (field.workspace, field.person) == (workspace, person):
                state.topic_fields[key] = replace(field, person="")
        own = {key: e for key, e in state.topic_events.items() if (e.workspace, e.actor) == (workspace, person)}
        for place, event in own.items():
            if event.kind in WORDS:
                del state.topic_events[place]
            else:
                state.topic_events[place] = replace(event, actor="")
        touched = {each.topic_id for each in said} | {each.topic_id for each in named}
        touched |= {event.topic_id for event in own.values()}
        return sorted(touched.union(*({link.from_id, link.to_id} for link in edges)))

    def move(self, workspace: str, from_id: str, to_id: str) -> None:
        state = self._access.changing
        self._require(workspace, to_id)
        for field in _drop(state.topic_fields, lambda key, field: key[:2] == (workspace, from_id)):
            state.topic_fields[workspace, to_id, field.name] = replace(field, topic_id=to_id)
        for revision in _drop(state.revisions, lambda key, revision: key[:2] == (workspace, from_id)):
            key = (workspace, to_id, revision.name, revision.person, revision.id)
            state.revisions[key] = replace(revision, topic_id=to_id)
        for link in _drop(state.topic_links, lambda key, link: key[0] == workspace and from_id in key[1:3]):
            ends = [to_id if end == from_id else end for end in (link.from_id, link.to_id)]
            state.topic_links[workspace, ends[0], ends[1], link.kind] = replace(link, from_id=ends[0], to_id=ends[1])
        for event in self.trail(workspace, from_id):
            state.topic_events[workspace, event.seq] = replace(event, topic_id=to_id)

    def naming(self, workspace: str, topic_ids: Iterable[str]) -> list[TopicEvent]:
        wanted = set(topic_ids)
        events = [event for event in self._access.state.topic_events.values() if event.workspace == workspace]
        return [event for event in events if names_topic(event, wanted)]

    def retell(self, event: TopicEvent) -> None:
        state = self._access.changing
        known = state.topic_events.get((event.workspace, event.seq))
        if known is not None:
            state.topic_events[event.workspace, event.seq] = replace(known, detail=plain(storable(event).detail))

    def _where(self, workspace: str, holds: Callable[[Topic], bool]) -> list[Topic]:
        # Numbers only grow and dictionaries keep their order, so this is the order of arrival.
        every = self._access.state.topics
        return [self._now(topic) for key, topic in every.items() if key[0] == workspace and holds(topic)]

    def _now(self, topic: Topic) -> Topic:
        known = self._access.channel_visibility(topic.workspace, topic.channel)
        return replace(topic, channel_visibility=known) if known is not None else topic

    def _revisions(self, workspace: str, holds: Callable[[Revision], bool]) -> list[Revision]:
        found = [each for key, each in self._access.state.revisions.items() if key[0] == workspace and holds(each)]
        return sorted(found, key=lambda revision: revision.seq)

    def _require(self, workspace: str, topic_id: str) -> None:
        if (workspace, topic_id) not in self._access.state.topics:
            raise NotFound(f"There is no topic {topic_id} in {workspace}; store it first.")


def _drop(table: dict[K, V], condition: Callable[[K, V], bool]) -> list[V]:
    gone = [key for key, row in table.items() if condition(key, row)]
    return [table.pop(key) for key in gone]

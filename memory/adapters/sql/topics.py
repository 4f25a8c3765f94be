"""Topics in SQL."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Row, Table, and_, delete, func, select, update

from memory.adapters.row_validation import chunks, storable
from memory.adapters.sql.channels import channel_visibility
from memory.adapters.sql.session import ID_LIMIT, Session, add_statement, put_statement, row_of
from memory.adapters.sql.topic_tables import (
    topic_events,
    topic_fields,
    topic_links,
    topic_places,
    topic_revisions,
    topic_vectors,
    topics,
)
from memory.errors import Conflict, NotFound
from memory.model.topic import (
    NAMING,
    Revision,
    Topic,
    TopicEvent,
    TopicEventKind,
    TopicField,
    TopicLink,
    names_topic,
)

if TYPE_CHECKING:
    from memory.model import Vector

_t = topics.c
_p = topic_places.c
_PUT = put_statement(topics)
_PUT_PLACE = put_statement(topic_places)
_WHOLE = select(topics, _p.channel, _p.visibility, channel_visibility(topic_places)).select_from(
    topics.outerjoin(topic_places, and_(_p.workspace == _t.workspace, _p.topic_id == _t.id))
)
_PUT_VECTOR = put_statement(topic_vectors)
_PUT_FIELD = put_statement(topic_fields)
_ADD_REVISION = add_statement(topic_revisions)
_ADD_LINK = add_statement(topic_links)
_ADD_EVENT = add_statement(topic_events)
_WORDS = (TopicEventKind.REVISED, TopicEventKind.CONFIRMED, TopicEventKind.LINKED)
"""Events that only tell of what a person said."""


class SqlTopicTable:
    """`memory.ports.WorldTable` in SQL."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put(self, topic: Topic) -> None:
        self._session.require_writing()
        known = self.get(storable(topic).workspace, topic.id)
        seq = known.seq if known else self._session.advance(topic.workspace, "topic")
        self._session.run(_PUT, row_of(topics, topic) | {"seq": seq})
        if topic.channel:
            place = {"channel": topic.channel, "visibility": topic.visibility}
            self._session.run(_PUT_PLACE, {"workspace": topic.workspace, "topic_id": topic.id, **place})

    def get(self, workspace: str, topic_id: str) -> Topic | None:
        return self.get_many(workspace, [topic_id]).get(topic_id)

    def get_many(self, workspace: str, topic_ids: Iterable[str]) -> dict[str, Topic]:
        found: dict[str, Topic] = {}
        for ids in chunks(dict.fromkeys(topic_ids), ID_LIMIT):
            found |= {topic.id: topic for topic in self._topics(workspace, _t.id.in_(ids))}
        return found

    def within(self, workspace: str, partitions: Sequence[str] | None = None) -> list[Topic]:
        return self._topics(workspace, *([] if partitions is None else [_t.partition.in_(partitions)]))

    def titled(self, workspace: str, partition: str, title: str) -> list[Topic]:
        found = self._topics(workspace, _t.partition == partition, _t.title == title)
        return sorted(found, key=lambda topic: topic.id)

    def merged_into(self, workspace: str, topic_ids: Iterable[str]) -> list[Topic]:
        wanted = set(topic_ids) - {""}
        found = [each for ids in chunks(wanted, ID_LIMIT) for each in self._topics(workspace, _t.merged_into.in_(ids))]
        return sorted(found, key=lambda topic: topic.id)

    def of_person(self, workspace: str, person: str) -> list[Topic]:
        return self._topics(workspace, _t.person == person)

    def count(self, workspace: str) -> int:
        row = self._session.row(select(func.count()).select_from(topics).where(_t.workspace == workspace))
        return 0 if row is None else int(row[0])

    def delete(self, workspace: str, topic_ids: Iterable[str]) -> int:
        self._session.require_writing()
        # What belongs to a topic goes with it.
        return sum(
            self._session.run(delete(topics).where(_t.workspace == workspace, _t.id.in_(ids)))
            for ids in chunks(set(topic_ids), ID_LIMIT)
        )

    def put_vector(self, workspace: str, topic_id: str, model: str, vector: "Vector") -> None:
        row = {"workspace": workspace, "topic_id": topic_id, "model": storable(model), "vector": vector}
        try:
            self._session.run(_PUT_VECTOR, row)
        except Conflict as exc:
            raise _no_topic(workspace, topic_id) from exc

    def vectors(self, workspace: str, model: str, topic_ids: Iterable[str]) -> "dict[str, Vector]":
        found: dict[str, Vector] = {}
        for ids in chunks(set(topic_ids), ID_LIMIT):
            here = (topic_vectors.c.workspace == workspace, topic_vectors.c.topic_id.in_(ids))
            rows = self._session.rows(select(topic_vectors).where(*here, topic_vectors.c.model == model))
            found.update((row.topic_id, row.vector) for row in rows)
        return found

    def copy_vector(self, workspace: str, from_id: str, to_id: str) -> None:
        self._session.require_writing()
        here = (topic_vectors.c.workspace == workspace, topic_vectors.c.topic_id == from_id)
        for row in self._session.rows(select(topic_vectors).where(*here)):
            self.put_vector(workspace, to_id, row.model, row.vector)
        if self.get(workspace, to_id) is None:
            raise _no_topic(workspace, to_id)

    def put_field(self, field: TopicField) -> None:
        try:
            self._session.run(_PUT_FIELD, row_of(topic_fields, field))
        except Conflict as exc:
            raise _no_topic(field.workspace, field.topic_id) from exc

    def fields(self, workspace: str, topic_ids: Iterable[str]) -> list[TopicField]:
        rows = self._of_topics(topic_fields, topic_fields.c.topic_id, workspace, topic_ids)
        found = [TopicField(**row._mapping) for row in rows]
        return sorted(found, key=lambda field: (field.topic_id, field.name))

    def add_revision(self, revision: Revision) -> bool:
        self._session.require_writing()
        row = row_of(topic_revisions, revision)
        row["seq"] = self._session.advance(revision.workspace, "topic")
        try:
            return self._session.run(_ADD_REVISION, row) == 1
        except Conflict as exc:
            missing = f"Topic {revision.topic_id} has no field {revision.name}; store the field first."
            raise NotFound(missing) from exc

    def revisions(self, workspace: str, topic_ids: Iterable[str]) -> list[Revision]:
        return _revisions(self._of_topics(topic_revisions, topic_revisions.c.topic_id, workspace, topic_ids))

    def revisions_by(self, workspace: str, person: str) -> list[Revision]:
        own = (topic_revisions.c.workspace == workspace, topic_revisions.c.person == person)
        return _revisions(self._session.rows(select(topic_revisions).where(*own)))

    def add_link(self, link: TopicLink) -> bool:
        try:
            return self._session.run(_ADD_LINK, row_of(topic_links, link)) == 1
        except Conflict as exc:
            missing = f"There is no topic {link.from_id} or {link.to_id} in {link.workspace}; store both first."
            raise NotFound(missing) from exc

    def links(self, workspace: str, topic_ids: Iterable[str]) -> list[TopicLink]:
        wanted = set(topic_ids)
        ends = (topic_links.c.from_id, topic_links.c.to_id)
        found = {TopicLink(**r._mapping) for end in ends for r in self._of_topics(topic_links, end, workspace, wanted)}
        return sorted(found, key=lambda link: (link.from_id, link.to_id, link.kind))

    def append(self, event: TopicEvent) -> None:
        self._session.require_writing()
        row = row_of(topic_events, event) | {"seq": self._session.advance(event.workspace, "topic")}
        try:
            self._session.run(_ADD_EVENT, row)
        except Conflict as exc:
            raise _no_topic(event.workspace, event.topic_id) from exc

    def trail(self, workspace: str, topic_id: str) -> list[TopicEvent]:
        here = (topic_events.c.workspace == workspace, topic_events.c.topic_id == topic_id)
        rows = self._session.rows(select(topic_events).where(*here).order_by(topic_events.c.seq))
        return [TopicEvent(**row._mapping) for row in rows]

    def erase_words(self, workspace: str, person: str) -> list[str]:
        self._session.require_writing()
        touched: set[str] = set()
        for table, column, ends in (
            (topic_revisions, "person", ("topic_id",)),
            (topic_links, "person", ("from_id", "to_id")),
            (topic_events, "actor", ("topic_id",)),
        ):
            own = (table.c.workspace == workspace, table.c[column] == person)
            rows = self._session.rows(select(*(table.c[end] for end in ends)).where(*own))
            touched.update(topic_id for row in rows for topic_id in row)
            words = [topic_events.c.kind.in_(_WORDS)] if table is topic_events else []
            self._session.run(delete(table).where(*own, *words))
        own_events = and_(topic_events.c.workspace == workspace, topic_events.c.actor == person)
        self._session.run(update(topic_events).where(own_events).values(actor=""))
        return sorted(touched.union(self._erase_fields(workspace, person)))

    def _erase_fields(self, workspace: str, person: str) -> set[str]:
        """A person's fields, unless somebody gave one a value; then only their name goes."""
        f, r = topic_fields.c, topic_revisions.c
        valued = select(r.id).where(r.workspace == f.workspace, r.topic_id == f.topic_id, r.name == f.name).exists()
        own = and_(f.workspace == workspace, f.person == person)
        rows = self._session.rows(select(f.topic_id).where(own, ~valued))
        self._session.run(delete(topic_fields).where(own, ~valued))
        self._session.run(update(topic_fields).where(own).values(person=""))
        return {row.topic_id for row in rows}

    def move(self, workspace: str, from_id: str, to_id: str) -> None:
        self._session.require_writing()
        if self.get(workspace, to_id) is None:
            raise _no_topic(workspace, to_id)
        old_fields = (topic_fields.c.workspace == workspace, topic_fields.c.topic_id == from_id)
        for field in self.fields(workspace, [from_id]):
            self.put_field(replace(field, topic_id=to_id))
        ends = [(topic_links, "from_id"), (topic_links, "to_id")]
        for table, end in [(topic_revisions, "topic_id"), *ends, (topic_events, "topic_id")]:
            here = (table.c.workspace == workspace, table.c[end] == from_id)
            self._session.run(update(table).where(*here).values({end: to_id}))
        self._session.run(delete(topic_fields).where(*old_fields))

    def naming(self, workspace: str, topic_ids: Iterable[str]) -> list[TopicEvent]:
        wanted = set(topic_ids)
        here = (topic_events.c.workspace == workspace, topic_events.c.kind.in_(list(NAMING)))
        rows = self._session.rows(select(topic_events).where(*here).order_by(topic_events.c.seq)) if wanted else []
        return [event for event in (TopicEvent(**row._mapping) for row in rows) if names_topic(event, wanted)]

    def retell(self, event: TopicEvent) -> None:
        self._session.require_writing()
        here = (topic_events.c.workspace == event.workspace, topic_events.c.seq == event.seq)
        self._session.run(update(topic_events).where(*here).values(detail=storable(event).detail))

    def _topics(self, workspace: str, *conditions: ColumnElement[bool]) -> list[Topic]:
        statement = _WHOLE.where(_t.workspace == workspace, *conditions).order_by(_t.seq)
        return [_topic(row) for row in self._session.rows(statement)]

    def _of_topics(
        self, table: Table, column: ColumnElement[str], workspace: str, topic_ids: Iterable[str]
    ) -> list[Row[Any]]:
        return [
            row
            for ids in chunks(set(topic_ids), ID_LIMIT)
            for row in self._session.rows(select(table).where(table.c.workspace == workspace, column.in_(ids)))
        ]


def _topic(row: Row[Any]) -> Topic:
    values = dict(row._mapping)
    if values["channel"] is None:
        del values["channel"], values["visibility"]
    return Topic(**values)


def _revisions(rows: Iterable[Row[Any]]) -> list[Revision]:
    return sorted((Revision(**row._mapping) for row in rows), key=lambda revision: revision.seq)


def _no_topic(workspace: str, topic_id: str) -> NotFound:
    return NotFound(f"There is no topic {topic_id} in {workspace}; store it first.")

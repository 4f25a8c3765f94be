"""Topics with their fields, revisions, links and events in SQL."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Row, Select, Table, and_, bindparam, delete, func, select, update

from memory.adapters.row_validation import chunks, exact, one_workspace, require_storable
from memory.adapters.sql.queries import missing_vectors
from memory.adapters.sql.queries.people import channel_visibility
from memory.adapters.sql.tables.columns import READ_AS
from memory.adapters.sql.tables.topics import (
    IS_CHANGE,
    topic_events,
    topic_fields,
    topic_links,
    topic_places,
    topic_revisions,
    topic_vectors,
    topics,
)
from memory.adapters.sql.transaction.session import (
    ID_LIMIT,
    SqlTable,
    add_statement,
    among,
    matching,
    put_statement,
    row_of,
)
from memory.errors import NotFound
from memory.model.topic import NAMING, Revision, Topic, TopicEvent, TopicEventKind, TopicField, TopicLink, names_topic

if TYPE_CHECKING:
    from memory.model import Vector

_t = topics.c
_p = topic_places.c
_WHOLE = select(topics, _p.channel, _p.visibility, channel_visibility(topic_places)).select_from(
    topics.outerjoin(topic_places, and_(_p.workspace == _t.workspace, _p.topic_id == _t.id))
)
_BY_ID = _WHOLE.where(among(topics, "id")).order_by(_t.seq)
_WITHIN = _WHOLE.where(among(topics, "partition")).order_by(_t.seq)
_COUNT = select(func.count()).select_from(topics).where(matching(topics))
_MERGED = _WHOLE.where(among(topics, "merged_into"))
_CHANGES = (
    select(topic_events)
    .where(matching(topic_events), IS_CHANGE)
    .order_by(topic_events.c.seq.desc())
    .limit(bindparam("limit"))
)
_SET_SALIENCE = (
    update(topics)
    .where(_t.workspace == bindparam("w"), _t.id == bindparam("t"))
    .values(salience=bindparam("new"), salience_at=bindparam("new_at"))
)
_WORDS = (TopicEventKind.REVISED, TopicEventKind.CONFIRMED, TopicEventKind.LINKED)
"""Kinds of events that only describe words of a person."""


class SqlTopicTable(SqlTable):
    """`memory.ports.TopicTable` in SQL."""

    def put(self, topic: Topic) -> None:
        self._session.require_writing()
        known = self.get(require_storable(topic).workspace, topic.id)
        seq = known.seq if known else self._session.advance(topic.workspace, "topic")
        self._session.put(topics, replace(topic, seq=seq))
        if topic.channel:
            place = {"channel": topic.channel, "visibility": topic.visibility}
            self._session.run(
                put_statement(topic_places), {"workspace": topic.workspace, "topic_id": topic.id, **place}
            )

    def get(self, workspace: str, topic_id: str) -> Topic | None:
        return self.get_many(workspace, [topic_id]).get(topic_id)

    def get_many(self, workspace: str, topic_ids: Iterable[str]) -> dict[str, Topic]:
        return {row.id: _topic(**row._mapping) for row in self._session.each(_BY_ID, workspace, topic_ids)}

    def within(self, workspace: str, partitions: Sequence[str] | None = None) -> list[Topic]:
        if partitions is None:
            return self._topics(workspace)
        return [_topic(**row._mapping) for row in self._session.each(_WITHIN, workspace, partitions)]

    def titled(self, workspace: str, partition: str, title: str) -> list[Topic]:
        found = self._topics(workspace, _t.partition == partition, _t.title == title)
        return sorted(found, key=lambda topic: topic.id)

    def merged_into(self, workspace: str, topic_ids: Iterable[str]) -> list[Topic]:
        rows = self._session.each(_MERGED, workspace, set(topic_ids) - {""})
        return sorted((_topic(**row._mapping) for row in rows), key=lambda topic: topic.id)

    def of_person(self, workspace: str, person: str) -> list[Topic]:
        return self._topics(workspace, _t.person == person)

    def count(self, workspace: str) -> int:
        row = self._session.row(_COUNT, {"workspace": workspace})
        return 0 if row is None else int(row[0])

    def delete(self, workspace: str, topic_ids: Iterable[str]) -> int:
        self._session.require_writing()
        # Rows that refer to a topic are deleted by their foreign keys.
        return sum(
            self._session.run(delete(topics).where(_t.workspace == workspace, _t.id.in_(ids)))
            for ids in chunks(set(topic_ids), ID_LIMIT)
        )

    def put_vector(self, workspace: str, topic_id: str, model: str, vector: "Vector") -> None:
        row = {"workspace": workspace, "topic_id": topic_id, "model": require_storable(model), "vector": vector}
        with self._session.needing(_missing(workspace, topic_id)):
            self._session.run(put_statement(topic_vectors), row)

    def vectors(self, workspace: str, model: str, topic_ids: Iterable[str]) -> "dict[str, Vector]":
        rows = self._of_topics(topic_vectors, "topic_id", workspace, topic_ids)
        return {row.topic_id: row.vector for row in rows if row.model == model}

    def without_vector(self, workspace: str, model: str, *, after: str, limit: int) -> list[str]:
        where = {"w": workspace, "m": model, "after": after, "count": limit}
        return [row.id for row in self._session.rows(missing_vectors.TOPIC_IDS, where)]

    def count_without_vector(self, workspace: str, model: str) -> int:
        return int(self._session.rows(missing_vectors.TOPIC_COUNT, {"w": workspace, "m": model})[0][0])

    def copy_vector(self, workspace: str, from_id: str, to_id: str) -> None:
        self._session.require_writing()
        here = (topic_vectors.c.workspace == workspace, topic_vectors.c.topic_id == from_id)
        self._require(workspace, to_id)
        for row in self._session.rows(select(topic_vectors).where(*here)):
            self.put_vector(workspace, to_id, row.model, row.vector)

    def put_field(self, field: TopicField) -> None:
        with self._session.needing(_missing(field.workspace, field.topic_id)):
            self._session.put(topic_fields, field)

    def fields(self, workspace: str, topic_ids: Iterable[str]) -> list[TopicField]:
        rows = self._of_topics(topic_fields, "topic_id", workspace, topic_ids)
        found = [TopicField(**row._mapping) for row in rows]
        return sorted(found, key=lambda field: (field.topic_id, field.name))

    def add_revision(self, revision: Revision) -> bool:
        self._session.require_writing()
        row = row_of(topic_revisions, revision)
        row["seq"] = self._session.advance(revision.workspace, "topic")
        with self._session.needing(f"field {revision.name} of topic {revision.topic_id}; store the field"):
            return self._session.run(add_statement(topic_revisions), row) == 1

    def revisions(self, workspace: str, topic_ids: Iterable[str]) -> list[Revision]:
        return _revisions(self._of_topics(topic_revisions, "topic_id", workspace, topic_ids))

    def revisions_by(self, workspace: str, person: str) -> list[Revision]:
        own = (topic_revisions.c.workspace == workspace, topic_revisions.c.person == person)
        return _revisions(self._session.rows(select(topic_revisions).where(*own)))

    def add_link(self, link: TopicLink) -> bool:
        with self._session.needing(f"topic {link.from_id} or {link.to_id} in {link.workspace}; store both"):
            return self._session.run(add_statement(topic_links), row_of(topic_links, link)) == 1

    def links(self, workspace: str, topic_ids: Iterable[str]) -> list[TopicLink]:
        wanted = set(topic_ids)
        ends = ("from_id", "to_id")
        found = {TopicLink(**r._mapping) for end in ends for r in self._of_topics(topic_links, end, workspace, wanted)}
        return sorted(found, key=lambda link: (link.from_id, link.to_id, link.kind))

    def set_salience(self, *topics: Topic) -> None:
        rows = [
            {"w": each.workspace, "t": each.id, "new": each.salience, "new_at": each.salience_at}
            for each in require_storable(topics)
        ]
        self._session.run(_SET_SALIENCE, rows)

    def append(self, *new: TopicEvent) -> None:
        if not new:
            return
        workspace = one_workspace(new)
        first = self._session.advance(workspace, "topic", len(new)) - len(new) + 1
        rows = [row_of(topic_events, each) | {"seq": seq} for seq, each in enumerate(new, first)]
        with self._session.needing(_missing(workspace, " or ".join(dict.fromkeys(each.topic_id for each in new)))):
            self._session.run(add_statement(topic_events), rows)

    def event_log(self, workspace: str, topic_id: str) -> list[TopicEvent]:
        here = (topic_events.c.workspace == workspace, topic_events.c.topic_id == topic_id)
        return self._session.all(TopicEvent, select(topic_events).where(*here).order_by(topic_events.c.seq))

    def changes(self, workspace: str, *, actor: str = "", before: int = 0, limit: int) -> list[TopicEvent]:
        own, given = _CHANGES, {"workspace": workspace, "limit": limit, "actor": actor, "before": before}
        if actor:
            own = own.where(topic_events.c.actor == bindparam("actor"))
        if before:
            own = own.where(topic_events.c.seq < bindparam("before"))
        return self._session.all(TopicEvent, own, **given)

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
        """Delete a person's fields without values; of fields with values, only the person is erased.

        Returns the topics of the deleted fields.
        """
        f, r = topic_fields.c, topic_revisions.c
        valued = select(r.id).where(r.workspace == f.workspace, r.topic_id == f.topic_id, r.name == f.name).exists()
        own = and_(f.workspace == workspace, f.person == person)
        rows = self._session.rows(select(f.topic_id).where(own, ~valued))
        self._session.run(delete(topic_fields).where(own, ~valued))
        self._session.run(update(topic_fields).where(own).values(person=""))
        return {row.topic_id for row in rows}

    def move(self, workspace: str, from_id: str, to_id: str) -> None:
        self._session.require_writing()
        self._require(workspace, to_id)
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
        every = select(topic_events).where(*here).order_by(topic_events.c.seq)
        return [
            event for event in (self._session.all(TopicEvent, every) if wanted else ()) if names_topic(event, wanted)
        ]

    def replace_detail(self, event: TopicEvent) -> None:
        self._session.require_writing()
        here = (topic_events.c.workspace == event.workspace, topic_events.c.seq == event.seq)
        self._session.run(update(topic_events).where(*here).values(detail=require_storable(event).detail))

    def _require(self, workspace: str, topic_id: str) -> None:
        if self.get(workspace, topic_id) is None:
            raise NotFound(f"There is no {_missing(workspace, topic_id)} first.")

    def _topics(self, workspace: str, *conditions: ColumnElement[bool]) -> list[Topic]:
        statement = _WHOLE.where(_t.workspace == workspace, *conditions).order_by(_t.seq)
        return self._session.all(_topic, statement)

    def _of_topics(self, table: Table, column: str, workspace: str, topic_ids: Iterable[str]) -> Iterator[Row[Any]]:
        return self._session.each(_among(table, column), workspace, topic_ids)


@cache
def _among(table: Table, column: str) -> Select[Any]:
    return select(table).where(among(table, column))


def _topic(channel: str | None, **columns: Any) -> Topic:  # noqa: ANN401 - columns
    if channel is None:
        del columns["visibility"]
        return Topic(**columns)
    return Topic(channel=channel, **columns)


topic_vectors.info[READ_AS] = lambda vector, **_: len(exact(vector))


def _revisions(rows: Iterable[Row[Any]]) -> list[Revision]:
    return sorted((Revision(**row._mapping) for row in rows), key=lambda revision: revision.seq)


def _missing(workspace: str, topic_id: str) -> str:
    return f"topic {topic_id} in {workspace}; store it"

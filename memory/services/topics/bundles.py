"""The topics that a person may see, and the bundles that a query returns of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memory.model import Scope, Visibility
from memory.model.topic import NAMING, Revision, Topic, TopicEvent, TopicEventKind, TopicField
from memory.ports import Transaction
from memory.rules.audience import is_personal, may_meet, partitions_for, visibility_of
from memory.services.topics.query import Bundle, FieldBundle, QueryRequest, Stage, Value


class VisibleTopics:
    """The topics of a workspace that one person may see in one place. No answer names a topic outside.

    Topics have names here: the ids that their authors chose, whether or not topics out of sight have the same.
    """

    def __init__(self, tx: Transaction, scope: Scope) -> None:
        partitions = partitions_for(scope)
        indexed = tx.topics.within(scope.workspace, partitions)
        rank = {name: place for place, name in enumerate(partitions)}
        self._see(tx, scope.workspace, [each for each in indexed if may_meet(scope, each)], rank)

    def _see(self, tx: Transaction, workspace: str, topics: Iterable[Topic], rank: Mapping[str, int]) -> None:
        self._tx = tx
        self.workspace = workspace
        self.every = {topic.id: topic for topic in topics}
        """Add topics by their ids in the store, archived and merged ones too, in order of arrival."""
        self.live = [each for each in self.every.values() if not each.merged_into and each.archived_at is None]
        self._named: dict[str, str] = {}
        self._names: dict[str, str] = {}
        for topic in sorted(self.every.values(), key=lambda each: (bool(each.alias), rank.get(each.partition, 0))):
            self.name(topic)

    def name(self, topic: Topic) -> None:
        """Name a topic by the id that its author chose, unless another topic in sight has that name."""
        name = topic.public_id if topic.public_id not in self._named else topic.id
        self._named[name] = topic.id
        self._names[topic.id] = name

    def name_of(self, topic_id: str) -> str:
        """The name of a topic in sight, given its id in the store."""
        return self._names[topic_id]

    def named(self, name: str | None) -> Topic | None:
        """The topic with this name, which may be merged into another. None if it is not visible."""
        return self.every.get(self._named.get(name or "", ""))

    def survivor_of(self, topic: Topic | None) -> Topic | None:
        """The topic itself, or the one that it was merged into."""
        return self.every.get(topic.merged_into) if topic is not None and topic.merged_into else topic

    def representative(self, name: str | None) -> Topic | None:
        """The topic with this name, or the one that it was merged into. None if it is not visible."""
        return self.survivor_of(self.named(name))

    def shown(self, topic: Topic) -> Topic:
        """The topic as returned to the person: under its name here."""
        return replace(topic, id=self.name_of(topic.id), alias="")

    def renamed(self, event: TopicEvent) -> list[TopicEvent]:
        """An entry of a topic's trail with the names used here; empty if it is about a topic that is not visible."""
        key = NAMING.get(event.kind, "")
        other = event.detail.get(key)
        if event.kind is TopicEventKind.LINKED and other not in self._names:
            return []
        detail = dict(event.detail)
        if isinstance(other, str):
            detail[key] = self._names.get(other, other)
        return [replace(event, topic_id=self.name_of(event.topic_id), detail=detail)]

    def members(self, topic_ids: Iterable[str]) -> dict[str, str]:
        """Each of these topics, and each duplicate merged into one of them, with the topic that replaces it."""
        wanted = set(topic_ids)
        joined = {each.id: each.merged_into for each in self.every.values() if each.merged_into in wanted}
        return {each: each for each in wanted} | joined

    def neighbours(self, topic_ids: Sequence[str]) -> dict[str, tuple[tuple[str, str | None], ...]]:
        """The topics linked to each topic in either direction, by id. Includes archived topics, as in the seed."""
        home = self.members(topic_ids)
        found: dict[str, dict[str, str | None]] = defaultdict(dict)
        for link in self._tx.topics.links(self.workspace, home):
            for end, other in ((link.from_id, link.to_id), (link.to_id, link.from_id)):
                topic = self.survivor_of(self.every.get(other))
                if end in home and topic is not None and topic.id != home[end]:
                    found[home[end]][self.name_of(topic.id)] = topic.title
        return {each: tuple(sorted(found[each].items())) for each in topic_ids}

    def fields(self, topic_ids: Sequence[str], *, at: datetime, limit: int | None) -> dict[str, dict[str, FieldBundle]]:
        """The fields of each topic by name, with the value that is current `at` this time.

        The history has up to `limit` values, newest first, including those valid from a later time on; without a limit
        it is only the current value. A value given to the topic itself takes precedence over those of its duplicates;
        then the one valid since the latest time, then the one given last. Fields without values are left out.
        """
        home = self.members(topic_ids)
        owned: dict[tuple[str, str], list[TopicField]] = defaultdict(list)
        for field in self._tx.topics.fields(self.workspace, home):
            owned[home[field.topic_id], field.name].append(field)
        by_field: dict[tuple[str, str], list[Revision]] = defaultdict(list)
        for revision in self._tx.topics.revisions(self.workspace, home):
            by_field[home[revision.topic_id], revision.name].append(revision)
        bundles: dict[str, dict[str, FieldBundle]] = {each: {} for each in topic_ids}
        for (topic_id, name), revisions in sorted(by_field.items()):
            revisions.sort(key=lambda each: precedence(topic_id, each), reverse=True)
            current = next((each for each in revisions if each.valid_from <= at), None)
            history = revisions[:limit] if limit is not None else [current] if current is not None else []
            if history:
                field = min(
                    owned[topic_id, name], key=lambda each: (each.topic_id != topic_id, self.name_of(each.topic_id))
                )
                bundles[topic_id][name] = self._field(field, current, history)
        return bundles

    def _field(self, field: TopicField, current: Revision | None, history: Sequence[Revision]) -> FieldBundle:
        target = self.survivor_of(self.every.get(field.ref_topic_id or ""))
        return FieldBundle(
            name=field.name,
            field_type=field.field_type,
            ref_topic_id=self.name_of(target.id) if target is not None else None,
            current=_value(current) if current is not None else None,
            history=tuple(map(_value, history)),
        )


class AllTopics(VisibleTopics):
    """All topics of a workspace, or its public ones only."""

    def __init__(self, tx: Transaction, workspace: str, *, public_only: bool) -> None:
        every = tx.topics.within(workspace)
        self._see(tx, workspace, [each for each in every if not public_only or is_public(each)], {})


def is_public(topic: Topic) -> bool:
    """Whether the channel of a topic was and is public, and the topic is not for one person alone."""
    return visibility_of(topic) is Visibility.PUBLIC and not is_personal(topic.partition, topic.person)


def precedence(home: str, revision: Revision) -> tuple[bool, datetime, int]:
    """The sort key of the values of a field that are valid at a time; the greatest is current."""
    return (revision.topic_id == home, revision.valid_from, revision.seq)


def _value(revision: Revision) -> Value:
    return Value(
        id=revision.id,
        value=revision.value,
        valid_from=revision.valid_from,
        provenance=revision.provenance,
        why_changed=revision.why_changed,
        impact_expected=revision.impact_expected,
    )


def bundles(
    visible: VisibleTopics,
    chosen: Sequence[tuple[Topic, float | None]],
    request: QueryRequest,
    *,
    at: datetime,
    max_history: int,
) -> list[Bundle]:
    """The bundles of the chosen topics, with what the stages add. `chosen` have their salience at `at`."""
    topic_ids = [topic.id for topic, _ in chosen]
    with_links = Stage.STRUCTURAL in request.stages
    with_fields = with_links or Stage.TEMPORAL in request.stages
    whole = Stage.TEMPORAL in request.stages and request.explain
    links = visible.neighbours(topic_ids) if with_links else {}
    fields = visible.fields(topic_ids, at=at, limit=max_history if whole else None) if with_fields else {}
    return [
        Bundle(
            topic_id=visible.name_of(topic.id),
            title=topic.title,
            summary=topic.summary,
            topic_kind=topic.topic_kind,
            salience=topic.salience,
            failed_salience=topic.failed_salience,
            neighbors=links.get(topic.id, ()),
            fields=_wanted(fields.get(topic.id, {}), request.field_names),
            similarity=similarity,
        )
        for topic, similarity in chosen
    ]


def _wanted(fields: dict[str, FieldBundle], names: Sequence[str] | None) -> tuple[FieldBundle, ...]:
    wanted = dict.fromkeys(names) if names else sorted(fields)
    return tuple(fields[name] for name in wanted if name in fields)

"""Writing an ingest: the topic, its fields, values and edges, each with an entry in the audit trail."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from memory.errors import Conflict, InvalidInput
from memory.model import Scope
from memory.model.topic import FieldType, Revision, Topic, TopicEventKind, TopicField, TopicLink
from memory.ports import NewId, Transaction
from memory.rules.audience import partition_of
from memory.services.topics.audit_log import append
from memory.services.topics.bundles import VisibleTopics
from memory.services.topics.ingest import NO_VALUE, FieldInput, Ingest, Placement, Related


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestWriter:
    """One ingest in one transaction."""

    tx: Transaction
    scope: Scope
    visible: VisibleTopics
    now: datetime
    new_id: NewId
    clean: Callable[[str], str]
    """Removes secrets from a text."""

    def topic(self, wanted: Ingest) -> Topic:
        """The topic to write to: a new one, or the one with the given id or into which that was merged.

        Raises `Conflict` for a new topic with a known id, `InvalidInput` for an id that is unknown here.
        """
        if wanted.placement is Placement.NEW_TOPIC:
            return self._create(wanted)
        topic = self.visible.representative(wanted.topic_id)
        if topic is None:
            raise InvalidInput(f"there is no topic {wanted.topic_id} here")
        if topic.archived_at is not None:
            topic = append(self.tx, topic, TopicEventKind.RESTORED, self.scope.person, self.now)
        return topic

    def _create(self, wanted: Ingest) -> Topic:
        workspace, topic_id = self.scope.workspace, wanted.topic_id or self.new_id()
        if self.visible.named(topic_id) is not None:
            raise Conflict(f"there is a topic {topic_id} already; extend it, or choose another id")
        # If the id belongs to a topic that this person may not see, theirs is stored under another id, unnoticed.
        is_taken = self.tx.topics.get(workspace, topic_id) is not None
        topic = Topic(
            workspace=workspace,
            id=self.new_id() if is_taken else topic_id,
            alias=topic_id if is_taken else "",
            partition=partition_of(self.scope, wanted.audience),
            person=self.scope.person,
            channel=self.scope.channel,
            visibility=self.scope.visibility,
            title=self._clean(wanted.title),
            summary=self._clean(wanted.summary),
            topic_kind=self._clean(wanted.topic_kind),
            created_at=self.now,
            first_salience=wanted.salience,
            salience=wanted.salience,
            salience_at=self.now,
        )
        self.tx.topics.put(topic)
        self.visible.every[topic.id] = topic
        self.visible.name(topic)
        return append(self.tx, topic, TopicEventKind.CREATED, self.scope.person, self.now, title=topic.title)

    def field(self, topic: Topic, field_input: FieldInput) -> TopicEventKind | None:
        """Give a field a value or a reference. Returns the kind of entry: a revision, a confirmation, or None.

        A value equal to the current one is a confirmation. Raises `InvalidInput` for a reference to an unknown topic.
        """
        target = self.visible.named(field_input.ref_topic_id)
        if field_input.ref_topic_id is not None and target is None:
            raise InvalidInput(
                f"field {field_input.name} refers to {field_input.ref_topic_id}, and there is no such topic here"
            )
        name = self.clean(field_input.name)
        known = {field.name: field for field in self.tx.topics.fields(topic.workspace, [topic.id])}.get(name)
        field = TopicField(
            workspace=topic.workspace,
            topic_id=topic.id,
            name=name,
            person=known.person if known else self.scope.person,
            field_type=FieldType.of(field_input.field_type),
            ref_topic_id=target.id if target is not None else known.ref_topic_id if known else None,
        )
        if field != known:
            self.tx.topics.put_field(field)
        return None if field_input.value is NO_VALUE else self._value(topic, field, field_input)

    def _value(self, topic: Topic, field: TopicField, field_input: FieldInput) -> TopicEventKind | None:
        value = self._clean_value(field_input.value)
        moment = max(self.now, field_input.valid_from or self.now)
        bundle = self.visible.fields([topic.id], at=moment, limit=None)[topic.id].get(field.name)
        current = bundle.current if bundle is not None else None
        if current is not None and not field_input.revision_id and _same(current.value, value):
            self._record(topic, TopicEventKind.CONFIRMED, field=field.name, revision=current.id)
            return TopicEventKind.CONFIRMED
        if field_input.revision_id and self._is_known(topic, field, field_input.revision_id):
            return None
        revision = Revision(
            workspace=topic.workspace,
            topic_id=topic.id,
            name=field.name,
            id=field_input.revision_id or self.new_id(),
            person=self.scope.person,
            value=value,
            valid_from=field_input.valid_from or self.now,
            provenance=self._clean(field_input.provenance),
            why_changed=self._clean(field_input.why_changed),
            impact_expected=self._clean(field_input.impact_expected),
        )
        self.tx.topics.add_revision(revision)
        self._record(topic, TopicEventKind.REVISED, field=field.name, revision=revision.id)
        return TopicEventKind.REVISED

    def _is_known(self, topic: Topic, field: TopicField, revision_id: str) -> bool:
        """Whether this person gave the field a value with this id before, perhaps through a duplicate's id."""
        revisions = self.tx.topics.revisions(topic.workspace, self.visible.members([topic.id]))
        mine = (field.name, self.scope.person, revision_id)
        return any((each.name, each.person, each.id) == mine for each in revisions)

    def link(self, topic: Topic, related: Related) -> bool:
        """Make an edge; False if the other end is unknown here, or the topic itself."""
        other = self.visible.representative(related.topic_id)
        if other is None or other.id == topic.id:
            return False
        link = TopicLink(
            workspace=topic.workspace,
            from_id=topic.id,
            to_id=other.id,
            kind=self.clean(related.kind),
            person=self.scope.person,
            at=self.now,
        )
        if self.tx.topics.add_link(link):
            self._record(topic, TopicEventKind.LINKED, to=other.id, kind=link.kind)
        return True

    def _record(self, topic: Topic, kind: TopicEventKind, /, **detail: object) -> None:
        append(self.tx, topic, kind, self.scope.person, self.now, **detail)

    def _clean(self, text: str | None) -> str | None:
        return None if text is None else self.clean(text)

    def _clean_value(self, value: object) -> object:
        match value:
            case str():
                return self.clean(value)
            case list() | tuple():
                return [self._clean_value(each) for each in value]
            case dict():
                return {self.clean(str(name)): self._clean_value(each) for name, each in value.items()}
            case _:
                return value


def _same(one: object, other: object) -> bool:
    """Whether two JSON values are written the same: 1 equals neither true nor 1.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)

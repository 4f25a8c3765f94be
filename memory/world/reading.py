"""The topics one person may see, and the bundles a query makes of them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from memory.model.world import Revision, Topic, TopicField
from memory.ports import Transaction
from memory.world.query import QueryRequest, Stage
from memory.world.response import Bundle, FieldBundle, Value


class Visible:
    """The part of a workspace that some partitions hold: nothing outside it is named anywhere in an answer."""

    def __init__(self, tx: Transaction, workspace: str, partitions: Sequence[str]) -> None:
        self._tx = tx
        self.workspace = workspace
        self.every = {topic.id: topic for topic in tx.world.within(workspace, partitions)}
        """Archived and merged topics too, in order of arrival."""
        self.live = [each for each in self.every.values() if not each.merged_into and each.archived_at is None]

    def standing(self, topic_id: str | None) -> Topic | None:
        """The topic that speaks for this id: itself, or the one it was merged into. None outside what is visible."""
        topic = self.every.get(topic_id or "")
        return self.every.get(topic.merged_into) if topic is not None and topic.merged_into else topic

    def members(self, topic_ids: Iterable[str]) -> dict[str, str]:
        """Each of these topics and each duplicate it stands for, with the topic that stands for it."""
        wanted = set(topic_ids)
        joined = {each.id: each.merged_into for each in self.every.values() if each.merged_into in wanted}
        return {each: each for each in wanted} | joined

    def neighbours(self, topic_ids: Sequence[str]) -> dict[str, tuple[tuple[str, str | None], ...]]:
        """What is linked to each topic in either direction, by id. Archived topics are named, the seed's way."""
        home = self.members(topic_ids)
        found: dict[str, dict[str, str | None]] = defaultdict(dict)
        for link in self._tx.world.links(self.workspace, home):
            for end, other in ((link.from_id, link.to_id), (link.to_id, link.from_id)):
                topic = self.standing(other)
                if end in home and topic is not None and topic.id != home[end]:
                    found[home[end]][topic.id] = topic.title
        return {each: tuple(sorted(found[each].items())) for each in topic_ids}

    def fields(self, topic_ids: Sequence[str], *, limit: int) -> dict[str, dict[str, FieldBundle]]:
        """The fields of each topic by name, with up to `limit` values, newest first.

        A value given to the topic itself comes before those of its duplicates; else the one that holds since later, and
        of two that hold since the same moment the one that was said later. A field without values is left out.
        """
        home = self.members(topic_ids)
        owned: dict[tuple[str, str], list[TopicField]] = defaultdict(list)
        for field in self._tx.world.fields(self.workspace, home):
            owned[home[field.topic_id], field.name].append(field)
        said: dict[tuple[str, str], list[Revision]] = defaultdict(list)
        for revision in self._tx.world.revisions(self.workspace, home):
            said[home[revision.topic_id], revision.name].append(revision)
        bundles: dict[str, dict[str, FieldBundle]] = {each: {} for each in topic_ids}
        for (topic_id, name), revisions in sorted(said.items()):
            revisions.sort(key=lambda each: (each.topic_id == topic_id, each.valid_from, each.seq), reverse=True)
            field = min(owned[topic_id, name], key=lambda each: (each.topic_id != topic_id, each.topic_id))
            bundles[topic_id][name] = self._field(field, revisions[:limit])
        return bundles

    def _field(self, field: TopicField, revisions: Sequence[Revision]) -> FieldBundle:
        target = self.standing(field.ref_topic_id)
        return FieldBundle(
            name=field.name,
            field_type=field.field_type,
            ref_topic_id=target.id if target is not None else None,
            history=tuple(
                Value(
                    id=each.id,
                    value=each.value,
                    valid_from=each.valid_from,
                    provenance=each.provenance,
                    why_changed=each.why_changed,
                    impact_expected=each.impact_expected,
                )
                for each in revisions
            ),
        )


def bundles(
    visible: Visible, chosen: Sequence[tuple[Topic, float | None]], request: QueryRequest, *, max_history: int
) -> list[Bundle]:
    """Each chosen topic with what the stages add. `chosen` has the salience of now."""
    topic_ids = [topic.id for topic, _ in chosen]
    with_links = Stage.STRUCTURAL in request.stages
    with_fields = with_links or Stage.TEMPORAL in request.stages
    whole = Stage.TEMPORAL in request.stages and request.explain
    links = visible.neighbours(topic_ids) if with_links else {}
    fields = visible.fields(topic_ids, limit=max_history if whole else 1) if with_fields else {}
    return [
        Bundle(
            topic_id=topic.id,
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

"""Lessons as topics: a validated episode is shown as a topic whose fields are people's feedback on it.

The title is the goal, the summary the answer; the fields are `answer`, `verdict` with every grading and its reason, and
`correction`. As in recall, an episode is visible only in the partitions in which its verdicts index it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory.model import Audience, Episode, Event, EventKind, Scope, Vector
from memory.model.topic import FieldType
from memory.ports import Attention, IndexEntry, Transaction
from memory.rules.audience import nearest_entry, partitions_for
from memory.rules.strength import bumped, salience
from memory.services.core import Core
from memory.services.recall.visible_corrections import corrections_for
from memory.services.topics import Bundle, FieldBundle, QueryRequest, Returned, Stage, Value
from memory.services.verdicts.reason import WITHDRAWN

SUMMARY_CHARACTERS = 500
_PLACES = (Audience.PERSONAL, Audience.CHANNEL, Audience.WORKSPACE)
"""The order of the words in a grading's detail."""


@dataclass(slots=True, kw_only=True)
class TaughtTopics:
    """`memory.services.topics.source.TopicSource` over the validated episodes that one person may find in one place."""

    core: Core
    tx: Transaction
    scope: Scope
    now: datetime
    _partitions: list[str] = field(init=False)
    _known: dict[str, tuple[Episode, IndexEntry] | None] = field(default_factory=dict, init=False)
    """The rows that were read, by id, with the most specific place where this person finds each."""

    def __post_init__(self) -> None:
        self._partitions = partitions_for(self.scope)

    def resolve(self, topic_ids: Sequence[str]) -> dict[str, str]:
        """Those of these episodes that are indexed in this person's partitions."""
        return {episode_id: episode_id for episode_id in self._visible(topic_ids)}

    def in_order(self, k: int) -> list[str]:
        """The episodes that are indexed in this person's partitions, oldest first."""
        return self.tx.episodes.first_indexed(self.scope.workspace, self._partitions, k)

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """From the index of recall."""
        model = self.core.embedder.name
        found = self.tx.episodes.nearest(self.scope.workspace, self._partitions, model, vector, k, -1.0)
        visible = self._visible([hit.episode_id for hit in found.hits])
        return [(hit.episode_id, hit.cosine) for hit in found.hits if hit.episode_id in visible]

    def bundles(self, chosen: Sequence[tuple[str, float | None]], request: QueryRequest) -> list[Bundle]:
        """The bundles of episodes, with linked episodes and people's feedback on them."""
        episodes = self._visible([episode_id for episode_id, _ in chosen])
        with_links = Stage.STRUCTURAL in request.stages
        with_fields = with_links or Stage.TEMPORAL in request.stages
        links = self._neighbours(list(episodes)) if with_links else {}
        fields = self._fields(episodes, request) if with_fields else {}
        return [
            Bundle(
                topic_id=episode_id,
                title=episodes[episode_id].goal,
                summary=episodes[episode_id].output[:SUMMARY_CHARACTERS],
                topic_kind="episode",
                salience=salience(episodes[episode_id].salience, episodes[episode_id].salience_at, self.now),
                failed_salience=0.0,
                neighbors=links.get(episode_id, ()),
                fields=fields.get(episode_id, ()),
                similarity=similarity,
            )
            for episode_id, similarity in chosen
        ]

    def returned(self, topic_id: str) -> Returned:
        """The episode with this id."""
        return Returned(EpisodeReinforcement(self.scope.workspace), attention_of(self._visible([topic_id])[topic_id]))

    def _visible(self, episode_ids: Sequence[str]) -> dict[str, Episode]:
        unread = [each for each in episode_ids if each not in self._known]
        read = self.tx.episodes.get_many(self.scope.workspace, unread) if unread else {}
        for each in unread:
            entry = nearest_entry(read[each], self._partitions) if each in read else None
            self._known[each] = (read[each], entry) if entry is not None else None
        found = ((each, self._known[each]) for each in episode_ids)
        return {each: pair[0] for each, pair in found if pair is not None}

    def _neighbours(self, episode_ids: Sequence[str]) -> dict[str, tuple[tuple[str, str | None], ...]]:
        links = self.tx.episodes.links(self.scope.workspace, episode_ids)
        others = self._visible([end for link in links for end in (link.from_id, link.to_id)])
        found: dict[str, dict[str, str | None]] = {episode_id: {} for episode_id in episode_ids}
        for link in links:
            for end, other in ((link.from_id, link.to_id), (link.to_id, link.from_id)):
                if end in found and other in others:
                    found[end][other] = others[other].goal
        return {episode_id: tuple(sorted(linked.items())) for episode_id, linked in found.items()}

    def _fields(self, episodes: Mapping[str, Episode], request: QueryRequest) -> dict[str, tuple[FieldBundle, ...]]:
        corrected = [each.id for each in episodes.values() if each.correction]
        corrections = corrections_for(self.tx, self.scope, corrected)
        logs = self.tx.log.gradings(self.scope.workspace, episodes)
        whole = Stage.TEMPORAL in request.stages and request.explain
        bundles: dict[str, tuple[FieldBundle, ...]] = {}
        for episode_id, episode in episodes.items():
            histories = {
                "answer": [_answer_value(episode)],
                "correction": [_answer_value(lesson) for lesson in reversed(corrections.get(episode_id, []))],
                "verdict": self._verdicts(episode, logs.get(episode_id, ())),
            }
            names = dict.fromkeys(request.field_names) if request.field_names else histories
            bundles[episode_id] = tuple(
                FieldBundle(
                    name=name,
                    field_type=FieldType.STRING,
                    ref_topic_id=None,
                    current=histories[name][0],
                    history=tuple(histories[name] if whole else histories[name][:1]),
                )
                for name in names
                if histories.get(name)
            )
        return bundles

    def _verdicts(self, episode: Episode, log: Sequence[Event]) -> list[Value]:
        """The gradings of the episode for this person's audience, newest first, without naming voters."""
        pair = self._known[episode.id]
        place = _PLACES.index(pair[1].audience) if pair is not None else 0
        withdrawn = {each.actor: each.seq for each in log if each.detail.get(WITHDRAWN)}
        return [
            _verdict(each, place, with_reason=each.seq > withdrawn.get(each.actor, 0))
            for each in reversed(log)
            if each.kind is not EventKind.UNGRADED and _word(each, "from", place) != _word(each, "to", place)
        ]


@dataclass(frozen=True, slots=True)
class EpisodeReinforcement:
    """Reinforcement of episodes (`memory.services.topics.reinforcement`).

    Reading raises salience, not strength, and is logged.
    """

    workspace: str

    def read(self, tx: Transaction, ids: Iterable[str]) -> dict[str, Attention]:
        """The episodes without their texts."""
        return tx.retrievals.attention(self.workspace, ids)

    def is_same(self, seen: Attention, now: Attention) -> bool:
        """Whether the same people find it by the same question."""
        return now[:-2] == seen[:-2]  # all but the salience and its moment

    def raised(self, row: Attention, actor: str, at: datetime) -> tuple[Attention, Event]:
        """The salience after decay plus the bump for being shown."""
        after = bumped(row.salience, row.salience_at, at)
        bump = Event(
            workspace=self.workspace,
            episode_id=row.id,
            kind=EventKind.QUERY_BUMP,
            actor=actor,
            at=at,
            detail={"from": salience(row.salience, row.salience_at, at), "to": after, "reason": "query_bump"},
        )
        return row._replace(salience=after, salience_at=max(at, row.salience_at)), bump

    def store(self, tx: Transaction, rows: Sequence[Attention], entries: Sequence[Event]) -> None:
        """Store only the salience."""
        tx.log.append(*entries)
        tx.retrievals.attend(self.workspace, rows)


def attention_of(episode: Episode) -> Attention:
    """The value of `EpisodeTable.attention` for an episode."""
    verdicts = episode.verdicts
    return Attention(
        id=episode.id,
        goal=episode.goal,
        personal=verdicts.personal,
        channel=verdicts.channel,
        workspace=verdicts.workspace,
        promoted=episode.promoted,
        archived_at=episode.archived_at,
        salience=episode.salience,
        salience_at=episode.salience_at,
    )


def _word(graded: Event, side: str, place: int) -> str:
    return str(graded.detail.get(side, "")).split()[place]


def _verdict(graded: Event, place: int, *, with_reason: bool) -> Value:
    return Value(
        id=f"{graded.episode_id}:verdict:{graded.seq}",
        value=_word(graded, "to", place),
        valid_from=graded.at,
        provenance="reaction",
        why_changed=(str(graded.detail.get("reason", "")) or None) if with_reason else None,
        impact_expected=None,
    )


def _answer_value(episode: Episode) -> Value:
    return Value(
        id=f"{episode.id}:answer",
        value=episode.output,
        valid_from=episode.created_at,
        provenance=episode.origin.value,
        why_changed=None,
        impact_expected=None,
    )

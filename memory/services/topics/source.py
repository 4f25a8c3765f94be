"""The sources of topics that a query searches: the stored topics, and others such as the lessons taught to the bot."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from memory.model import Scope
from memory.model.topic import Topic, TopicEvent, WorldPolicy
from memory.ports import Transaction
from memory.rules.strength import salience
from memory.services.topics.audit_log import apply_entry, salience_entry
from memory.services.topics.bundles import VisibleTopics, bundles
from memory.services.topics.query import Bundle, QueryRequest
from memory.services.topics.reinforcement import Returned

if TYPE_CHECKING:
    from memory.model import Vector

Hits = Sequence[tuple[str, float]]
"""(topic id, cosine), best first."""


class TopicSource(Protocol):
    """The topics of one kind that one person may see, within one transaction."""

    def resolve(self, topic_ids: Sequence[str]) -> Mapping[str, str]:
        """For each of these ids that names an active topic, its id or that of the topic it was merged into."""

    def in_order(self, k: int) -> Sequence[str]:
        """The first `k` active topics that have an embedding, in order of arrival."""

    def nearest(self, vector: "Vector", k: int) -> Hits:
        """The active topics most similar to a vector, best first, ties in order of arrival; at least `k`, if any."""

    def bundles(self, chosen: Sequence[tuple[str, float | None]], request: QueryRequest) -> Sequence[Bundle]:
        """The chosen topics of this source with what the stages add, in the same order."""

    def returned(self, topic_id: str) -> Returned:
        """One of the chosen topics as it was read, to raise its salience."""


MakeSource = Callable[[Transaction, Scope], TopicSource]


@dataclass(kw_only=True)
class StoredTopics:
    """The source of the topics that were ingested."""

    tx: Transaction
    scope: Scope
    now: datetime
    model: str
    """The embedder's name."""
    dimension: int
    policy: WorldPolicy

    def __post_init__(self) -> None:
        self._visible = VisibleTopics(self.tx, self.scope)
        live = [topic.id for topic in self._visible.live]
        found = self.tx.topics.vectors(self.scope.workspace, self.model, live)
        self._vectors = {each: found[each] for each in live if len(found.get(each, ())) == self.dimension}

    def resolve(self, topic_ids: Sequence[str]) -> dict[str, str]:
        """A duplicate's id resolves to the topic that it was merged into."""
        known = {each: self._visible.representative(each) for each in topic_ids}
        return {
            each: self._visible.name_of(topic.id)
            for each, topic in known.items()
            if topic is not None and topic.archived_at is None
        }

    def in_order(self, k: int) -> list[str]:
        """Only topics whose embedding has the dimension of the query's."""
        return [self._visible.name_of(topic_id) for topic_id in islice(self._vectors, k)]

    def nearest(self, vector: "Vector", k: int) -> Hits:
        """All comparable topics, by their exact cosine."""
        return [(self._visible.name_of(topic_id), cosine) for topic_id, cosine in rank_exactly(self._vectors, vector)]

    def bundles(self, chosen: Sequence[tuple[str, float | None]], request: QueryRequest) -> list[Bundle]:
        """The bundles, with the current salience."""
        present = [(self._present(topic_id), similarity) for topic_id, similarity in chosen]
        return bundles(self._visible, present, request, at=self.now, max_history=self.policy.max_history)

    def _present(self, name: str) -> Topic:
        topic = self._named(name)
        return replace(topic, salience=salience(topic.salience, topic.salience_at, self.now))

    def returned(self, topic_id: str) -> Returned:
        """The topic with this name."""
        raises = TopicReinforcement(self.scope.workspace, self.policy.bump, self.policy.salience_cap)
        return Returned(raises, self._named(topic_id))

    def _named(self, name: str) -> Topic:
        topic = self._visible.named(name)
        if topic is None:
            raise KeyError(name)
        return topic


@dataclass(frozen=True, slots=True)
class TopicReinforcement:
    """The `Reinforcement` of ingested topics: by the policy's bump, up to its cap."""

    workspace: str
    bump: float
    cap: float

    def read(self, tx: Transaction, ids: Iterable[str]) -> dict[str, Topic]:
        """Full topics, as they have no long texts."""
        return tx.topics.get_many(self.workspace, ids)

    def is_same(self, seen: Topic, now: Topic) -> bool:
        """Whether nothing but the salience has changed."""
        return replace(now, salience=seen.salience, salience_at=seen.salience_at) == seen

    def raised(self, row: Topic, actor: str, at: datetime) -> tuple[Topic, TopicEvent]:
        """The salience after decay plus the bump."""
        entry = salience_entry(row, actor, at, reason="query_bump", by=self.bump, cap=self.cap)
        return apply_entry(row, entry), entry

    def store(self, tx: Transaction, rows: Sequence[Topic], entries: Sequence[TopicEvent]) -> None:
        """Store only the salience."""
        tx.topics.append(*entries)
        tx.topics.set_salience(*rows)


def rank_exactly(vectors: "Mapping[str, Vector]", query: "Vector") -> list[tuple[str, float]]:
    """All topics with their exact cosine, in double precision, best first; ties stay in order of arrival.

    A zero vector, or one with a number that is not finite, has the cosine 0.
    """
    import numpy as np  # imported late: needed only for comparisons

    if not vectors:
        return []
    rows = np.stack([np.asarray(vector, np.float64) for vector in vectors.values()])
    wanted = np.asarray(query, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt((rows * rows).sum(axis=1)) * np.sqrt((wanted * wanted).sum())
        products = (rows * wanted).sum(axis=1)
    comparable = (lengths > 0) & np.isfinite(lengths) & np.isfinite(products)
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=comparable)
    scored = zip(vectors, np.clip(cosines, -1.0, 1.0).tolist(), strict=True)
    return sorted(scored, key=lambda pair: pair[1], reverse=True)


def as_vector(numbers: Sequence[float]) -> "Vector":
    """Numbers as a vector in double precision."""
    import numpy as np

    vector: Vector = np.asarray(numbers, np.float64)
    return vector

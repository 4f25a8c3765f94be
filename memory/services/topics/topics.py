"""The use cases of topics: query, ingest, revise, archive and restore, each one transaction."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from memory.errors import EmbeddingFailed, NotFound
from memory.model import Scope
from memory.model.topic import Topic, TopicEvent, TopicEventKind, WorldPolicy
from memory.model.validation import require_instance
from memory.ports import Clock, Embedder, NewId, Store, Transaction
from memory.rules.strength import salience
from memory.services.embedders import CheckedEmbedder
from memory.services.topics.audit_log import append, change_salience
from memory.services.topics.bundles import VisibleTopics
from memory.services.topics.ingest import Ingest, IngestResult, Placement
from memory.services.topics.merge import merge_duplicates
from memory.services.topics.query import Bundle, QueryRequest, QueryResponse, Stage
from memory.services.topics.reinforcement import PendingQuery, Reinforcing, Returned, TopicAnswer
from memory.services.topics.shared_transaction import SharedTransaction
from memory.services.topics.source import MakeSource, StoredTopics, TopicSource, as_vector
from memory.services.topics.withdraw import take_back
from memory.services.topics.writer import IngestWriter

if TYPE_CHECKING:
    from memory.model import Vector

SIMILAR = 8
"""How many topics a new one is compared to in the answer."""


class World:
    """The topics of all workspaces. Synchronous and thread-safe.

    Every call begins with the scope: a topic belongs to one partition (its person's, its channel's, or the
    workspace's), and people who may not search that partition never see it, nor its id or title as a neighbour.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        clock: Clock,
        new_id: NewId,
        policy: WorldPolicy | None = None,
        clean: Callable[[str], str] | None = None,
        sources: Sequence[MakeSource] = (),
    ) -> None:
        """`clean` removes secrets from texts before they are stored; `sources` are further sources for queries."""
        self._store = store
        self._embedder = CheckedEmbedder(embedder)
        self._clock = clock
        self._new_id = new_id
        self.policy = policy or WorldPolicy()
        self._clean = clean or (lambda text: text)
        self._sources = tuple(sources)
        self._raising: dict[str, SharedTransaction[PendingQuery, QueryResponse]] = {}

    def query(self, scope: Scope, request: QueryRequest | Mapping[str, object], *, event_id: str = "") -> QueryResponse:
        """Choose topics, bundle them, and reinforce those that are returned.

        The answer is computed on one snapshot. A short transaction, shared by the queries that wait for it, then raises
        the salience if the topics are unchanged; else the answer is computed again in it.

        A mapping is read as the body of `POST /v1/query`. A second query with the same `event_id` reinforces nothing.
        Raises `InvalidInput` for an unusable request.
        """
        require_instance(Scope, scope, "the scope of a query")
        wanted = request if isinstance(request, QueryRequest) else QueryRequest.from_json(request)
        vector = self._embed(wanted.q)
        with self._store.read() as tx:
            answer = self._answer(tx, scope, wanted, vector)
        has_room = answer.topics < self.policy.soft_limit
        if not wanted.reinforce or (not (answer.bundles or event_id) and has_room):
            return answer.response()
        asked = PendingQuery(scope=scope, request=wanted, vector=vector, event_id=event_id, answer=answer)
        return self._reinforcing_in(scope.workspace)(asked)

    def _reinforcing_in(self, workspace: str) -> SharedTransaction[PendingQuery, QueryResponse]:
        """The shared transaction that stores the effects of a workspace's queries."""
        shared = SharedTransaction[PendingQuery, QueryResponse](partial(self._reinforce, workspace))
        return self._raising.setdefault(workspace, shared)

    def _reinforce(self, workspace: str, take: Callable[[], Sequence[PendingQuery]]) -> list[QueryResponse]:
        """Reinforce what queries returned, one query after another. Returns their responses."""
        with self._store.write() as tx:
            asked = take()
            raising = Reinforcing(tx=tx, at=self._clock())
            raising.read(each.answer for each in asked)
            responses = [self._reinforced(raising, each) for each in asked]
            raising.store()
            self._forget(tx, workspace)
        return responses

    def _reinforced(self, raising: Reinforcing, asked: PendingQuery) -> QueryResponse:
        tx, answer = raising.tx, asked.answer
        if not raising.holds(answer):
            answer = self._answer(tx, asked.scope, asked.request, asked.vector)
            raising.read([answer])
        response = raising.response_of(answer)
        if not asked.event_id or tx.log.claim(asked.scope.workspace, asked.event_id, raising.at):
            raising.reinforce_all(answer, asked.scope.person)
        return response

    def _answer(self, tx: Transaction, scope: Scope, request: QueryRequest, vector: "Vector | None") -> TopicAnswer:
        topics = tx.topics.count(scope.workspace)
        sources: list[TopicSource] = [self._own_source(tx, scope, vector)] if topics else []
        sources += [make(tx, scope) for make in self._sources]
        chosen = _chosen(sources, vector, request, min_similarity=self.policy.min_similarity)
        bundles: dict[str, tuple[Bundle, Returned]] = {}
        for source in sources:
            known = source.resolve([topic_id for topic_id, _ in chosen])
            here = [
                (topic_id, similarity) for topic_id, similarity in chosen if topic_id in known.keys() - bundles.keys()
            ]
            found = source.bundles(here, request)
            bundles |= {each.topic_id: (each, source.returned(each.topic_id)) for each in found}
        pairs = [bundles[topic_id] for topic_id, _ in chosen]
        return TopicAnswer(
            query=request.q,
            bundles=tuple(bundle for bundle, _ in pairs),
            returned=tuple(returned for _, returned in pairs),
            topics=topics,
        )

    def _own_source(self, tx: Transaction, scope: Scope, vector: "Vector | None") -> StoredTopics:
        return StoredTopics(
            tx=tx,
            scope=scope,
            now=self._clock(),
            model=self._embedder.name,
            dimension=self._embedder.dimension if vector is None else len(vector),
            policy=self.policy,
        )

    def _embed(self, text: str) -> "Vector | None":
        try:
            return self._embedder.embed([text])[0]
        except EmbeddingFailed:
            return None

    def _forget(self, tx: Transaction, workspace: str) -> list[str]:
        """If there are too many topics, archive those with little salience, and halve it."""
        policy, now = self.policy, self._clock()
        if tx.topics.count(workspace) < policy.soft_limit:
            return []
        topics = [topic for topic in tx.topics.within(workspace) if not topic.merged_into]
        if len(topics) < policy.soft_limit:
            return []
        forgotten: list[str] = []
        for topic in topics:
            left = salience(topic.salience, topic.salience_at, now)
            if topic.archived_at is None and left < policy.forget_below:
                halved = change_salience(tx, topic, "", now, reason="forgotten", times=0.5, cap=policy.salience_cap)
                append(tx, halved, TopicEventKind.ARCHIVED, "", now)
                forgotten.append(topic.id)
        return forgotten

    def ingest(self, scope: Scope, wanted: Ingest) -> IngestResult:
        """Store something, merge topics that turn out to be the same, and archive some if there are too many.

        Raises `InvalidInput` (unknown topic or reference; a text that cannot be stored) and `Conflict` (a new topic
        with a known id).
        """
        require_instance(Scope, scope, "the scope of an ingest")
        vector = self._vector_of(require_instance(Ingest, wanted, "what is ingested"))
        with self._store.write() as tx:
            visible = VisibleTopics(tx, scope)
            now = self._clock()
            writing = IngestWriter(tx=tx, scope=scope, visible=visible, now=now, new_id=self._new_id, clean=self._clean)
            topic = writing.topic(wanted)
            similar: list[str] = []
            if vector is not None:
                similar = [topic_id for topic_id, _ in self._own_source(tx, scope, vector).nearest(vector, SIMILAR)]
                tx.topics.put_vector(scope.workspace, topic.id, self._embedder.name, vector)
            outcomes = [(field.name, writing.field(topic, field)) for field in wanted.fields]
            links = [(each.topic_id, writing.link(topic, each)) for each in wanted.related]
            twins = tx.topics.titled(scope.workspace, topic.partition, topic.title) if topic.title else []
            seen = [each for each in twins if each.id in visible.every]
            merged = merge_duplicates(tx, seen, now, limit=self.policy.max_merges)
            self._forget(tx, scope.workspace)
            merged = [(visible.name_of(twin), visible.name_of(survivor)) for twin, survivor in merged]
            name = visible.name_of(topic.id)
        return IngestResult(
            topic_id=dict(merged).get(name, name),
            revised=tuple(name for name, kind in outcomes if kind is TopicEventKind.REVISED),
            confirmed=tuple(name for name, kind in outcomes if kind is TopicEventKind.CONFIRMED),
            linked=tuple(topic_id for topic_id, is_made in links if is_made),
            skipped=tuple(topic_id for topic_id, is_made in links if not is_made),
            merged=tuple(merged),
            similar=tuple(similar[:SIMILAR]),
        )

    def _vector_of(self, wanted: Ingest) -> "Vector | None":
        """The embedding to store with a new topic; None for a known one, and if nothing can be embedded."""
        if wanted.placement is not Placement.NEW_TOPIC:
            return None
        if wanted.embedding is not None:
            return as_vector(wanted.embedding)
        text = "\n".join(self._clean(part) for part in (wanted.title, wanted.summary) if part)
        return self._embed(text) if text else None

    def revise(self, workspace: str, *, actor: str = "") -> list[tuple[str, str]]:
        """Merge the duplicates of a workspace, within each partition. Returns (duplicate, survivor) pairs."""
        with self._store.write() as tx:
            every, limit = tx.topics.within(workspace), self.policy.max_merges
            return merge_duplicates(tx, every, self._clock(), limit=limit, actor=actor)

    def forget_idle(self, workspace: str) -> list[str]:
        """Archive topics with little salience, if there are too many. Returns their ids."""
        with self._store.write() as tx:
            return self._forget(tx, workspace)

    def take_back(self, scope: Scope, topic_id: str, name: str, revision_id: str) -> bool:
        """Withdraw a value that this person gave; False if it is no longer the current one. Raises `NotFound`."""
        with self._store.write() as tx:
            topic = _existing(VisibleTopics(tx, scope), topic_id)
            return take_back(tx, topic, name, revision_id, scope.person, self._clock(), self._new_id)

    def archive(self, scope: Scope, topic_id: str) -> None:
        """Archive a topic: it is in no answer until it is restored. Raises `NotFound`."""
        self._set_archived(scope, topic_id, TopicEventKind.ARCHIVED)

    def restore(self, scope: Scope, topic_id: str) -> None:
        """Restore an archived topic. Raises `NotFound`."""
        self._set_archived(scope, topic_id, TopicEventKind.RESTORED)

    def _set_archived(self, scope: Scope, topic_id: str, kind: TopicEventKind) -> None:
        with self._store.write() as tx:
            topic = _existing(VisibleTopics(tx, scope), topic_id)
            if (topic.archived_at is None) == (kind is TopicEventKind.ARCHIVED):
                append(tx, topic, kind, scope.person, self._clock())

    def trail(self, scope: Scope, topic_id: str) -> list[TopicEvent]:
        """The audit trail of a topic, oldest first. Raises `NotFound`."""
        with self._store.read() as tx:
            visible = VisibleTopics(tx, scope)
            topic = _existing(visible, topic_id)
            return [each for event in tx.topics.event_log(scope.workspace, topic.id) for each in visible.renamed(event)]

    def topic(self, scope: Scope, topic_id: str) -> Topic:
        """The topic with this id, or the one that it was merged into, archived or not. Raises `NotFound`."""
        with self._store.read() as tx:
            visible = VisibleTopics(tx, scope)
            return visible.shown(_existing(visible, topic_id))


def _chosen(
    sources: Sequence[TopicSource], vector: "Vector | None", request: QueryRequest, *, min_similarity: float
) -> list[tuple[str, float | None]]:
    """The chosen (topic id, similarity) in the order of the answer.

    With the semantic stage: of the nearest `top_k`, those on the allow-list (which the seed applies afterwards); if the
    query has no vector, the allow-list itself. Without the stage: the allow-list in its order, else the first topics
    that have an embedding. Names that resolve to the same topic count once.
    """
    listed = None if request.topic_ids is None else _listed(sources, request.topic_ids)
    if Stage.SEMANTIC not in request.stages:
        k = request.top_k
        first = [topic_id for source in sources for topic_id in source.in_order(k)] if listed is None else listed
        return [(topic_id, None) for topic_id in first[:k]]
    hits = [] if vector is None else [hit for source in sources for hit in source.nearest(vector, request.top_k)]
    if not hits:
        return [(topic_id, None) for topic_id in (listed or [])[: request.top_k]]
    hits.sort(key=lambda hit: hit[1], reverse=True)
    return [
        (topic_id, cosine)
        for topic_id, cosine in hits[: request.top_k]
        if cosine >= min_similarity and (listed is None or topic_id in listed)
    ]


def _listed(sources: Sequence[TopicSource], topic_ids: Sequence[str]) -> list[str]:
    known: dict[str, str] = {}
    for source in sources:
        known = {**source.resolve(topic_ids), **known}
    return list(dict.fromkeys(known[each] for each in topic_ids if each in known))


def _existing(visible: VisibleTopics, topic_id: str) -> Topic:
    topic = visible.representative(topic_id)
    if topic is None:
        raise NotFound(f"there is no topic {topic_id} here")
    return topic

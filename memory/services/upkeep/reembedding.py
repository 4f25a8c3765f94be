"""Re-embedding, in batches, of texts whose embedding is missing or was made by another embedder.

Each batch is committed, so an interrupted call loses nothing, and the next one continues.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory.model import Vector
from memory.ports import Transaction
from memory.services.core import Core, update_index

BATCH = 64
"""Texts embedded and committed together."""

ShowsReembedding = Callable[[int, int], None]
"""Progress callback: called with the number done and the total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembeddingCounts:
    """The numbers of what was embedded by the current embedder."""

    episodes: int
    topics: int
    waiting: int
    """The number of those that still have no such embedding."""


@dataclass(frozen=True, slots=True)
class Reembedding:
    """The use case of embedding anew what the current embedder has not embedded."""

    _core: Core

    def waiting(self) -> tuple[int, int]:
        """The numbers of episodes and topics, of all workspaces, without an embedding by the current embedder."""
        model, workspaces = self._core.embedder.name, self._core.store.workspaces()
        with self._core.store.read() as tx:
            episodes = sum(tx.episodes.count_without_vector(workspace, model) for workspace in workspaces)
            return episodes, sum(tx.topics.count_without_vector(workspace, model) for workspace in workspaces)

    def run(self, *, limit: int | None = None, show: ShowsReembedding = lambda done, total: None) -> ReembeddingCounts:
        """Embed up to `limit` of them. Raises `EmbeddingFailed`; what was done before stays."""
        episodes, topics = self.waiting()
        total = episodes + topics
        room = total if limit is None else min(limit, total)
        done = [0, 0]
        for kind, bring in ((1, self._topics), (0, self._episodes)):  # episodes are found by the other model meanwhile
            for workspace in self._core.store.workspaces() if room else ():
                after = ""
                while (size := min(BATCH, room - sum(done))) > 0:
                    count, after = bring(workspace, after, size)
                    done[kind] += count
                    show(sum(done), total)
                    if not after:
                        break
        return ReembeddingCounts(episodes=done[0], topics=done[1], waiting=max(0, total - sum(done)))

    def _episodes(self, workspace: str, after: str, limit: int) -> tuple[int, str]:
        """Embed one batch of episodes. Returns their number and the last id read, which is empty at the end."""
        model = self._core.embedder.name
        with self._core.store.read() as tx:
            goals = dict(tx.episodes.without_vector(workspace, model, after=after, limit=limit))
        vectors = self._embedded(list(goals.values()))
        with self._core.store.write() as tx:
            # Read again, as one may have been erased or given another question meanwhile.
            now = tx.episodes.get_many(workspace, goals)
            same = [(now[id_], vector) for id_, vector in zip(goals, vectors, strict=True) if id_ in now]
            same = [(episode, vector) for episode, vector in same if episode.goal == goals[episode.id]]
            for episode, vector in same:
                tx.episodes.put_vector(workspace, episode.id, model, vector)
                update_index(tx, episode)
        return len(same), max(goals, default="")

    def _topics(self, workspace: str, after: str, limit: int) -> tuple[int, str]:
        """Embed one batch of topics. Returns their number and the last id read, which is empty at the end."""
        model = self._core.embedder.name
        with self._core.store.read() as tx:
            texts = self._texts(tx, workspace, tx.topics.without_vector(workspace, model, after=after, limit=limit))
        vectors = self._embedded(list(texts.values()))
        with self._core.store.write() as tx:
            now = self._texts(tx, workspace, list(texts))
            same = [(id_, vector) for id_, vector in zip(texts, vectors, strict=True) if now.get(id_) == texts[id_]]
            for topic_id, vector in same:
                tx.topics.put_vector(workspace, topic_id, model, vector)
        return len(same), max(texts, default="")

    def _embedded(self, texts: Sequence[str]) -> list[Vector]:
        return self._core.embedder.embed(texts) if texts else []

    @staticmethod
    def _texts(tx: Transaction, workspace: str, topic_ids: Sequence[str]) -> dict[str, str]:
        found = tx.topics.get_many(workspace, topic_ids)
        return {id_: embedded_text(topic.title, topic.summary) for id_, topic in sorted(found.items())}


def embedded_text(title: str | None, summary: str | None) -> str:
    """The text of a topic that is embedded."""
    return "\n".join(part for part in (title, summary) if part)

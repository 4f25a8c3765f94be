"""The embedders of a memory: the one in use, whose vectors are looked at, and those that were used before.

Whoever chooses another embedder has, for as long as `Reembedding` takes, a memory of two models, whose vectors are
never compared. So a goal is embedded by each of them, and what another model finds is then compared as it will be
later: by the vector that the embedder in use makes of it.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock

from memory.errors import EmbeddingFailed
from memory.model import Vector
from memory.ports import Clock, Embedder, Neighbour, Neighbourhood, Store, Transaction
from memory.rules.retrieval.likeness import unit_cosine

log = logging.getLogger(__name__)

EmbedderNamed = Callable[[str], Embedder | None]
"""The embedder that stored vectors name as theirs; None where it cannot be had here. Loads nothing yet."""

LOOK_EVERY = timedelta(minutes=10)
"""How often it is looked whether there are embeddings of other models: one short read."""

_UNTIL_IT_WORKS = "Until it works, lessons are found by their words; a job catches up then."
_UNTIL_EMBEDDED_ANEW = "Until `goodbot reembed` has embedded it anew, what it embedded is not found by meaning."


class CheckedEmbedder:
    """`embedder`, with every vector looked at before anybody compares or stores it.

    `until` tells whoever reads the log what it means that it fails.
    """

    def __init__(self, embedder: Embedder, *, until: str = _UNTIL_IT_WORKS) -> None:
        self._embedder = embedder
        self._until = until
        self.failure = ""
        """Why the last call failed; empty if it did not."""

    @property
    def name(self) -> str:
        """Name of the wrapped embedder."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Dimension of the wrapped embedder."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text. Raises `EmbeddingFailed` for too few or too many, and for one that cannot be used.

        The log is told when it begins to fail, and when it works again.
        """
        try:
            vectors = self._checked(texts)
        except EmbeddingFailed as error:
            if not self.failure:
                log.warning("%s %s", error, self._until)
            self.failure = str(error)
            raise
        if self.failure:
            log.warning("the embedder %s works again", self.name)
            self.failure = ""
        return vectors

    def _checked(self, texts: Sequence[str]) -> list[Vector]:
        import numpy as np  # only where something is embedded

        vectors = self._embedder.embed(texts)
        usable = [np.ndim(each) == 1 and np.size(each) > 0 and bool(np.isfinite(each).all()) for each in vectors]
        if len(usable) != len(texts) or not all(usable):
            raise EmbeddingFailed(
                f"The embedder {self.name} gave {sum(usable)} usable vector(s) for {len(texts)} text(s): each must be "
                "one row of finite numbers. Check the model, or choose another embedder."
            )
        return vectors


class OtherEmbedders:
    """The embedders of other models that have embeddings in a workspace. Safe for threads."""

    def __init__(self, store: Store, embedder: Embedder, clock: Clock, named: EmbedderNamed) -> None:
        self._store, self._embedder, self._clock, self._named = store, embedder, clock, named
        self._lock = Lock()
        self._known: dict[str, Embedder | None] = {}
        self._used: dict[str, tuple[datetime, tuple[str, ...]]] = {}

    def embedded(self, workspace: str, text: str) -> Mapping[str, Vector]:
        """The text's embedding by each of them that works, by model; nearly always there is none.

        To be called outside a transaction: it may read, and load a model.
        """
        found: dict[str, Vector] = {}
        for model in self._models(workspace):
            embedder = self._of(model)
            if embedder is not None:
                with suppress(EmbeddingFailed):  # which the log was told
                    found[model] = embedder.embed([text])[0]
        return found

    def _models(self, workspace: str) -> tuple[str, ...]:
        now = self._clock()
        looked_at, models = self._used.get(workspace, (None, ()))
        if looked_at is None or now - looked_at >= LOOK_EVERY:
            with self._store.read() as tx:
                models = tuple(model for model in tx.episodes.models(workspace) if model != self._embedder.name)
            with self._lock:
                self._used[workspace] = now, models
                # No model is kept loaded of which there are no embeddings any more.
                in_use = {model for _, models in self._used.values() for model in models}
                self._known = {model: each for model, each in self._known.items() if model in in_use}
        return models

    def _of(self, model: str) -> Embedder | None:
        with self._lock:
            if model not in self._known:
                made = self._named(model)
                self._known[model] = None if made is None else CheckedEmbedder(made, until=_UNTIL_EMBEDDED_ANEW)
            return self._known[model]

    def nearest(
        self,
        tx: Transaction,
        workspace: str,
        partitions: Sequence[str],
        goals: Mapping[str, Vector],
        goal: Vector,
        k: int,
        min_cosine: float,
        *,
        gave_up: bool = True,
    ) -> Neighbourhood:
        """What the other models find, as near as it is by the embedder in use, best first: at most `k`.

        `goals` is what `embedded` made of the goal, `goal` the same by the embedder in use, `gave_up` as in
        `EpisodeTable.nearest`. Nothing where that fails.
        """
        found: dict[str, Neighbour] = {}
        searched = 0
        for model, vector in goals.items():
            near = tx.episodes.nearest(workspace, partitions, model, vector, k=k, min_cosine=-1.0, gave_up=gave_up)
            searched += near.searched
            found |= {hit.episode_id: hit for hit in near.hits}
        stored = tx.episodes.get_many(workspace, found)
        try:
            vectors = self._embedder.embed([each.goal for each in stored.values()]) if stored else []
        except EmbeddingFailed:  # which the log was told
            return Neighbourhood(searched=searched, hits=())
        hits = [
            found[episode_id]._replace(cosine=unit_cosine(goal, vector), vector=vector)
            for episode_id, vector in zip(stored, vectors, strict=True)
        ]
        hits.sort(key=lambda hit: (hit.cosine, hit.episode_id), reverse=True)
        return Neighbourhood(searched=searched, hits=tuple(hit for hit in hits[:k] if hit.cosine >= min_cosine))


def merged(one: Neighbourhood, other: Neighbourhood, k: int) -> Neighbourhood:
    """The `k` nearest of both."""
    hits = sorted([*one.hits, *other.hits], key=lambda hit: (hit.cosine, hit.episode_id), reverse=True)
    return replace(one, searched=one.searched + other.searched, hits=tuple(hits[:k]))

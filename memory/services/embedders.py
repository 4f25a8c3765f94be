"""The embedders of a memory: the one in use, whose vectors are looked at, and those that were used before.

Whoever chooses another embedder has, for as long as `Reembedding` takes, a memory of two models, whose vectors are
never compared. So a goal is embedded by each of them, and what another model finds is then compared as it will be
later: by the vector that the embedder in use makes of it.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from statistics import fmean
from threading import Lock

from memory.errors import EmbeddingFailed
from memory.model import Vector
from memory.model.evidence import ActionText
from memory.ports import ActionFit, Clock, Embedder, Neighbour, Neighbourhood, Store, Transaction
from memory.rules.retrieval.likeness import unit_cosine

log = logging.getLogger(__name__)

EmbedderNamed = Callable[[str], Embedder | None]
"""The embedder that stored vectors name as theirs; None where it cannot be had here. Loads nothing yet."""

LOOK_EVERY = timedelta(minutes=10)
"""How often it is looked whether there are embeddings of other models: one short read."""

_NO_LESSON = ActionFit(0.0, 0.0)
_TOO_CLOSE = 0.05
"""What is near and what is far tell nothing of a model's scale where they are no farther apart."""

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
        self._described = lru_cache(maxsize=8)(self._described_by)

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
        beside: Sequence[str] = (),
        actions: Sequence[ActionText] = (),
        gave_up: bool = True,
    ) -> Neighbourhood:
        """What the other models find, as near as it is by the embedder in use, best first: at most `k`.

        `goals` is what `embedded` made of the goal, `goal` the same by the embedder in use, the rest as in
        `EpisodeTable.nearest`. Nothing where an embedder fails. What approves actions is too much to be embedded at
        once: how like the goal that is by the other model is told in the scale of the embedder in use (`_Scales`).
        """
        names, searched = [action.name for action in actions], 0
        hits: list[Neighbour] = []
        fits: dict[str, ActionFit] = {}
        for model, vector in goals.items():
            near = tx.episodes.nearest(
                workspace, partitions, model, vector, k, -1.0, beside=beside, actions=names, gave_up=gave_up
            )
            searched += near.searched
            with suppress(EmbeddingFailed):  # which the log was told
                now = self._as_now(tx, workspace, goal, near.hits)
                if near.fits:
                    scales = _Scales(*self._far(model, vector, goal, actions), *_means(near.hits, now))
                    fits = _pooled(fits, {name: scales.as_now(fit) for name, fit in near.fits.items()})
                hits += now
        hits.sort(key=lambda hit: (hit.cosine, hit.episode_id), reverse=True)
        return Neighbourhood.of(searched, [hit for hit in hits[:k] if hit.cosine >= min_cosine], fits)

    def _as_now(self, tx: Transaction, workspace: str, goal: Vector, hits: Sequence[Neighbour]) -> list[Neighbour]:
        """Those that exist as the embedder in use sees them. Raises `EmbeddingFailed`."""
        stored = tx.episodes.get_many(workspace, [hit.episode_id for hit in hits])
        there = [hit for hit in hits if hit.episode_id in stored]
        vectors = self._embedder.embed([stored[hit.episode_id].goal for hit in there]) if there else []
        return [
            hit._replace(cosine=unit_cosine(goal, vector), vector=vector)
            for hit, vector in zip(there, vectors, strict=True)
        ]

    def _far(self, model: str, other: Vector, goal: Vector, actions: Sequence[ActionText]) -> tuple[float, float]:
        """How like what the actions do a goal is on the average, by another model and by the one in use.

        `other` and `goal` are its embeddings. Raises `EmbeddingFailed`.
        """
        texts = tuple(action.text for action in actions)
        by_other, own = self._described(model, texts), self._described(self._embedder.name, texts)
        return fmean(unit_cosine(other, each) for each in by_other), fmean(unit_cosine(goal, each) for each in own)

    def _described_by(self, model: str, texts: Sequence[str]) -> Sequence[Vector]:
        embedder = self._embedder if model == self._embedder.name else self._of(model)
        if embedder is None:
            raise EmbeddingFailed(f"The embedder {model} is no longer here.")
        return embedder.embed(texts)


@dataclass(frozen=True, slots=True)
class _Scales:
    """How like each other texts are by another model and by the one in use, on the average: what is far, what is near.

    Models differ in both: unrelated texts have a cosine of 0.1 by one and of 0.7 by another.
    """

    other_far: float
    far: float
    other_near: float
    near: float

    def as_now(self, fit: ActionFit) -> ActionFit:
        """What the other model says, on the line through both."""
        reach = self.other_near - self.other_far
        slope = (self.near - self.far) / reach if reach > _TOO_CLOSE else 1.0
        return fit._replace(cosine=self.far + slope * (fit.cosine - self.other_far))


def _means(hits: Sequence[Neighbour], now: Sequence[Neighbour]) -> tuple[float, float]:
    """The mean cosine of what was found, as it was found and as it is now."""
    was = {hit.episode_id: hit.cosine for hit in hits}
    return (fmean(was[hit.episode_id] for hit in now), fmean(hit.cosine for hit in now)) if now else (0.0, 0.0)


def merged(one: Neighbourhood, other: Neighbourhood, k: int) -> Neighbourhood:
    """The `k` nearest of both, and what approves actions in both."""
    hits = sorted([*one.hits, *other.hits], key=lambda hit: (hit.cosine, hit.episode_id), reverse=True)
    fits = _pooled(one.fits, other.fits)
    return Neighbourhood.of(one.searched + other.searched, hits[:k], fits)


def _pooled(one: Mapping[str, ActionFit], other: Mapping[str, ActionFit]) -> dict[str, ActionFit]:
    """How like the goal those are that approve each action, all of both together."""
    pooled = dict(one)
    for name, (lessons, cosine) in other.items():
        before, mean = pooled.get(name, _NO_LESSON)
        together = before + lessons
        pooled[name] = ActionFit(together, (before * mean + lessons * cosine) / together)
    return pooled

"""The embedders of a memory: the current one, with its vectors checked, and those that were used before.

After a change of embedder, and until `Reembedding` is done, vectors of two models are stored, which cannot be compared.
A goal is then embedded by each model and searched among its vectors. What another model finds is embedded by the
current one too, so that all results are compared by the same model.
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
from memory.rules.retrieval.similarity import unit_cosine

log = logging.getLogger(__name__)

EmbedderNamed = Callable[[str], Embedder | None]
"""Returns the embedder with a given name; None where it is not available. Does not load the model yet."""

LOOK_EVERY = timedelta(minutes=10)
"""How often to check whether embeddings of other models are stored."""

_NO_LESSON = ActionFit(0.0, 0.0)
_TOO_CLOSE = 0.05
"""The smallest distance between near and far from which the scale of a model is inferred."""
_ROUNDING, _LITTLE = 0.01, 1e-4
"""How far the length of a vector may be from 1, for models that compute with few digits, and without being mended."""

_UNTIL_IT_WORKS = "Until it works, lessons are found by their words; a job catches up then."
_UNTIL_EMBEDDED_ANEW = "Until `goodbot reembed` has embedded it anew, what it embedded is not found by meaning."


class CheckedEmbedder:
    """Wraps an embedder and checks every vector that it returns.

    `until` says in the log what a failure means for users.
    """

    def __init__(self, embedder: Embedder, *, until: str = _UNTIL_IT_WORKS) -> None:
        self._embedder = embedder
        self._until = until
        self.failure = ""
        """The error of the last call; empty if it succeeded."""

    @property
    def name(self) -> str:
        """Name of the wrapped embedder."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Dimension of the wrapped embedder."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text. Raises `EmbeddingFailed` if it fails, for a wrong number of vectors, or an unusable one.

        Logs when the embedder begins to fail, with the traceback of an error that it should not raise, and when it
        works again.
        """
        try:
            vectors = self._checked(texts)
        except EmbeddingFailed as error:
            self._note(error)
            raise
        except Exception as error:
            what = f"The embedder {self.name} failed: {type(error).__name__}: {error}."
            self._note(failed := EmbeddingFailed(what), error)
            raise failed from error
        if self.failure:
            log.warning("the embedder %s works again", self.name)
            self.failure = ""
        return vectors

    def _note(self, failure: EmbeddingFailed, unexpected: Exception | None = None) -> None:
        if not self.failure:
            log.warning("%s %s", failure, self._until, exc_info=unexpected)
        self.failure = str(failure)

    def _checked(self, texts: Sequence[str]) -> list[Vector]:
        vectors = list(self._embedder.embed(texts))
        usable = [unit for each in vectors if (unit := _of_length_one(each)) is not None]
        if len(vectors) != len(texts) or len(usable) < len(vectors):
            raise EmbeddingFailed(
                f"The embedder {self.name} gave {len(usable)} usable vector(s) for {len(texts)} text(s): each must "
                "be one row of finite numbers, of length 1 or all 0. Divide each by its length, or choose "
                "another embedder."
            )
        return usable


def _of_length_one(vector: Vector) -> Vector | None:
    """The vector without a rounding error of its length, as cosines are computed without lengths, or all 0.

    None for what is no row of numbers, or of another length.
    """
    import numpy as np  # imported late: not every process embeds

    if np.ndim(vector) != 1 or not np.size(vector):
        return None
    with np.errstate(over="ignore"):
        length = float(np.linalg.norm(np.asarray(vector, np.float32)))
    if length == 0.0 or abs(length - 1.0) <= _LITTLE:
        return vector
    return np.asarray(vector, np.float32) / np.float32(length) if abs(length - 1.0) <= _ROUNDING else None


class OtherEmbedders:
    """The embedders, other than the current one, by which embeddings are stored in a workspace. Thread-safe."""

    def __init__(self, store: Store, embedder: Embedder, clock: Clock, named: EmbedderNamed) -> None:
        self._store, self._embedder, self._clock, self._named = store, embedder, clock, named
        self._lock = Lock()
        self._known: dict[str, Embedder | None] = {}
        self._used: dict[str, tuple[datetime, tuple[str, ...]]] = {}
        self._described = lru_cache(maxsize=8)(self._described_by)

    def embedded(self, workspace: str, text: str) -> Mapping[str, Vector]:
        """The text's embeddings by these models, by model name; nearly always empty. Failing models are left out.

        Call it outside a transaction: it may read from the store, and load a model.
        """
        found: dict[str, Vector] = {}
        for model in self._models(workspace):
            embedder = self._of(model)
            if embedder is not None:
                with suppress(EmbeddingFailed):  # logged by CheckedEmbedder
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
                # Models without embeddings are unloaded.
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
        proposals: Sequence[str] = (),
        actions: Sequence[ActionText] = (),
        include_gave_up: bool = True,
    ) -> Neighbourhood:
        """At most `k` episodes that the other models find, best first, with the similarity by the current embedder.

        `goals` are the goal's embeddings by `embedded`, `goal` the one by the current embedder, the rest as in
        `EpisodeTable.nearest`. Empty where an embedder fails. The approvals of actions are too many to embed here:
        their similarity by the other model is converted to the scale of the current one (`_Scales`).
        """
        names, searched = [action.name for action in actions], 0
        hits: list[Neighbour] = []
        fits: dict[str, ActionFit] = {}
        for model, vector in goals.items():
            found = tx.episodes.nearest(
                workspace,
                partitions,
                model,
                vector,
                k,
                -1.0,
                proposals=proposals,
                actions=names,
                include_gave_up=include_gave_up,
            )
            searched += found.searched
            with suppress(EmbeddingFailed):  # which the log was told
                now = self._rescored(tx, workspace, goal, found.hits)
                if found.fits:
                    scales = _Scales(*self._far(model, vector, goal, actions), *_means(found.hits, now))
                    fits = _pooled(fits, {name: scales.converted(fit) for name, fit in found.fits.items()})
                hits += now
        hits.sort(key=lambda hit: (hit.cosine, hit.episode_id), reverse=True)
        return Neighbourhood.of(searched, [hit for hit in hits[:k] if hit.cosine >= min_cosine], fits)

    def _rescored(self, tx: Transaction, workspace: str, goal: Vector, hits: Sequence[Neighbour]) -> list[Neighbour]:
        """The hits that still exist, with their similarity by the current embedder. Raises `EmbeddingFailed`."""
        stored = tx.episodes.get_many(workspace, [hit.episode_id for hit in hits])
        there = [hit for hit in hits if hit.episode_id in stored]
        vectors = self._embedder.embed([stored[hit.episode_id].goal for hit in there]) if there else []
        return [
            hit._replace(cosine=unit_cosine(goal, vector), vector=vector)
            for hit, vector in zip(there, vectors, strict=True)
        ]

    def _far(self, model: str, other: Vector, goal: Vector, actions: Sequence[ActionText]) -> tuple[float, float]:
        """The mean similarity between a goal and the actions' descriptions, by another model and by the current one.

        `other` and `goal` are the goal's embeddings by them. Raises `EmbeddingFailed`.
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
    """Maps similarities of another model to those of the current one, by the mean of unrelated and of near texts.

    Models differ in both: unrelated texts may have a cosine of 0.1 by one and of 0.7 by another.
    """

    other_far: float
    far: float
    other_near: float
    near: float

    def converted(self, fit: ActionFit) -> ActionFit:
        """The similarities of the other model, converted linearly."""
        reach = self.other_near - self.other_far
        slope = (self.near - self.far) / reach if reach > _TOO_CLOSE else 1.0
        return fit._replace(cosine=self.far + slope * (fit.cosine - self.other_far))


def _means(hits: Sequence[Neighbour], now: Sequence[Neighbour]) -> tuple[float, float]:
    """The mean similarity of the hits, by the other model and by the current one."""
    was = {hit.episode_id: hit.cosine for hit in hits}
    return (fmean(was[hit.episode_id] for hit in now), fmean(hit.cosine for hit in now)) if now else (0.0, 0.0)


def merged(one: Neighbourhood, other: Neighbourhood, k: int) -> Neighbourhood:
    """Merge two neighbourhoods: the `k` nearest of both, and the approvals of actions of both."""
    hits = sorted([*one.hits, *other.hits], key=lambda hit: (hit.cosine, hit.episode_id), reverse=True)
    fits = _pooled(one.fits, other.fits)
    return Neighbourhood.of(one.searched + other.searched, hits[:k], fits)


def _pooled(one: Mapping[str, ActionFit], other: Mapping[str, ActionFit]) -> dict[str, ActionFit]:
    """The similarities of each action's approvals, of both together."""
    pooled = dict(one)
    for name, (lessons, cosine) in other.items():
        before, mean = pooled.get(name, _NO_LESSON)
        together = before + lessons
        pooled[name] = ActionFit(together, (before * mean + lessons * cosine) / together)
    return pooled

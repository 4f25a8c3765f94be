"""Cosines between texts. Nothing is cached here, as the embedder caches."""

from collections.abc import Callable, Sequence
from math import sqrt

from memory.model import Vector
from memory.rules.retrieval.similarity import COMPARED_CHARACTERS, unit_cosine

Embed = Callable[[Sequence[str]], list[Vector]]
"""Embeds texts, as `memory.ports.Embedder.embed`: a unit vector for each. Blocking. Raises `EmbeddingFailed`."""


class Similarity:
    """Compares texts by meaning. Blocking; thread-safe."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """The unit vectors of the texts, by one call of the embedder."""
        return self._embed([text[:COMPARED_CHARACTERS] for text in texts])

    def between(self, text: str, others: Sequence[str]) -> list[float]:
        """The cosine of `text` with each of `others`, -1..1, by one call of the embedder."""
        if not others:
            return []
        own, *vectors = self.vectors([text, *others])
        return [unit_cosine(own, vector) for vector in vectors]

    def to_sum(self, text: str, others: Sequence[str]) -> float:
        """The cosine of `text` with the sum of `others`: how completely they have its meaning. 0 without others."""
        own, *vectors = self.vectors([text, *others])
        length = sqrt(sum(float(one @ other) for one in vectors for other in vectors))
        return sum(unit_cosine(own, vector) for vector in vectors) / length if length > 0 else 0.0

    def best(self, text: str, others: Sequence[str]) -> float:
        """The greatest cosine of `text` with `others`; 0 without others."""
        return max(self.between(text, others), default=0.0)

"""Cosines between texts. The embedder caches the latest texts, so nothing is cached here."""

from collections.abc import Callable, Sequence
from math import sqrt

from memory.model import Vector
from memory.rules.retrieval.likeness import COMPARED_CHARACTERS, unit_cosine

Embed = Callable[[Sequence[str]], list[Vector]]
"""`memory.ports.Embedder.embed`: blocking, one unit vector per text. Raises `EmbeddingFailed`."""


class Similarity:
    """Compares texts by meaning. Blocking; safe to use from several threads."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """The embeddings of the texts, of unit length, with one call of the embedder."""
        return self._embed([text[:COMPARED_CHARACTERS] for text in texts])

    def between(self, text: str, others: Sequence[str]) -> list[float]:
        """Cosine of `text` with each of `others`, -1..1, with one call of the embedder."""
        if not others:
            return []
        own, *vectors = self.vectors([text, *others])
        return [unit_cosine(own, vector) for vector in vectors]

    def to_sum(self, text: str, others: Sequence[str]) -> float:
        """Cosine of `text` with the sum of `others`: how far these are all that it says; 0 without others."""
        own, *vectors = self.vectors([text, *others])
        length = sqrt(sum(float(one @ other) for one in vectors for other in vectors))
        return sum(unit_cosine(own, vector) for vector in vectors) / length if length > 0 else 0.0

    def best(self, text: str, others: Sequence[str]) -> float:
        """The greatest of the cosines; 0 without others."""
        return max(self.between(text, others), default=0.0)

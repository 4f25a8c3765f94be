"""Similarity of a text to others, by an embedder that does not block."""

from collections.abc import Awaitable, Callable, Sequence

from memory.model import Vector
from memory.rules.retrieval.similarity import COMPARED_CHARACTERS, unit_cosine

Embed = Callable[[Sequence[str]], Awaitable[Sequence[Vector]]]
"""Embeds texts: one unit vector each, in order. Raises `memory.errors.EmbeddingFailed`."""


async def rank(embed: Embed, query: str, texts: Sequence[str]) -> list[float]:
    """The cosine of each text with the query, -1..1."""
    if not texts:
        return []
    first, *others = await embed([text[:COMPARED_CHARACTERS] for text in (query, *texts)])
    return [unit_cosine(first, other) for other in others]

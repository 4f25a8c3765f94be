"""Which topics a query is about: the seed's rules of candidate selection, over what the asker may see."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memory.services.topics.query import QueryRequest, Stage

if TYPE_CHECKING:
    from memory.model import Vector
    from memory.services.topics.source import TopicSource


def choose(
    sources: "Sequence[TopicSource]", vector: "Vector | None", request: QueryRequest, *, min_similarity: float
) -> list[tuple[str, float | None]]:
    """(topic id, similarity) in the order of the answer.

    With the semantic stage: the nearest `top_k`, of those the ones on the allow-list (the seed applies it afterwards).
    If there is nothing to compare with, the allow-list itself. Without it: the allow-list in its order, else the first
    topics that have an embedding. Names that stand for the same topic count once.
    """
    listed = None if request.topic_ids is None else _listed(sources, request.topic_ids)
    if Stage.SEMANTIC not in request.stages:
        first = [topic_id for source in sources for topic_id in source.in_order()] if listed is None else listed
        return [(topic_id, None) for topic_id in first[: request.top_k]]
    hits = [] if vector is None else [hit for source in sources for hit in source.nearest(vector, request.top_k)]
    if not hits:
        return [(topic_id, None) for topic_id in (listed or [])[: request.top_k]]
    hits.sort(key=lambda hit: hit[1], reverse=True)
    return [
        (topic_id, cosine)
        for topic_id, cosine in hits[: request.top_k]
        if cosine >= min_similarity and (listed is None or topic_id in listed)
    ]


def _listed(sources: "Sequence[TopicSource]", topic_ids: Sequence[str]) -> list[str]:
    known: dict[str, str] = {}
    for source in sources:
        known = {**source.resolve(topic_ids), **known}
    return list(dict.fromkeys(known[each] for each in topic_ids if each in known))


def ranked(vectors: "Mapping[str, Vector]", query: "Vector") -> list[tuple[str, float]]:
    """Every topic with its exact cosine, in double precision, best first; equal ones stay in order of arrival.

    A vector without length, or with a part that is no finite number, is like nothing: 0.
    """
    import numpy as np  # only where something is compared

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
    """Numbers as a vector, without losing a digit."""
    import numpy as np

    vector: Vector = np.asarray(numbers, np.float64)
    return vector

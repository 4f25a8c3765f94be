"""Whether two goals are one and the same."""

from collections.abc import Mapping

from memory.model import Episode, Vector
from memory.rules.consolidation import same_goal
from memory.rules.retrieval.cosine import unit_cosine

NEAR = 0.95
"""Cosine of two goals from which they are one goal in other words."""


def is_same_goal(one: Episode, other: Episode, vectors: Mapping[str, tuple[str, Vector]]) -> bool:
    """Whether the goals of two episodes are one: the same words, or near in meaning by embeddings of one model."""
    if same_goal(one.goal) == same_goal(other.goal):
        return True
    if one.id not in vectors or other.id not in vectors or vectors[one.id][0] != vectors[other.id][0]:
        return False
    return unit_cosine(vectors[one.id][1], vectors[other.id][1]) >= NEAR

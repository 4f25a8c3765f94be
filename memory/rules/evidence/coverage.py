"""Chooses which questions to answer first, so that few lessons answer as many questions as possible."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory.model import Vector
from memory.rules.evidence.weighing import as_matrix

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix

SETTLED_FROM = 0.7
"""The least cosine at which a teacher's lesson for one question answers another one."""


def greedy_cover(goals: Sequence[Vector], limit: int) -> list[tuple[int, list[int]]]:
    """Greedy set cover: the question whose answer settles most questions, then most of the rest, and so on.

    `goals` are embeddings of unit length. Returns at most `limit` pairs of indexes: (question, the questions it settles
    that none before did, itself first). Ties: the earlier question. Greedy covers at least 1 - 1/e of what the best
    choice covers (Nemhauser et al. 1978).
    """
    import numpy as np

    if not goals:
        return []
    matrix: Matrix = as_matrix(goals)
    settles = matrix @ matrix.T >= SETTLED_FROM
    np.fill_diagonal(settles, True)
    is_open = np.ones(len(goals), bool)
    chosen: list[tuple[int, list[int]]] = []
    while is_open.any() and len(chosen) < limit:
        counts = np.where(is_open, (settles & is_open).sum(axis=1), 0)
        best = int(counts.argmax())
        covered = [best, *(n for n in np.flatnonzero(settles[best] & is_open).tolist() if n != best)]
        is_open[covered] = False
        chosen.append((best, covered))
    return chosen

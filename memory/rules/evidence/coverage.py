"""Which questions to answer first, so that few lessons settle as many of all questions as possible."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory.model import Vector
from memory.rules.evidence.weighing import rows

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix

SETTLED_FROM = 0.7
"""Cosine from which a lesson that a teacher gave for one question answers another one."""


def greedy_cover(goals: Sequence[Vector], limit: int) -> list[tuple[int, list[int]]]:
    """Greedy set cover: the question whose answer settles most, then most of the rest, and so on.

    `goals` are embeddings of unit length. Returns (question, every question it settles beyond those before, itself
    first), at most `limit`. Greedy is within 1 - 1/e of the best choice (Nemhauser et al. 1978). Ties: the earlier one.
    """
    import numpy as np

    if not goals:
        return []
    matrix: Matrix = rows(goals)
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

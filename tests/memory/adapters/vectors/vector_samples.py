"""Vectors by number, for processes of their own too: nothing of the test framework is imported with them."""

import numpy as np

from memory.model import Vector

DIMENSION = 16


def vector_of(number: int, dimension: int = DIMENSION) -> Vector:
    found: Vector = np.random.default_rng(number).standard_normal(dimension).astype(np.float32)
    return found / np.linalg.norm(found)

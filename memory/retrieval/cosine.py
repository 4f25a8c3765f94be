"""How alike two embeddings are, exactly: computed in double precision, whatever they were stored in."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.model import Vector


def cosine(left: "Sequence[float] | Vector | None", right: "Sequence[float] | Vector | None") -> float:
    """Cosine of the angle between two vectors, -1..1, rounded to 12 digits so that half is exactly half.

    0 where one is missing or zero, or where their dimensions differ: never an error (settled ambiguity A6).
    """
    if left is None or right is None or len(left) != len(right):
        return 0.0
    one, other = [float(number) for number in left], [float(number) for number in right]
    lengths = math.sqrt(_dot(one, one)) * math.sqrt(_dot(other, other))
    return max(-1.0, min(1.0, round(_dot(one, other) / lengths, 12))) if lengths > 0 else 0.0


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))

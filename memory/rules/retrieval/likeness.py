"""How alike two embeddings are, exactly, whatever they were stored in; and how alike two texts are by their words."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory.rules.feedback import content_words

if TYPE_CHECKING:
    from memory.model import Vector


def cosine(left: "Sequence[float] | Vector | None", right: "Sequence[float] | Vector | None") -> float:
    """Cosine of the angle between two vectors, -1..1, rounded to 12 digits so that half is exactly half.

    0 where one is missing or zero, where their dimensions differ, and where a number is not
    finite or the product too large for one: never an error, and never a match.
    """
    if left is None or right is None or len(left) != len(right):
        return 0.0
    one, other = [float(number) for number in left], [float(number) for number in right]
    lengths = math.sqrt(_dot(one, one)) * math.sqrt(_dot(other, other))
    return _bounded(round(_dot(one, other) / lengths, 12)) if 0 < lengths < math.inf else 0.0


def unit_cosine(left: "Vector", right: "Vector") -> float:
    """Cosine of two vectors of unit length, -1..1; 0 where their dimensions differ or a number is not finite."""
    return _bounded(float(left @ right)) if len(left) == len(right) else 0.0


def _bounded(cosine: float) -> float:
    return max(-1.0, min(1.0, cosine)) if math.isfinite(cosine) else 0.0


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def likeness(left: str, right: str) -> float:
    """Dice coefficient of the words that carry meaning, 0..1; 0 when either side has none."""
    one, other = content_words(left), content_words(right)
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0

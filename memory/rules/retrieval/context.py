"""How much two situations have in common: intersection over union of their context elements.

An element is a normalised string such as `channel:C1` or `tool:clock`. The seed weighs all elements alike; a chat bot
does not (another thread matters less than another channel), so elements may be weighted by their kind, the part before
the first colon. Kinds without a weight count 1.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet


def overlap(
    left: AbstractSet[str],
    right: AbstractSet[str],
    *,
    weights: Mapping[str, float] | None = None,
    both_empty: float = 1.0,
) -> float:
    """Weighted intersection over union, 0..1.

    Two empty sides have nothing against each other: `both_empty`. Exactly one empty side shares nothing: 0.
    (Settled ambiguity A3 of the retrieval seed.)
    """
    if not left and not right:
        return both_empty

    def size(elements: AbstractSet[str]) -> float:
        if not weights:
            return float(len(elements))
        return sum(weights.get(element.partition(":")[0], 1.0) for element in sorted(elements))

    union = size(left | right)
    return size(left & right) / union if union else both_empty

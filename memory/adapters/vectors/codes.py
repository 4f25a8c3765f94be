"""Vectors in four bits a dimension, which tell a cosine to about 0.006 where a row takes a quarter of its bytes.

Each number is the nearest of fifteen steps, as wide as the row's largest number needs. What that leaves out of a row is
about the same in all dimensions, and nothing to do with the query: of a cosine it has the standard deviation
step / sqrt(12), which `Codes.cosines` tells with it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MIDDLE, _MOST = 8, 7.49
"""The code of 0, and how many steps a row's largest number is away from it."""
_SLACK = 3.0 / 12**0.5
"""By how many steps a cosine may well be above what its code says: three standard deviations."""
_DAMAGED = 3.0
"""By how many times as much it is not, unless the row or its code is damaged."""
_AT_ONCE = 1024
"""How many rows are looked at together: what is made of them stays in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Codes:
    """Those of some rows."""

    packed: "NDArray[np.uint8]"
    """Shape (rows, half of the dimensions): the first half in the low bits, the second in the high ones."""
    steps: "NDArray[np.float32]"
    """Of each row."""

    def cosines(
        self, places: "NDArray[np.intp]", query: "NDArray[np.float32]"
    ) -> "tuple[NDArray[np.float32], NDArray[np.float32]]":
        """About those of the rows at these places with a query, of shape (1, dimension); how far above they may be."""
        half = self.packed.shape[1]
        low, high = query[0, :half], query[0, half:]
        found = np.empty(len(places), np.float32)
        for start in range(0, len(places), _AT_ONCE):
            part = np.take(self.packed, places[start : start + _AT_ONCE], axis=0)
            some = found[start : start + _AT_ONCE]
            np.vecdot((part & 15).astype(np.float32), low, out=some)
            some += np.vecdot((part >> 4).astype(np.float32), high)
        found -= _MIDDLE * query.sum()
        found *= self.steps[places]
        return found, self._slack(places, query)

    def are_sound(
        self,
        places: "NDArray[np.intp]",
        bounds: "NDArray[np.float32]",
        cosines: "NDArray[np.float32]",
        query: "NDArray[np.float32]",
    ) -> bool:
        """Whether what the cosines of these rows may be agrees with what they are."""
        slack = self._slack(places, query)
        return bool(np.all(np.abs(cosines - (bounds - slack)) <= _DAMAGED * slack + np.float32(1e-6)))

    def _slack(self, places: "NDArray[np.intp]", query: "NDArray[np.float32]") -> "NDArray[np.float32]":
        found: NDArray[np.float32] = self.steps[places] * np.float32(_SLACK * np.linalg.norm(query))
        return found


def packed(vectors: "NDArray[np.float32]") -> "tuple[NDArray[np.uint8], NDArray[np.float32]]":
    """The codes of vectors with an even number of dimensions, and the step of each row."""
    half = vectors.shape[1] // 2
    steps: NDArray[np.float32] = np.abs(vectors).max(axis=1, initial=0.0) / np.float32(_MOST)
    levels = vectors / np.where(steps > 0, steps, np.float32(1.0))[:, None]
    codes: NDArray[np.uint8] = (np.rint(levels, out=levels) + _MIDDLE).astype(np.uint8)
    codes[:, :half] |= codes[:, half:] << 4
    return np.ascontiguousarray(codes[:, :half]), steps

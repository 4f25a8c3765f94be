"""Vectors quantized to four bits a dimension: a quarter of the bytes of float16, with cosines exact to about 0.006.

Each number is rounded to one of fifteen steps, whose size depends on the row's largest number. The rounding errors are
about uniform and independent of the query, so a cosine has an error with the standard deviation step / sqrt(12).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MIDDLE, _MOST = 8, 7.49
"""The code of 0, and the distance in steps of a row's largest number from 0."""
_SLACK = 3.0 / 12**0.5
"""The slack of a cosine in steps: three standard deviations of its error."""
_DAMAGED = 3.0
"""An error of more than so many slacks means that the row or its code is damaged."""
_AT_ONCE = 1024
"""How many rows are processed at once, so that intermediate results stay in the CPU cache."""


@dataclass(frozen=True, slots=True)
class Codes:
    """The codes of some rows."""

    packed: "NDArray[np.uint8]"
    """Shape (rows, half of the dimensions): the first half in the low bits, the second in the high ones."""
    steps: "NDArray[np.float32]"
    """The step of each row."""

    def cosines(
        self, places: "NDArray[np.intp]", query: "NDArray[np.float32]"
    ) -> "tuple[NDArray[np.float32], NDArray[np.float32]]":
        """Approximate cosines of the rows at these places with a query of shape (1, dimension), and their slacks."""
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
        """Whether the exact cosines of these rows agree with their bounds (approximate cosine plus slack).

        False means that a row or its code is damaged.
        """
        slack = self._slack(places, query)
        return bool(np.all(np.abs(cosines - (bounds - slack)) <= _DAMAGED * slack + np.float32(1e-6)))

    def _slack(self, places: "NDArray[np.intp]", query: "NDArray[np.float32]") -> "NDArray[np.float32]":
        found: NDArray[np.float32] = self.steps[places] * np.float32(_SLACK * np.linalg.norm(query))
        return found


def packed(vectors: "NDArray[np.float32]") -> "tuple[NDArray[np.uint8], NDArray[np.float32]]":
    """The codes (`Codes.packed`) of vectors with an even number of dimensions, and the step of each row."""
    half = vectors.shape[1] // 2
    steps: NDArray[np.float32] = np.abs(vectors).max(axis=1, initial=0.0) / np.float32(_MOST)
    levels = vectors / np.where(steps > 0, steps, np.float32(1.0))[:, None]
    codes: NDArray[np.uint8] = (np.rint(levels, out=levels) + _MIDDLE).astype(np.uint8)
    codes[:, :half] |= codes[:, half:] << 4
    return np.ascontiguousarray(codes[:, :half]), steps

"""Numbers of 16 bits as numbers of 32: numpy's own conversion takes two to five times as long."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCALE = np.float32(2.0**112)
"""By which `widened` is too small."""
_EXPONENT = np.uint16(0x7C00)
"""What is set in a number that is not finite."""
_AT_ONCE = 256
"""How many rows at once need no memory that the system would have to give first."""


def widened(halves: "NDArray[np.uint16]", into: "NDArray[np.float32] | None" = None) -> "NDArray[np.float32]":
    """Finite float16 numbers, of which these are the bits, as float32 divided by `SCALE`: exact.

    The exponent is left as it is.
    """
    found = np.empty(halves.shape, np.float32) if into is None else into
    wide = found.view(np.int32)
    wide[:] = halves.view(np.int16)
    wide <<= 13
    wide &= np.int32(-0x70000001)
    return found


def finite_rows(matrix: "NDArray[np.floating]") -> "tuple[NDArray[np.float32], NDArray[np.bool_]]":
    """A float32 copy, exact for float16, and which of its rows are finite; what the others have is undefined."""
    if matrix.dtype != np.float16:
        found = np.array(matrix, np.float32)
        return found, np.logical_and.reduce(np.isfinite(found), axis=1)
    found, is_finite = np.empty(matrix.shape, np.float32), np.ones(len(matrix), np.bool_)
    for start in range(0, len(matrix), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        bits, wide = matrix[some].view(np.uint16), found[some]
        widened(bits, wide)
        wide *= SCALE
        exponents = bits & _EXPONENT
        if exponents.max(initial=0) == _EXPONENT:
            is_finite[some] = (exponents != _EXPONENT).all(axis=1)
    return found, is_finite

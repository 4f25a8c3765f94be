"""Numbers of 16 bits as numbers of 32, and back: numpy's own conversion takes two to five times as long."""

import mmap
from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCALE = np.float32(2.0**112)
"""By which `widened` is too small."""
_EXPONENT = np.uint16(0x7C00)
"""What is set in a number that is not finite."""
_AT_ONCE = 256
"""How many rows at once need no memory that the system would have to give first."""


_MAPPED, _HUGE = 1 << 16, 1 << 22
"""How many bytes are memory of their own, and in large pages where there are any, as numpy has it."""


def room(shape: tuple[int, ...], kind: "type[np.number[Any]]") -> "NDArray[Any]":
    """Memory for numbers, which the system has back once they are gone; of what is freed otherwise, C may keep much."""
    nbytes = prod(shape) * np.dtype(kind).itemsize
    if nbytes < _MAPPED:
        return np.empty(shape, kind)
    memory = mmap.mmap(-1, nbytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if nbytes >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, kind).reshape(shape)


def widened(halves: "NDArray[np.uint16]", into: "NDArray[np.float32] | None" = None) -> "NDArray[np.float32]":
    """Finite float16 numbers, of which these are the bits, as float32 divided by `SCALE`: exact.

    The exponent is left as it is.
    """
    found: NDArray[np.float32] = room(halves.shape, np.float32) if into is None else into
    wide = found.view(np.int32)
    wide[:] = halves.view(np.int16)
    wide <<= 13
    wide &= np.int32(-0x70000001)
    return found


def floats(halves: "NDArray[np.float16]", into: "NDArray[np.float32] | None" = None) -> "NDArray[np.float32]":
    """Finite numbers as float32, exact; best so many rows at once that they stay in the processor's cache."""
    found = widened(halves.view(np.uint16), into)
    found *= SCALE
    return found


def halves(numbers: "NDArray[np.float32]") -> "NDArray[np.float16]":
    """Numbers that are finite ones of 16 bits, as such."""
    found: NDArray[np.uint16] = room(numbers.shape, np.uint16)
    for start in range(0, len(numbers), _AT_ONCE):
        bits = (numbers[start : start + _AT_ONCE] / SCALE).view(np.uint32)
        signs = (bits >> np.uint32(16)) & np.uint32(0x8000)
        bits >>= np.uint32(13)
        bits &= np.uint32(0x7FFF)
        found[start : start + _AT_ONCE] = bits | signs
    return found.view(np.float16)


def finite_rows(matrix: "NDArray[np.floating]") -> "tuple[NDArray[np.float32], NDArray[np.bool_]]":
    """A float32 copy, exact for float16, and which of its rows are finite; what the others have is undefined."""
    if matrix.dtype != np.float16:
        found = np.array(matrix, np.float32)
        return found, np.logical_and.reduce(np.isfinite(found), axis=1)
    found, is_finite = room(matrix.shape, np.float32), np.ones(len(matrix), np.bool_)
    for start in range(0, len(matrix), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        bits, wide = matrix[some].view(np.uint16), found[some]
        widened(bits, wide)
        wide *= SCALE
        exponents = bits & _EXPONENT
        if exponents.max(initial=0) == _EXPONENT:
            is_finite[some] = (exponents != _EXPONENT).all(axis=1)
    return found, is_finite

"""The interface of a loaded model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 32
"""The most texts of one batch."""


class Encoder(Protocol):
    """A loaded model. Safe to share between threads."""

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row of unit length for each text, float32, shape (texts, dimension)."""

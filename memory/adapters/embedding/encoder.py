"""The interface of a loaded model, and the packaged one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 32
"""The most texts of one batch."""
PACKAGED = "packaged"
"""The choice of the model that comes with the installation."""
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of its `model.safetensors` as published (huggingface.co/sentence-transformers/all-MiniLM-L6-v2)."""


class Encoder(Protocol):
    """A loaded model. Safe to share between threads."""

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row of unit length for each text, float32, shape (texts, dimension)."""

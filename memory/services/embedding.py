"""An embedder whose vectors are checked: what is no row of finite numbers is a failure, and never stored."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory.errors import EmbeddingFailed
from memory.ports import Embedder

if TYPE_CHECKING:
    from memory.model import Vector

log = logging.getLogger(__name__)


class CheckedEmbedder:
    """`embedder`, with every vector looked at before anybody compares or stores it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.failure = ""
        """Why the last call failed; empty if it did not."""

    @property
    def name(self) -> str:
        """Name of the wrapped embedder."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Dimension of the wrapped embedder."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> "list[Vector]":
        """One vector per text. Raises `EmbeddingFailed` for too few or too many, and for one that cannot be used.

        The log is told when it begins to fail, and when it works again.
        """
        try:
            vectors = self._checked(texts)
        except EmbeddingFailed as error:
            if not self.failure:
                log.warning("%s Until it works, lessons are found by their words; a job catches up then.", error)
            self.failure = str(error)
            raise
        if self.failure:
            log.warning("the embedder %s works again", self.name)
            self.failure = ""
        return vectors

    def _checked(self, texts: Sequence[str]) -> "list[Vector]":
        import numpy as np  # only where something is embedded

        vectors = self._embedder.embed(texts)
        usable = [np.ndim(each) == 1 and np.size(each) > 0 and bool(np.isfinite(each).all()) for each in vectors]
        if len(usable) != len(texts) or not all(usable):
            raise EmbeddingFailed(
                f"The embedder {self.name} gave {sum(usable)} usable vector(s) for {len(texts)} text(s): each must be "
                "one row of finite numbers. Check the model, or choose another embedder."
            )
        return vectors

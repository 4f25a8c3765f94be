"""What every process brings: a clock, a source of ids, an embedder."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from memory.model import Vector

Clock = Callable[[], datetime]
"""The present moment, aware, in UTC."""

NewId = Callable[[], str]
"""A fresh id that sorts after every earlier one."""


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """Identity of the model; vectors of different names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order, unit length (all zero for a text without content).

        Blocking, safe to call from several threads. Raises `EmbeddingFailed`.
        """
        ...

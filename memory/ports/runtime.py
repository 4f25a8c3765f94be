"""What every process brings: a clock, a source of ids, an embedder, a finder of secrets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """One find: `text[start:end]` must not be kept."""

    start: int
    end: int
    kind: str
    """What it is, for people: `GitHub token`."""


class SecretFinder(Protocol):
    """Recognises secrets by their form. Needs no network and never says what it found."""

    def find(self, text: str) -> Sequence[Secret]:
        """The secrets of a text in any order; they may overlap. Safe to call from several threads."""
        ...

"""The ports of a process: a clock, a source of ids, an embedder, a finder of secrets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memory.model import Vector

Clock = Callable[[], datetime]
"""Returns the current time, aware, in UTC."""

NewId = Callable[[], str]
"""Returns a new id that sorts after all earlier ones."""


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """Identity of the model; vectors of different names are never compared."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order, unit length (all zero for a text without content).

        Blocking, safe to call from several threads. Raises `EmbeddingFailed`; any other error is taken as one, and
        logged with its traceback.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """One secret that was found: `text[start:end]` must not be stored."""

    start: int
    end: int
    kind: str
    """What it is, for people: `GitHub token`."""


class SecretFinder(Protocol):
    """Recognises secrets by their form. Needs no network and never logs what it found."""

    def find(self, text: str) -> Sequence[Secret]:
        """The secrets of a text in any order; they may overlap. Safe to call from several threads."""

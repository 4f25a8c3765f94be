"""What finds passwords, tokens and keys in a text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


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

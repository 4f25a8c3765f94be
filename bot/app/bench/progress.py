"""How a benchmark reports its progress."""

from contextlib import AbstractContextManager
from typing import Protocol


class ShowsStage(Protocol):
    """Shows how far something is that takes long."""

    def __call__(self, what: str, total: int) -> "AbstractContextManager[ShowsStep]":
        """Begin a stage of `total` steps."""
        ...


class ShowsStep(Protocol):
    """Moves a stage on."""

    def __call__(self, done: int, note: str = "") -> None:
        """So many steps are done by now."""
        ...

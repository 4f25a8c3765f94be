"""How a benchmark reports its progress."""

from contextlib import AbstractContextManager
from typing import Protocol


class ShowsStage(Protocol):
    """Shows the progress of a long task."""

    def __call__(self, what: str, total: int) -> "AbstractContextManager[ShowsStep]":
        """Begin a stage of `total` steps."""


class ShowsStep(Protocol):
    """Updates the progress of a stage."""

    def __call__(self, done: int, note: str = "") -> None:
        """Show that `done` steps are done."""

"""Saved messages in a store."""

from collections.abc import Iterable
from typing import Protocol

from memory.model.saved import SavedMessage


class SavedMessageTable(Protocol):
    """Which messages of people became lessons. A row goes with its lesson."""

    def put(self, saved: SavedMessage) -> None:
        """Keep it in place of what is kept of this message. Raises `NotFound` without the lesson."""
        ...

    def get(self, workspace: str, channel: str, message_id: str) -> SavedMessage | None:
        """What is kept of this message."""
        ...

    def of_lessons(self, workspace: str, lesson_ids: Iterable[str]) -> dict[str, SavedMessage]:
        """The message that each of these lessons was made of, by lesson; the others are left out."""
        ...

    def delete(self, saved: SavedMessage) -> None:
        """Keep nothing of this message. Twice is once."""
        ...

"""Saved messages in a store."""

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

    def of_lesson(self, workspace: str, lesson_id: str) -> SavedMessage | None:
        """The message that this lesson was made of."""
        ...

    def delete(self, saved: SavedMessage) -> None:
        """Keep nothing of this message. Twice is once."""
        ...

"""Batches of lessons in a store."""

from collections.abc import Collection, Iterable
from typing import Protocol

from memory.model.batch import Batch, BatchLesson


class BatchTable(Protocol):
    """Files that lessons were learned from, and which lesson each of their entries became."""

    def put(self, batch: Batch) -> None:
        """Insert a batch, or replace the one with its workspace and id."""
        ...

    def get(self, workspace: str, batch_id: str) -> Batch | None:
        """The batch, or None."""
        ...

    def within(self, workspace: str) -> list[Batch]:
        """Every batch of the workspace, newest first."""
        ...

    def put_lessons(self, *lessons: BatchLesson) -> None:
        """Keep which lesson each entry became, in place of what was kept. Raises `NotFound` without the batch."""
        ...

    def lessons(self, workspace: str, *batch_ids: str) -> list[BatchLesson]:
        """Those of these batches, in the order they were learned."""
        ...

    def of_lessons(self, workspace: str, lesson_ids: Iterable[str]) -> dict[str, BatchLesson]:
        """What is kept of these lessons, by id; lessons of no batch are left out."""
        ...

    def known(self, workspace: str, keys: Iterable[str]) -> set[str]:
        """Those of these keys that were learned before."""
        ...

    def drop(self, workspace: str, keys: Collection[str]) -> None:
        """Forget that these were learned: a file may bring them again."""
        ...

    def erase_person(self, workspace: str, person: str) -> None:
        """Keep no longer that this person gave a file."""
        ...

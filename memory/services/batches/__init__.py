"""Lessons learned from files: taken in as proposals, decided about together."""

from memory.services.batches.batches import Batches, BatchView, Narrow
from memory.services.batches.intake import EntryStatus, Intake, Outcome
from memory.services.batches.review import BatchReview, Decided, Reviewer
from memory.services.batches.undo import BatchPurge, BatchUndo

__all__ = [
    "BatchPurge",
    "BatchReview",
    "BatchUndo",
    "BatchView",
    "Batches",
    "Decided",
    "EntryStatus",
    "Intake",
    "Narrow",
    "Outcome",
    "Reviewer",
]

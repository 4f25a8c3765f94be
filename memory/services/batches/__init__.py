"""Lessons imported from files: they enter as proposals and are reviewed together, as a batch."""

from memory.services.batches.batches import Batches as Batches, BatchView as BatchView
from memory.services.batches.intake import EntryOutcome as EntryOutcome, EntryStatus as EntryStatus, Intake as Intake
from memory.services.batches.review import (
    BatchDecision as BatchDecision,
    BatchReview as BatchReview,
    Reviewer as Reviewer,
)
from memory.services.batches.undo import BatchPurge as BatchPurge, BatchUndo as BatchUndo

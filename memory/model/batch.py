"""Batches: the lessons imported from one file, which are reviewed and taken back together."""

from dataclasses import dataclass
from datetime import datetime

from memory.model.scope import Audience, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A question with its answer from a file, which may become a lesson."""

    scope: Scope
    """Where it was said; its person is the author of the answer."""
    question: str
    answer: str
    key: str
    """Identifies it across files: the ids of its messages, or its text."""
    audience: Audience = Audience.CHANNEL
    """The audience for which it counts once it is approved."""
    source: str = ""
    """Where in the file it is and why it was chosen, for the reviewer."""
    others: tuple[str, ...] = ()
    """The ids of other people whose words it contains: of who asked, or in a direct conversation of who answered."""
    accepted_by: str = ""
    """In a direct conversation: the asker, who said that it is right. It counts for them alone and is not reviewed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One imported file."""

    workspace: str
    id: str
    name: str
    """The file's name."""
    digest: str
    """The digest of the file's content and of where its lessons go: importing it again continues the same batch."""
    actor: str
    """Who imported it."""
    at: datetime
    undone_at: datetime | None = None
    """When the batch was taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLesson:
    """One lesson of a batch."""

    workspace: str
    key: str
    """A digest of the proposal's key. It is kept when the lesson is erased, so that the file does not bring it back."""
    batch_id: str
    lesson_id: str
    audience: Audience
    source: str

"""Batches: lessons that were learned from one file, decided about and taken back together."""

from dataclasses import dataclass
from datetime import datetime

from memory.model.scope import Audience, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A question with its answer, as a file has them: what may become a lesson."""

    scope: Scope
    """Where it was said; the person is whose words the answer is."""
    question: str
    answer: str
    key: str
    """What makes it the same one in another file: the ids of its messages, or its text."""
    audience: Audience = Audience.CHANNEL
    """For whom it is meant to count once somebody approves it."""
    source: str = ""
    """Where in the file it is and why it was taken, for whoever reviews it."""
    others: tuple[str, ...] = ()
    """Whose words it holds beside its author's, by id."""
    accepted_by: str = ""
    """Among four eyes: who asked, and said there that it is right. It counts for them alone, and nobody reviews it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One file that lessons were learned from."""

    workspace: str
    id: str
    name: str
    """The file's."""
    digest: str
    """Of the file's content and of where its lessons go: the same file again goes on with the same batch."""
    actor: str
    """Who gave it."""
    at: datetime
    undone_at: datetime | None = None
    """When all of it was taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLesson:
    """One lesson of a batch."""

    workspace: str
    key: str
    """A digest of the proposal's. It stays when the lesson is erased, so that the file does not bring it back."""
    batch_id: str
    lesson_id: str
    audience: Audience
    source: str

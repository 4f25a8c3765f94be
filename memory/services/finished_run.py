"""An answer with everything that led to it, ready to be committed at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.model import Episode, Recollection


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """An answer with everything that led to it, ready to be committed at once."""

    workspace: str
    run_id: str
    event_id: str
    """Of the message it answers; empty when there was none (a library's own run)."""
    nodes: Sequence[Episode]
    recalls: Sequence[Recollection]
    parts: Sequence[str]
    """The texts to post, in order."""
    channel: str = ""
    thread: str = ""
    """Where they are posted."""
    embedding_model: str = ""
    asked_by: str = ""
    """Whose words the question is, where somebody tried another person's again (`Incoming.asked_by`)."""

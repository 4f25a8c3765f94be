"""The words of the memory package as plain, frozen values. Imports nothing but the standard library."""

from memory.model.delivery import Incoming, LedgerEntry, Outgoing, Progress
from memory.model.episode import (
    Episode,
    EpisodeStatus,
    Origin,
    Step,
    StepKind,
    Termination,
    Usage,
    Verdict,
    Verdicts,
    derive_status,
)
from memory.model.events import Event, EventKind
from memory.model.recall import (
    Exemplar,
    Lesson,
    Link,
    LinkKind,
    Recollection,
    Retrieval,
    RetrievalItem,
    Signal,
    StageCounts,
    Vector,
)
from memory.model.scope import Audience, Scope, Visibility
from memory.model.teaching import Promotion, Reaction, Role, TeachingPolicy, Vote

__all__ = [
    "Audience",
    "Episode",
    "EpisodeStatus",
    "Event",
    "EventKind",
    "Exemplar",
    "Incoming",
    "LedgerEntry",
    "Lesson",
    "Link",
    "LinkKind",
    "Origin",
    "Outgoing",
    "Progress",
    "Promotion",
    "Reaction",
    "Recollection",
    "Retrieval",
    "RetrievalItem",
    "Role",
    "Scope",
    "Signal",
    "StageCounts",
    "Step",
    "StepKind",
    "TeachingPolicy",
    "Termination",
    "Usage",
    "Vector",
    "Verdict",
    "Verdicts",
    "Visibility",
    "Vote",
    "derive_status",
]

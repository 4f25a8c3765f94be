"""The load stage over memories the caller holds in its hands: graded, of this session, and not of the current run."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypeVar

from memory.model import Verdict
from memory.rules.retrieval.config import RetrievalConfig
from memory.rules.retrieval.likeness import cosine
from memory.rules.retrieval.pipeline import Candidate

if TYPE_CHECKING:
    from memory.model import Vector
    from memory.rules.retrieval.adapter import RetrievalInput

M = TypeVar("M")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered(Generic[M]):
    """One memory with what the pipeline looks at."""

    memory: M
    id: str | int
    session_id: str
    run_id: str
    elements: frozenset[str]
    """The context before the action (the seed's `envPre.elements`)."""
    embedding: "Sequence[float] | Vector | None"
    """The seed's `internalStateEmbedding`."""
    verdict: Verdict
    """Only success and failure are graded; what is pending or disputed is never loaded."""
    created_at: datetime
    graded_at: datetime | None = None
    """When the verdict was given; None: when the memory was made."""
    signature: Hashable
    """See `action_signature`."""
    author: str = ""


def action_signature(action: str, *, element_text: str = "", target: str = "", value: str = "") -> tuple[str, str, str]:
    """What makes two actions the same action: type, target, value.

    The element's text names the target where there is one, because identifiers of elements change from one page load
    to the next. Case and outer blanks of the target do not matter; the value counts letter by letter.
    """
    return (action, (element_text.strip() or target.strip()).casefold(), value)


class GivenMemories(Generic[M]):
    """A source for `DefaultRetriever` over a list of memories."""

    def __init__(self, memories: Iterable[Remembered[M]]) -> None:
        self._memories = tuple(memories)

    def load(
        self, session_id: str, current_run_id: str, situation: "RetrievalInput", config: RetrievalConfig
    ) -> Sequence[Candidate[M]]:
        """Every graded memory of the session but those of the current run."""
        return [
            Candidate(
                memory=each.memory,
                id=each.id,
                elements=each.elements,
                intent=cosine(each.embedding, situation.current_state_embedding),
                verdict=each.verdict,
                created_at=each.created_at,
                decided_at=each.graded_at or each.created_at,
                signature=each.signature,
                author=each.author,
            )
            for each in self._memories
            if each.verdict.is_validated and each.session_id == session_id and each.run_id != current_run_id
        ]

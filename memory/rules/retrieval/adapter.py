"""The replaceable retriever: `set_retriever` sets one, `get_retriever` returns it or the default.

The default searches candidates from a source, such as `GivenMemories` for a list of memories.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from memory.errors import InvalidInput
from memory.model import Scope, StageCounts, Vector, Verdict
from memory.model.validation import shown_value
from memory.rules.retrieval.config import RetrievalConfig
from memory.rules.retrieval.pipeline import MemoryCandidate, select
from memory.rules.retrieval.similarity import cosine

M = TypeVar("M")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalInput:
    """A situation for which memories are retrieved."""

    current_env: frozenset[str]
    """The context elements of the situation."""
    current_state_embedding: Sequence[float] | Vector | None
    """The goal's embedding; None ignores intent."""
    goal: str = ""
    scope: Scope | None = None
    """The person and place that ask. The bot's default source needs it; custom retrievers may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMemory(Generic[M]):
    """A retrieved memory (the seed's `{memory, envScore, intScore}` with other results of the pipeline)."""

    memory: M
    env_score: float
    """Overlap of the contexts, 0..1."""
    int_score: float
    """Cosine of the embeddings, -1..1; the combined score counts negative ones as 0."""
    score: float
    """The combined score, 0..1 (0.65 context + 0.35 intent by default); the best of the memories with equal actions."""
    verdict: Verdict
    n_success: int = 0
    n_failure: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalOutput(Generic[M]):
    """The retrieved memories, best first, and the counts after each stage."""

    memories: tuple[ScoredMemory[M], ...] = ()
    debug: StageCounts = field(default_factory=StageCounts)

    def as_seed(self) -> dict[str, object]:
        """The output in the seed's shape: `memories` of `{memory, envScore, intScore}`, and seven `debug` counters."""
        return {
            "memories": [
                {"memory": each.memory, "envScore": each.env_score, "intScore": each.int_score}
                for each in self.memories
            ],
            "debug": {
                "totalLoaded": self.debug.total_loaded,
                "envMatched": self.debug.env_matched,
                "envTopK": self.debug.env_top_k,
                "stateRanked": self.debug.state_ranked,
                "deduped": self.debug.deduped,
                "aboveThreshold": self.debug.above_threshold,
                "selected": self.debug.selected,
            },
        }


class RetrieverAdapter(Protocol[M]):
    """Retrieves memories for a situation."""

    def retrieve(
        self,
        session_id: str,
        current_run_id: str,
        situation: RetrievalInput,
        config: RetrievalConfig | Mapping[str, object] | None = None,
    ) -> RetrievalOutput[M]:
        """Validated memories of the session's other runs. A partial config is merged into the defaults.

        Raises `ValueError` for a setting outside its range.
        """


class MemorySource(Protocol[M]):
    """A source of candidates for the default retriever: graded memories of the session's other runs."""

    def load(
        self, session_id: str, current_run_id: str, situation: RetrievalInput, config: RetrievalConfig
    ) -> Sequence[MemoryCandidate[M]]:
        """The candidates with their intent scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered(Generic[M]):
    """A memory with the fields that the pipeline uses."""

    memory: M
    id: str | int
    session_id: str
    run_id: str
    elements: frozenset[str]
    """The context before the action (the seed's `envPre.elements`)."""
    embedding: Sequence[float] | Vector | None
    """The seed's `internalStateEmbedding`."""
    verdict: Verdict
    """Only memories with success or failure are loaded."""
    created_at: datetime
    graded_at: datetime | None = None
    """When the verdict was given; `created_at` if None."""
    signature: Hashable
    """See `action_signature`."""
    author: str = ""


def action_signature(action: str, *, element_text: str = "", target: str = "", value: str = "") -> tuple[str, str, str]:
    """The key of equal actions: (type, target, value).

    The target is the element's text if there is one, as elements' identifiers change with each page load. Case and
    outer blanks of the target are ignored; the value must be equal.
    """
    return (action, (element_text.strip() or target.strip()).casefold(), value)


class GivenMemories(Generic[M]):
    """A `MemorySource` of a list of memories."""

    def __init__(self, memories: Iterable[Remembered[M]]) -> None:
        self._memories = tuple(memories)

    def load(
        self, session_id: str, current_run_id: str, situation: RetrievalInput, config: RetrievalConfig
    ) -> Sequence[MemoryCandidate[M]]:
        """All graded memories of the session's other runs."""
        return [
            MemoryCandidate(
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


class DefaultRetriever(Generic[M]):
    """The seed's pipeline over a source of candidates."""

    def __init__(self, source: MemorySource[M] | None = None, config: RetrievalConfig | None = None) -> None:
        self._source = source
        self._config = config or RetrievalConfig()

    def retrieve(
        self,
        session_id: str,
        current_run_id: str,
        situation: RetrievalInput,
        config: RetrievalConfig | Mapping[str, object] | None = None,
    ) -> RetrievalOutput[M]:
        """As `RetrieverAdapter.retrieve`. Without a source, and for an evaluation's baseline, finds nothing."""
        settings = config if isinstance(config, RetrievalConfig) else self._config.merged(config)
        if self._source is None or settings.is_baseline:
            return RetrievalOutput()
        candidates = self._source.load(session_id, current_run_id, situation, settings)
        asker = situation.scope.person if situation.scope else ""
        chosen, counts = select(candidates, situation.current_env, settings, asker=asker)
        return RetrievalOutput(
            memories=tuple(
                ScoredMemory(
                    memory=item.candidate.memory,
                    env_score=item.env,
                    int_score=item.candidate.intent,
                    score=item.score,
                    verdict=item.candidate.verdict,
                    n_success=item.n_success,
                    n_failure=item.n_failure,
                )
                for item in chosen
            ),
            debug=counts,
        )


# Untyped, as a retriever may return episodes, recorded steps or a caller's own memories.
_chosen: RetrieverAdapter[Any] | None = None


def set_retriever(retriever: RetrieverAdapter[Any] | None) -> None:
    """Set the retriever of this process; None restores the default pipeline.

    Raises `InvalidInput` for an object without a method `retrieve`.
    """
    global _chosen
    if retriever is not None and not callable(getattr(retriever, "retrieve", None)):
        raise InvalidInput(f"a retriever needs a method retrieve(), got {shown_value(retriever)}")
    _chosen = retriever


def get_retriever(default: RetrieverAdapter[Any] | None = None) -> RetrieverAdapter[Any]:
    """The retriever that was set, else `default`, else a `DefaultRetriever` without memories."""
    if _chosen is not None:
        return _chosen
    return default if default is not None else DefaultRetriever[Any]()

"""The exchangeable retriever: `set_retriever` puts another in, `get_retriever` falls back to the default.

The default searches what a source loads; `GivenMemories` is one over memories the caller holds.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from memory.errors import InvalidInput
from memory.model import Scope, StageCounts, Vector, Verdict
from memory.model.validation import shown
from memory.rules.retrieval.config import RetrievalConfig
from memory.rules.retrieval.likeness import cosine
from memory.rules.retrieval.pipeline import MemoryCandidate, select

M = TypeVar("M")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalInput:
    """The situation to retrieve for."""

    current_env: frozenset[str]
    """Context elements of the present situation."""
    current_state_embedding: Sequence[float] | Vector | None
    """Embedding of the goal; None leaves intent out."""
    goal: str = ""
    scope: Scope | None = None
    """Who asks and where. The default source of the bot needs it; a custom retriever may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMemory(Generic[M]):
    """One retrieved memory (the seed's `{memory, envScore, intScore}` plus what the pipeline knows)."""

    memory: M
    env_score: float
    """Overlap of the contexts, 0..1."""
    int_score: float
    """Cosine of the embeddings as it is, -1..1; in the combined score a negative one counts as 0."""
    score: float
    """0.65 context + 0.35 intent, 0..1; the best of its group where equal actions were folded into one."""
    verdict: Verdict
    n_success: int = 0
    n_failure: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalOutput(Generic[M]):
    """What was retrieved, best first, and the count after every stage."""

    memories: tuple[ScoredMemory[M], ...] = ()
    debug: StageCounts = field(default_factory=StageCounts)

    def as_seed(self) -> dict[str, object]:
        """The seed's shape: `memories` of `{memory, envScore, intScore}`, and its seven `debug` counters."""
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
    """Finds the memories for a situation."""

    def retrieve(
        self,
        session_id: str,
        current_run_id: str,
        situation: RetrievalInput,
        config: RetrievalConfig | Mapping[str, object] | None = None,
    ) -> RetrievalOutput[M]:
        """Validated memories of the session, the current run excluded. A partial config is merged over the defaults.

        Raises `ValueError` for a setting outside its range.
        """
        ...


class MemorySource(Protocol[M]):
    """Where the default retriever loads candidates from: graded memories of the session, not of the current run."""

    def load(
        self, session_id: str, current_run_id: str, situation: RetrievalInput, config: RetrievalConfig
    ) -> Sequence[MemoryCandidate[M]]:
        """The candidates with their intent scores."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered(Generic[M]):
    """One memory with what the pipeline looks at."""

    memory: M
    id: str | int
    session_id: str
    run_id: str
    elements: frozenset[str]
    """The context before the action (the seed's `envPre.elements`)."""
    embedding: Sequence[float] | Vector | None
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
        self, session_id: str, current_run_id: str, situation: RetrievalInput, config: RetrievalConfig
    ) -> Sequence[MemoryCandidate[M]]:
        """Every graded memory of the session but those of the current run."""
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
        """Load, match the context, cut, rank, deduplicate and choose. Without a source there is nothing to find."""
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


# The retriever may be one of episodes, of recorded steps or of a person's own memories: whoever sets it knows.
_chosen: RetrieverAdapter[Any] | None = None


def set_retriever(retriever: RetrieverAdapter[Any] | None) -> None:
    """Use this retriever from now on; None goes back to the default pipeline.

    Raises `InvalidInput` for what has no method `retrieve`.
    """
    global _chosen
    if retriever is not None and not callable(getattr(retriever, "retrieve", None)):
        raise InvalidInput(f"a retriever needs a method retrieve(), got {shown(retriever)}")
    _chosen = retriever


def get_retriever(default: RetrieverAdapter[Any] | None = None) -> RetrieverAdapter[Any]:
    """The retriever that was set, else `default`, else a `DefaultRetriever` without memories."""
    if _chosen is not None:
        return _chosen
    return default if default is not None else DefaultRetriever[Any]()

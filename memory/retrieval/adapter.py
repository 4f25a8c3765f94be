"""The exchangeable retriever (seed 000): `set_retriever` puts another in, `get_retriever` falls back to the default."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memory.model import Episode, Scope, StageCounts, Vector, Verdict
from memory.retrieval.config import RetrievalConfig
from memory.retrieval.pipeline import Candidate, select


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalInput:
    """The situation to retrieve for."""

    current_env: frozenset[str]
    """Context elements of the present situation."""
    current_state_embedding: Vector | None
    """Embedding of the goal; None leaves intent out."""
    goal: str = ""
    scope: Scope | None = None
    """Who asks and where. The default source of the bot needs it; a custom retriever may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMemory:
    """One retrieved memory (the seed's `{memory, envScore, intScore}` plus what the pipeline knows)."""

    memory: Episode
    env_score: float
    int_score: float
    score: float
    verdict: Verdict
    n_success: int = 0
    n_failure: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalOutput:
    """What was retrieved, best first, and the count after every stage."""

    memories: tuple[ScoredMemory, ...] = ()
    debug: StageCounts = field(default_factory=StageCounts)


class RetrieverAdapter(Protocol):
    """Finds the memories for a situation."""

    def retrieve(
        self,
        session_id: str,
        current_run_id: str,
        situation: RetrievalInput,
        config: RetrievalConfig | Mapping[str, object] | None = None,
    ) -> RetrievalOutput:
        """Validated memories of the session, the current run excluded. A partial config is merged over the defaults."""
        ...


class MemorySource(Protocol):
    """Where the default retriever loads candidates from: graded memories of the session, not of the current run."""

    def load(
        self, session_id: str, current_run_id: str, situation: RetrievalInput, config: RetrievalConfig
    ) -> Sequence[Candidate[Episode]]:
        """The candidates with their intent scores."""
        ...


class DefaultRetriever:
    """The seed's pipeline over a source of candidates."""

    def __init__(self, source: MemorySource | None = None, config: RetrievalConfig | None = None) -> None:
        self._source = source
        self._config = config or RetrievalConfig()

    def retrieve(
        self,
        session_id: str,
        current_run_id: str,
        situation: RetrievalInput,
        config: RetrievalConfig | Mapping[str, object] | None = None,
    ) -> RetrievalOutput:
        """Load, match the context, cut, rank, deduplicate and choose. Without a source there is nothing to find."""
        settings = config if isinstance(config, RetrievalConfig) else self._config.merged(config)
        if self._source is None:
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


_chosen: RetrieverAdapter | None = None


def set_retriever(retriever: RetrieverAdapter | None) -> None:
    """Use this retriever from now on; None goes back to the default pipeline."""
    global _chosen
    _chosen = retriever


def get_retriever(default: RetrieverAdapter | None = None) -> RetrieverAdapter:
    """The retriever that was set, else `default`, else a `DefaultRetriever` without memories."""
    return _chosen or default or DefaultRetriever()

"""The retrieval pipeline as a pure function of candidates, with a count after each stage.

Stages that a configuration does not use (similarity gate, limit per author) let everything through.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, TypeVar

from memory.model import StageCounts, Verdict
from memory.rules.retrieval.config import RetrievalConfig

M = TypeVar("M")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCandidate(Generic[M]):
    """A memory that passed the checks of scope and status, with the fields that the stages use."""

    memory: M
    id: str | int
    elements: frozenset[str]
    """The context before the action (the seed's `envPre.elements`)."""
    intent: float
    """Cosine of the goals' embeddings; 0 if one is missing, zero or of another dimension."""
    verdict: Verdict
    """Success or failure."""
    created_at: datetime
    decided_at: datetime
    """When the verdict was given; of opposite verdicts on the same action, the later one holds."""
    signature: Hashable
    """Equal for memories of the same action."""
    author: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored(Generic[M]):
    """A candidate with its scores."""

    candidate: MemoryCandidate[M]
    env: float
    score: float
    n_success: int = 0
    n_failure: int = 0

    @property
    def rank(self) -> tuple[float, datetime, str | int]:
        """The sort key: score, then creation time, then id; larger is better."""
        return (self.score, self.candidate.created_at, self.candidate.id)


def select(
    candidates: Iterable[MemoryCandidate[M]],
    current: frozenset[str],
    config: RetrievalConfig,
    *,
    asker: str = "",
) -> tuple[list[Scored[M]], StageCounts]:
    """The selected memories, best first, and the counts after each stage."""
    loaded = [Scored(candidate=candidate, env=_env(candidate, current, config), score=0.0) for candidate in candidates]
    matched = [item for item in loaded if item.env >= config.env_threshold]
    fallback = config.soft_gate and bool(loaded) and not matched
    if fallback:
        matched = loaded
    top = sorted(matched, key=_by_context, reverse=True)[: config.top_k]
    ranked = [replace(item, score=_combined(item, config, intent_only=fallback)) for item in top]
    gated = [item for item in ranked if item.candidate.intent >= config.min_intent]
    deduped = _deduplicated(gated)
    above = [item for item in deduped if item.score >= config.min_score]
    voices = _one_voice(sorted(above, key=lambda item: item.rank, reverse=True), config.max_per_author, asker)
    chosen = _balanced(voices, config.final_k)
    return chosen, StageCounts(
        total_loaded=len(loaded),
        env_matched=len(matched),
        env_top_k=len(top),
        state_ranked=len(ranked),
        gated=len(gated),
        deduped=len(deduped),
        above_threshold=len(above),
        selected=len(chosen),
        env_fallback=fallback,
    )


def overlap(
    left: AbstractSet[str],
    right: AbstractSet[str],
    *,
    weights: Mapping[str, float] | None = None,
    both_empty: float = 1.0,
) -> float:
    """The overlap of two situations: intersection over union of their context elements, 0..1.

    An element is a normalised string such as `channel:C1`. The seed gives all the same weight; `weights` are by kind,
    the part before the first colon, 1 if missing.

    `both_empty` if both sides are empty, 0 if one is.
    """
    if not left and not right:
        return both_empty

    def size(elements: AbstractSet[str]) -> float:
        if not weights:
            return float(len(elements))
        return sum(weights.get(element.partition(":")[0], 1.0) for element in sorted(elements))

    union = size(left | right)
    return size(left & right) / union if union else both_empty


def _env(candidate: MemoryCandidate[M], current: frozenset[str], config: RetrievalConfig) -> float:
    return overlap(candidate.elements, current, weights=config.element_weights, both_empty=config.empty_env_iou)


def _combined(item: Scored[M], config: RetrievalConfig, *, intent_only: bool) -> float:
    """The combined score; a negative cosine counts as 0. Rounded so that 0.65 + 0.35 is exactly 1."""
    intent = max(0.0, item.candidate.intent)
    if intent_only:
        return round(intent, 12)
    return round(config.env_weight * item.env + config.intent_weight * intent, 12)


def _by_context(item: Scored[M]) -> tuple[float, datetime, str | int]:
    """The sort key of the context stage: overlap, then creation time, then id; larger is better."""
    return (item.env, item.candidate.created_at, item.candidate.id)


def _deduplicated(items: Sequence[Scored[M]]) -> list[Scored[M]]:
    """One survivor per action: the latest decided one, with the best score of its group and the group's counts."""
    groups: dict[Hashable, list[Scored[M]]] = {}
    for item in items:
        groups.setdefault(item.candidate.signature, []).append(item)
    survivors: list[Scored[M]] = []
    for group in groups.values():
        latest = max(group, key=lambda item: (item.candidate.decided_at, item.candidate.created_at, item.candidate.id))
        survivors.append(
            replace(
                latest,
                score=max(item.score for item in group),
                n_success=sum(item.candidate.verdict is Verdict.SUCCESS for item in group),
                n_failure=sum(item.candidate.verdict is Verdict.FAILURE for item in group),
            )
        )
    return survivors


def _one_voice(items: Sequence[Scored[M]], limit: int | None, asker: str) -> list[Scored[M]]:
    """At most `limit` lessons of each kind from one author; the asker's own are not limited."""
    if limit is None:
        return list(items)
    counts: dict[tuple[str, Verdict], int] = {}
    kept: list[Scored[M]] = []
    for item in items:
        voice = (item.candidate.author, item.candidate.verdict)
        counts[voice] = counts.get(voice, 0) + 1
        if item.candidate.author == asker or counts[voice] <= limit:
            kept.append(item)
    return kept


def _balanced(ranked: Sequence[Scored[M]], final_k: int) -> list[Scored[M]]:
    """The best `final_k`; if that is two or more, at least one of each verdict if both exist."""
    chosen = list(ranked[:final_k])
    if final_k >= 2 and len(chosen) == final_k:
        present = {item.candidate.verdict for item in chosen}
        missing = next((item for item in ranked[final_k:] if item.candidate.verdict not in present), None)
        if len(present) == 1 and missing is not None:
            chosen[-1] = missing
    return chosen

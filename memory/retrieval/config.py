"""The numbers of the retrieval pipeline, validated. The defaults are the seed's; the bot brings its own."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalConfig:
    """Seed "Retrieval": `envThreshold` 0.7, `topK` 10, `finalK` 2, and 65 % context to 35 % intent.

    Raises `ValueError` for a number outside its range.
    """

    env_threshold: float = 0.7
    """Context overlap a memory needs, 0..1; kept when equal."""
    top_k: int | None = 10
    """How many go on after the context stage, best overlap first. None: all (intent has not been looked at yet)."""
    final_k: int = 2
    """How many are returned."""
    env_weight: float = 0.65
    intent_weight: float = 0.35
    min_intent: float = -1.0
    """The similarity gate: below this cosine nothing is returned. -1 lets everything pass, as the seed does."""
    min_score: float = 0.0
    """Combined score needed after deduplication."""
    soft_gate: bool = False
    """When the context stage leaves nothing, go on by intent alone and say so in the counts."""
    element_weights: Mapping[str, float] = field(default_factory=dict[str, float])
    """Weight of a context element by its kind (`channel`, `tool`); kinds not named count 1."""
    empty_env_iou: float = 1.0
    max_per_author: int | None = None
    """How many lessons of one kind a single author other than the asker may contribute. None: any number."""
    consensus: bool = False
    """Whether lessons that disagree on the action are settled or marked (`memory.retrieval.consensus`)."""
    rep: int | None = None
    """Which repetition of an evaluation run this is, from 1: the first runs without memories, as the baseline.
    None: no evaluation. A bot remembers from the first attempt on."""

    def __post_init__(self) -> None:
        for name in ("env_threshold", "empty_env_iou", "env_weight", "intent_weight"):
            _within(name, getattr(self, name), 0.0, 1.0)
        _within("min_intent", self.min_intent, -1.0, 1.0)
        _within("min_score", self.min_score, 0.0, 1.0)
        for name in ("top_k", "final_k", "max_per_author", "rep"):
            value = getattr(self, name)
            if value is None and name != "final_k":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} must be a whole number of 0 or more, got {value!r}")
        if any(weight < 0 or not math.isfinite(weight) for weight in self.element_weights.values()):
            raise ValueError(f"element weights must be 0 or more, got {dict(self.element_weights)!r}")

    @property
    def is_baseline(self) -> bool:
        """Whether an evaluation wants to see how the agent does without memories."""
        return self.rep is not None and self.rep <= 1

    def merged(self, partial: Mapping[str, object] | None) -> "RetrievalConfig":
        """The same configuration with some fields replaced (the seed's `Partial<RetrievalConfig>`).

        Accepts the seed's spellings too. Raises `ValueError` for an unknown field or a number out of range.
        """
        if not partial:
            return self
        names = {config_field.name for config_field in fields(self)}
        spelling = {"envThreshold": "env_threshold", "topK": "top_k", "finalK": "final_k"}
        changes = {spelling.get(name, name): value for name, value in partial.items()}
        unknown = sorted(set(changes) - names)
        if unknown:
            raise ValueError(f"unknown retrieval setting {unknown[0]!r}; known are {', '.join(sorted(names))}")
        return replace(self, **changes)  # type: ignore[arg-type]  # the values are checked by __post_init__


def _within(name: str, value: object, low: float, high: float) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or not low <= value <= high:  # type: ignore[operator]  # a number by the test before
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {value!r}")

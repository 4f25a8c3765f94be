"""The configuration of the retrieval pipeline. The defaults are the seed's; the bot has its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from memory.errors import InvalidInput
from memory.model.validation import require_bool, require_mapping, require_number, require_whole, shown_value

_WHOLE_SCORE = 1.0 + 1e-9
"""The largest sum of both weights: 1 with a tolerance for adding two floats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalConfig:
    """The seed's "Retrieval" defaults: `envThreshold` 0.7, `topK` 10, `finalK` 2, 65 % context and 35 % intent.

    Raises `InvalidInput` (a `ValueError`) for a number outside its range, and for weights that add up to more than 1.
    """

    env_threshold: float = 0.7
    """The least context overlap of a memory, 0..1 (inclusive)."""
    top_k: int | None = 10
    """The most memories after the context stage, by overlap. None: all, as intent is not compared before."""
    final_k: int = 2
    """The most memories that are returned."""
    env_weight: float = 0.65
    intent_weight: float = 0.35
    min_intent: float = -1.0
    """The least cosine of intent. -1 lets everything pass, as in the seed."""
    min_score: float = 0.0
    """The least combined score, applied after deduplication."""
    soft_gate: bool = False
    """Whether to go on by intent alone if the context stage leaves nothing; `StageCounts.env_fallback` reports it."""
    element_weights: Mapping[str, float] = field(default_factory=dict[str, float])
    """Weights of context elements by kind (`channel`, `tool`); 1 for other kinds."""
    empty_env_iou: float = 1.0
    max_per_author: int | None = None
    """The most lessons of one verdict by one author other than the asker. None: any number."""
    consensus: bool = False
    """Whether contradicting lessons are resolved or marked as disputed (`memory.rules.retrieval.consensus`)."""
    rep: int | None = None
    """The repetition of an evaluation run, from 1; the first runs without memories, as the baseline. None: no
    evaluation, so memories are used from the first attempt on."""
    is_baseline: bool = field(init=False, repr=False, compare=False)
    """Whether this is the baseline of an evaluation, by `rep`."""

    def __post_init__(self) -> None:
        for name in ("env_threshold", "empty_env_iou", "env_weight", "intent_weight"):
            require_number(getattr(self, name), name, high=1.0)
        require_number(self.min_intent, "min_intent", low=-1.0, high=1.0)
        require_number(self.min_score, "min_score", high=1.0)
        if self.env_weight + self.intent_weight > _WHOLE_SCORE:
            raise InvalidInput(
                f"env_weight and intent_weight must add up to 1 at most, got {self.env_weight} and "
                f"{self.intent_weight}; set both"
            )
        for name in ("top_k", "final_k", "max_per_author", "rep"):
            value = getattr(self, name)
            if value is not None or name == "final_k":
                require_whole(value, name)
        require_bool(self.soft_gate, "soft_gate")
        require_bool(self.consensus, "consensus")
        for kind, weight in require_mapping(self.element_weights, "element_weights").items():
            require_number(weight, f"the element weight of {shown_value(kind)}")
        object.__setattr__(self, "is_baseline", self.rep is not None and self.rep <= 1)

    def merged(self, partial: Mapping[str, object] | None) -> "RetrievalConfig":
        """The configuration with some fields replaced (the seed's `Partial<RetrievalConfig>`).

        Accepts the seed's spellings too. Raises `InvalidInput` for an unknown field or a number out of range.
        """
        if partial is None:
            return self
        require_mapping(partial, "a retrieval configuration")
        names = {each.name for each in fields(self) if each.init}
        spelling = {"envThreshold": "env_threshold", "topK": "top_k", "finalK": "final_k"}
        changes = {spelling.get(name, name): value for name, value in partial.items()}
        unknown = [name for name in changes if name not in names]
        if unknown:
            raise InvalidInput(f"unknown retrieval setting {unknown[0]!r}; known are {', '.join(sorted(names))}")
        return replace(self, **changes)  # type: ignore[arg-type]  # the values are checked by __post_init__

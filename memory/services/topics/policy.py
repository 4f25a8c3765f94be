"""The numbers of the world of topics. The defaults are those of the system the seed describes."""

from dataclasses import dataclass

from memory.model.validation import number, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldPolicy:
    """Raises `InvalidInput` (a `ValueError`) for a number outside its range."""

    bump: float = 0.1
    """Salience that a topic gains each time it is returned."""
    salience_cap: float = 1e9
    """The most attention a topic can have."""
    min_similarity: float = -1.0
    """The semantic stage returns, and so reinforces, nothing less alike than this. -1: no floor, as in the seed."""
    soft_limit: int = 500
    """From this many topics in a workspace on, those nobody attends to are archived."""
    forget_below: float = 0.05
    """The salience below which that happens."""
    max_history: int = 500
    """How many values of one field are shown, newest first. Older ones are kept."""
    max_merges: int = 50
    """How many duplicates one pass joins."""

    def __post_init__(self) -> None:
        number(self.min_similarity, "min_similarity", low=-1.0, high=1.0)
        for name in ("bump", "salience_cap", "forget_below"):
            number(getattr(self, name), name)
        for name in ("soft_limit", "max_history", "max_merges"):
            whole(getattr(self, name), name)

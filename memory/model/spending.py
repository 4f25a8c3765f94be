"""What language models may cost in a day: caps, and what is left of them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memory.model.episode import Usage


class Spender(StrEnum):
    """Whose spending a cap limits: each person's, each channel's, the whole workspace's."""

    PERSON = "person"
    CHANNEL = "channel"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """The most that one spender may use in a day (UTC); 0 sets no limit."""

    spender: Spender
    usd: float = 0.0
    tokens: int = 0

    def is_reached(self, spent: Usage) -> bool:
        """Whether nothing is left after this."""
        return 0 < self.usd <= spent.cost_usd or 0 < self.tokens <= spent.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What one person may still use in one channel today."""

    spent: tuple[tuple[Cap, Usage], ...]
    """Each cap with what was used up before."""
    at: datetime
    ends_at: datetime
    """When the day is over and everything may be used again."""

    def reached(self, more: Usage) -> Cap | None:
        """The first cap that is reached by what was used before and this."""
        return next((cap for cap, before in self.spent if cap.is_reached(before + more)), None)

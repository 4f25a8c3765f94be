"""Spending limits of language models per day, and what is left of them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memory.model.episode import Usage


class Spender(StrEnum):
    """The unit that a cap limits: each person, each channel, or the whole workspace."""

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
        """Whether the cap is used up by this."""
        return 0 < self.usd <= spent.cost_usd or 0 < self.tokens <= spent.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The state of the caps for one person in one channel today."""

    spent: tuple[tuple[Cap, Usage], ...]
    """Each cap with its use so far."""
    at: datetime
    ends_at: datetime
    """When the day ends and the caps begin anew."""

    def reached(self, more: Usage) -> Cap | None:
        """The first cap that is reached by what was used before and this."""
        return next((cap for cap, before in self.spent if cap.is_reached(before + more)), None)

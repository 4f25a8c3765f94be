"""The budget of one run, shared by its whole tree: decisions, seconds, tokens, cost."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from threading import Lock

from bot.errors import BudgetExceeded
from memory.model import Usage
from memory.model.spending import Allowance, Spender

Monotonic = Callable[[], float]
"""Seconds from an arbitrary moment, never going back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most one run may use. Every limit is positive."""

    max_depth: int = 4
    """Levels of agent nodes. At the last one a node cannot expand: that ends no run, it only narrows the choice."""
    max_decisions: int = 40
    """Replies asked of the model, over all nodes."""
    max_seconds: float = 120.0
    max_tokens: int = 200_000
    """Prompt and completion together. A reply already paid for is used, so the last one may go over."""
    max_cost_usd: float = 1.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not value > 0:
                raise ValueError(f"{each.name} must be above 0, got {value!r}")


class Budget:
    """Counts what one run uses. Counters only grow; safe to share between tasks and threads."""

    def __init__(
        self, limits: Limits, monotonic: Monotonic, since: float | None = None, allowance: Allowance | None = None
    ) -> None:
        self.limits = limits
        self.allowance = allowance
        self._monotonic = monotonic
        self._started = monotonic() if since is None else since
        self._lock = Lock()
        self._decisions = 0
        self._usage = Usage()

    @property
    def decisions(self) -> int:
        """Decisions begun so far."""
        return self._decisions

    @property
    def usage(self) -> Usage:
        """Tokens and cost so far."""
        return self._usage

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline, at least 0."""
        return max(0.0, self._started + self.limits.max_seconds - self._monotonic())

    def spend_decision(self) -> None:
        """Begin one decision. Raises `BudgetExceeded` instead when anything is used up."""
        with self._lock:
            self._check()
            if self._decisions >= self.limits.max_decisions:
                raise _exceeded("decisions", f"{self.limits.max_decisions} decisions")
            self._decisions += 1

    def spend(self, usage: Usage) -> None:
        """Count what a reply cost. Never raises: the reply is there, and the next decision finds the budget empty."""
        with self._lock:
            self._usage += usage

    def check(self) -> None:
        """Raise `BudgetExceeded` if the time, the tokens or the money are used up."""
        with self._lock:
            self._check()

    def out_of_time(self) -> BudgetExceeded:
        """The error for a wait that the deadline ended."""
        return _exceeded("seconds", f"{self.limits.max_seconds:g} seconds")

    def _check(self) -> None:
        if self.seconds_left <= 0:
            raise self.out_of_time()
        if self._usage.tokens >= self.limits.max_tokens:
            raise _exceeded("tokens", f"{self.limits.max_tokens} tokens")
        if self._usage.cost_usd >= self.limits.max_cost_usd:
            raise _exceeded("cost", f"{self.limits.max_cost_usd:g} US dollars")
        capped = capped_reason(self.allowance, self._usage)
        if capped:
            raise BudgetExceeded(capped, budget="cap")


_WHOSE = {
    Spender.PERSON: "for your questions",
    Spender.CHANNEL: "for questions in this channel",
    Spender.WORKSPACE: "for questions here",
}


def capped_reason(allowance: Allowance | None, used: Usage) -> str:
    """Why a daily cap ends the run, as a clause; empty while it does not."""
    cap = allowance.reached(used) if allowance is not None else None
    if allowance is None or cap is None:
        return ""
    most = [f"{cap.usd:,.2f} US dollars"] if cap.usd else []
    most += [f"{cap.tokens:,} tokens"] if cap.tokens else []
    hours = max(1, round((allowance.ends_at - allowance.at).total_seconds() / 3600))
    when = "in about an hour" if hours == 1 else f"in about {hours} hours"
    return (
        f"what I may use {_WHOSE[cap.spender]} in one day ({' or '.join(most)}) is used up; "
        f"that ends at {allowance.ends_at:%H:%M} UTC, {when}"
    )


def _exceeded(budget: str, amount: str) -> BudgetExceeded:
    return BudgetExceeded(f"I reached my limit of {amount} for one question", budget=budget)

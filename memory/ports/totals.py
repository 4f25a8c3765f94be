"""Counts over a whole workspace, made where the rows are: for overviews, which must not read every text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from memory.model import Audience, EventKind, Origin, Termination, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCount:
    """Episodes that were made in one week and are alike."""

    week: date
    is_root: bool
    origin: Origin
    has_asked: bool
    """They asked back which of a few things was meant."""
    termination: Termination
    verdict: Verdict
    is_archived: bool
    number: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCount:
    """Votes that were cast in one week."""

    week: date
    approvals: int
    objections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallCount:
    """Recalls of one week, and how many of them found something."""

    week: date
    number: int
    hits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCount:
    """Episodes of every workspace that count as one thing for one audience, and are not archived."""

    audience: Audience
    verdict: Verdict
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingCount:
    """What the models of one day's answers cost, by who asked where, and by model."""

    day: date
    person: str
    channel: str
    model: str
    answers: int
    tokens: int
    unpriced_tokens: int
    """Tokens of nodes that cost nothing, for their model has no known price."""
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmCount:
    """The runs with lessons, or those of the control arm, since the first one of that."""

    is_control: bool
    answers: int = 0
    approved: int = 0
    """Answers with more votes for than against them."""
    rejected: int = 0
    corrected: int = 0
    cost_usd: float = 0.0
    cost_squares: float = 0.0
    """The sum of the squares of the runs' costs."""
    tokens: int = 0


class TotalsTable(Protocol):
    """Every call is one statement. A week is named by its Monday and begins with it at 00:00 UTC."""

    def nodes(self, workspace: str, since: datetime) -> list[NodeCount]:
        """Episodes by the week they were made."""
        ...

    def votes(self, workspace: str, since: datetime) -> list[VoteCount]:
        """Votes by the week they were cast."""
        ...

    def recalls(self, workspace: str, since: datetime) -> list[RecallCount]:
        """Recalls by week."""
        ...

    def failures(self, workspace: str, since: datetime, limit: int) -> list[tuple[str, int]]:
        """Why answers failed or were given up, in the words kept with them, the most frequent reason first."""
        ...

    def verdicts(self) -> list[VerdictCount]:
        """What episodes of every workspace count as, by audience."""
        ...

    def event_counts(self, workspace: str, after: int) -> tuple[int, dict[EventKind, int]]:
        """How many events of each kind are behind the one with this `seq` in the log, and the last one's `seq`."""
        ...

    def episode_counts(self, workspace: str) -> dict[str, int]:
        """Episodes of a workspace by where they come from and what became of them, archived ones too.

        `episodes`, `archived`, `answers` (`.without_model`), `asked`, each `origin.` and, of what is not archived, each
        `verdict.`; how often they were shown (`retrieval`), `used` and `ignored`; `questions` and of these `.answered`,
        of the answered `.judged` and `.wrong`, and `.asked`.
        """
        ...

    def arms(self, workspace: str) -> list[ArmCount]:
        """The control arm and the other one; nothing where no run was in it."""
        ...

    def spending(self, workspace: str, since: datetime) -> list[SpendingCount]:
        """What models cost, by day (UTC)."""
        ...

    def add_spent(self, workspace: str, more: Mapping[str, int]) -> None:
        """Add to counts by name. A name begins with its day; the rest of it, which may name a person, is not stored."""
        ...

    def spent(self, workspace: str, names: Sequence[str]) -> dict[str, int]:
        """These counts by name, without those that nothing was added to."""
        ...

    def sweep_spent(self, before: date) -> int:
        """Delete the counts of earlier days, of every workspace. Returns how many."""
        ...

"""Counts over a whole workspace, made in the database, for overviews that must not read every text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from memory.model import Audience, EventKind, Origin, Termination, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCount:
    """The number of episodes of one week with the same properties."""

    week: date
    is_root: bool
    origin: Origin
    has_asked: bool
    """Whether they asked back which of a few things was meant."""
    termination: Termination
    verdict: Verdict
    is_archived: bool
    number: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCount:
    """The number of votes cast in one week."""

    week: date
    approvals: int
    objections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallCount:
    """The number of recalls in one week, and how many of them found something."""

    week: date
    number: int
    hits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCount:
    """The number of unarchived episodes, of all workspaces, with one verdict for one audience."""

    audience: Audience
    verdict: Verdict
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingCount:
    """The cost of one day's answers, by person, channel and model."""

    day: date
    person: str
    channel: str
    model: str
    answers: int
    tokens: int
    unpriced_tokens: int
    """Tokens of nodes without a cost, because their model has no known price."""
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmCount:
    """The counts of one arm, with lessons or without, since the control arm's first run."""

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

    def votes(self, workspace: str, since: datetime) -> list[VoteCount]:
        """Votes by the week they were cast."""

    def recalls(self, workspace: str, since: datetime) -> list[RecallCount]:
        """Recalls by week."""

    def failures(
        self, workspace: str, since: datetime, limit: int, *, public_only: bool = False
    ) -> list[tuple[str, int]]:
        """The stored reasons of failed answers, or of public ones, with their numbers, the most frequent first."""

    def verdicts(self) -> list[VerdictCount]:
        """The numbers of episodes of all workspaces, by verdict and audience."""

    def event_counts(self, workspace: str, after: int) -> tuple[int, dict[EventKind, int]]:
        """The last event's `seq`, and the number of events of each kind after the one with this `seq`."""

    def episode_counts(self, workspace: str) -> dict[str, int]:
        """The numbers of a workspace's episodes by origin and state, archived ones included.

        `episodes`, `archived`, `answers` (`.without_model`), `asked`, each `origin.` and, of what is not archived, each
        `verdict.`; how often they were shown (`retrieval`), `used` and `ignored`; `questions` and of these `.answered`,
        of the answered `.judged` and `.wrong`, and `.asked`.
        """

    def arms(self, workspace: str) -> list[ArmCount]:
        """The counts of both arms; empty if no run was in the control arm."""

    def spending(self, workspace: str, since: datetime) -> list[SpendingCount]:
        """The costs of models, by day (UTC)."""

    def add_spent(self, workspace: str, more: Mapping[str, int]) -> None:
        """Add to counts by name. A name begins with its day; the rest of it, which may name a person, is not stored."""

    def spent(self, workspace: str, names: Sequence[str]) -> dict[str, int]:
        """These counts by name, without those that nothing was added to."""

    def sweep_spent(self, before: date) -> int:
        """Delete the counts of earlier days, of every workspace. Returns how many."""

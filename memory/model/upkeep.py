"""Maintenance: jobs and their runs, leases, erasures, and rules that summarise many lessons."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.model.episode import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepPolicy:
    """Configuration of upkeep. Strength 0..1 and salience 0..10 are those after decay (`memory.rules.strength`)."""

    archive_strength: float = 0.05
    archive_salience: float = 0.05
    archive_idle: timedelta = timedelta(days=30)
    """A lesson is archived when it is below both numbers and was unused for this long."""
    rule_from: int = 3
    """How many different goals with the same lesson make a rule."""
    pending_kept: timedelta = timedelta(days=180)
    """How long an answer that nobody judged is kept."""
    claims_kept: timedelta = timedelta(days=30)
    """How long the ids of handled events are kept; no platform repeats one later than this."""
    mutes_kept: timedelta = timedelta(days=180)
    """How long a thread stays muted; a channel stays muted until somebody mentions the bot there."""

    def __post_init__(self) -> None:
        if self.rule_from < 2:
            raise ValueError(f"one lesson is no rule: rule_from must be 2 or more, got {self.rule_from}")
        if min(self.archive_idle, self.pending_kept, self.claims_kept, self.mutes_kept) <= timedelta(0):
            raise ValueError("archive_idle, pending_kept, claims_kept and mutes_kept must be longer than nothing")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """The last run of a job, by any process. `error` is empty when it went well."""

    name: str
    started_at: datetime
    finished_at: datetime
    summary: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """The progress of a job that does not cover all workspaces in every run."""

    workspace: str
    job: str
    seq: int
    """The last event of the workspace that it has processed; 0 if it never finished."""
    tried_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A named lock with an owner and an end. After its end nobody holds it."""

    name: str
    owner: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """An erasure in progress: of everything about a person, or without a person, of the database's free space."""

    workspace: str
    id: str
    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Many lessons of one partition that say the same, by id. Its text is made from what they say now."""

    workspace: str
    id: str
    partition: str
    verdict: Verdict
    lesson_ids: tuple[str, ...]
    """In order of creation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedRow:
    """A stored row that cannot be read."""

    what: str
    """Which row it is, and what is wrong with it."""
    remedy: str
    """What an administrator can do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A row that differs from what the log says, with its repair."""

    episode_id: str
    what: str
    stored: object
    """The stored value. What people said, and who, is only counted here and in `expected`."""
    expected: object
    repair: Callable[[], object]
    """Repairs the row, within the transaction in which it was found."""

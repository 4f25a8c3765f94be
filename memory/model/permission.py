"""Permissions: who lets an action with effects run, and how it came to that."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Grant(StrEnum):
    """How an action with effects came to be allowed."""

    ONCE = "once"
    """The asker or a teacher pressed the button for this one."""
    SHORT = "short"
    """A teacher allowed it for a few minutes."""
    ALWAYS = "always"
    """A teacher allowed it in this channel from then on."""
    LEARNED = "learned"
    """A teacher approved of the same before, and the channel lets that decide."""

    @property
    def lasts(self) -> bool:
        """Whether it says something of actions that come later."""
        return self in (Grant.SHORT, Grant.ALWAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """The numbers of approvals. Each is a setting (`[agent]`)."""

    learned: bool = False
    """Whether what teachers approved may run without a question, where nobody decided otherwise for the channel."""
    waits: timedelta = timedelta(hours=1)
    """How long a question may be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """Lets one action run."""

    grant: Grant
    by: str
    """Who decided, by id."""
    basis: str = ""
    """The episode that it rests on: the question that was answered, or the one a teacher approved of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """An action of a run that was allowed, for the record."""

    node_id: str
    tool: str
    permission: Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingPermission:
    """What a teacher allowed in a channel for longer."""

    key: str
    tool: str
    what: str
    """What was asked about when it was allowed, in people's words; empty once that question is erased."""
    grant: Grant
    by: str
    at: datetime

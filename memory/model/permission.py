"""Permissions for actions with side effects: who allowed them, and how."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Grant(StrEnum):
    """How an action with side effects was allowed."""

    ONCE = "once"
    """The asker or a teacher allowed this one by a button."""
    SHORT = "short"
    """A teacher allowed it for a few minutes."""
    ALWAYS = "always"
    """A teacher allowed it in this channel for good."""
    LEARNED = "learned"
    """A teacher approved the same before, and the channel's setting lets that decide."""

    @property
    def lasts(self) -> bool:
        """Whether it also allows later actions."""
        return self in (Grant.SHORT, Grant.ALWAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """The configuration of approvals. Each field is a setting (`[agent]`)."""

    learned: bool = False
    """Whether what teachers approved may run without asking, unless set otherwise for the channel."""
    waits: timedelta = timedelta(hours=1)
    """How long a request for approval can be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """The permission to run one action."""

    grant: Grant
    by: str
    """Who decided, by id."""
    basis: str = ""
    """The episode that it is based on: the request that was answered, or the one that a teacher approved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedAction:
    """An action of a run that was allowed, for the log."""

    node_id: str
    tool: str
    permission: Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingPermission:
    """A permission that a teacher gave in a channel for later actions too."""

    key: str
    tool: str
    what: str
    """The request at which it was given, in people's words; empty once that is erased."""
    grant: Grant
    by: str
    at: datetime

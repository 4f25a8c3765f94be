"""The events of the append-only log of each episode. An episode's changing values are computed from its log."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class EventKind(StrEnum):
    """The kinds of event."""

    CREATED = "created"
    LINKED = "linked"
    """A message that was sent now stands for this answer, or two episodes were joined by a link."""
    VOTED = "voted"
    UNVOTED = "unvoted"
    GRADED = "graded"
    """First verdict in some audience."""
    REGRADED = "regraded"
    """The verdict changed after the first."""
    UNGRADED = "ungraded"
    """What the actor said besides their vote is withdrawn. Detail: `reason` (empty) if theirs was in effect, and the
    `grades` they had given to the step."""
    CORRECTED = "corrected"
    INJECTED = "injected"
    """Shown to the agent. Detail: the `audience` through which it was found."""
    RULE_SHOWN = "rule_shown"
    """A rule entered this node's prompt. Detail: `retrieval`, `rule`, `lessons` (ids)."""
    QUERY_BUMP = "query_bump"
    """A query returned it. Detail: `from`, `to`: its salience."""
    USED = "used"
    IGNORED = "ignored"
    UNKNOWN = "unknown"
    CONTRADICTED = "contradicted"
    ARCHIVED = "archived"
    RESTORED = "restored"
    PROMOTED = "promoted"
    MERGED = "merged"
    FORGOTTEN = "forgotten"
    QUARANTINED = "quarantined"
    """Its text was flagged: it enters no prompt until a teacher releases it."""
    RELEASED = "released"
    RESTATED = "restated"
    """Its author gave it another question. Detail: `goal`, and the `flags` of that text."""
    LIMITED = "limited"
    """A promotion beyond the limit: logged, without effect."""
    SETTING_CHANGED = "setting_changed"
    """The actor changed a setting in chat; without an episode. Detail: `channel`, `name`, `before`, `after`."""
    DECIDED = "decided"
    """The actor decided whether a tool with side effects may run. Detail: `number`, `grant` (empty: it may not)."""
    ALLOWED = "allowed"
    """A tool with side effects ran, as the actor allowed. Detail: `tool`, `grant`, `basis` (an episode)."""
    JOB_RUN = "job_run"
    """The actor ran a job; without an episode. Detail: `job`."""
    PURGED = "purged"
    """The actor's decisions about this episode so far (promoted, archived, restored, released) are withdrawn. Without
    an episode: the actor purged what one person had taught; each withdrawal is an event of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One entry of the log. `detail` has JSON values only, and no person's text beyond what the episode has."""

    workspace: str
    episode_id: str
    kind: EventKind
    actor: str
    at: datetime
    source_event_id: str = ""
    """The platform's id of what caused it; a second event with the same id is dropped. Empty for internal causes."""
    detail: Mapping[str, object] = field(default_factory=dict[str, object])
    seq: int = 0
    """Position in the workspace's log; set by the store."""

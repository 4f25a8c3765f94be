"""The append-only record of everything that happened to an episode. All that changes is a fold of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class EventKind(StrEnum):
    """The words of the log."""

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
    """What the actor said of it beside their vote is taken back. Detail: `reason` (empty) if theirs stood, and the
    `grades` of the step they had given."""
    CORRECTED = "corrected"
    INJECTED = "injected"
    """Shown to the agent. Detail: `audience` it was reached through."""
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
    """Its question is another one now, in its author's words. Detail: `goal`, and `flags` of these words."""
    LIMITED = "limited"
    """Somebody promoted more in the window than is allowed: kept for the record, without effect."""
    SETTING_CHANGED = "setting_changed"
    """The actor changed a setting in chat; about no episode. Detail: `channel`, `name`, `before`, `after`."""
    DECIDED = "decided"
    """The actor said whether a tool with effects may run. Detail: `number`, `grant` (empty: it may not)."""
    ALLOWED = "allowed"
    """A tool with effects ran, and the actor had let it. Detail: `tool`, `grant`, `basis` (an episode)."""
    JOB_RUN = "job_run"
    """The actor ran a job; about no episode. Detail: `job`."""
    PURGED = "purged"
    """What the actor decided about this episode so far (promoted, archived, restored, released) is withdrawn. Without
    an episode: the actor took back everything that one person had taught; each withdrawal is an event of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One entry. `detail` holds only JSON values, and no text of a person beyond what the episode holds."""

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

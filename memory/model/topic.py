"""Topics: facts about things, each with its whole history.

A topic has named fields. A field's value is never overwritten, but gets a newer revision. A topic also has an
append-only audit trail, from which its salience and other numbers are computed.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memory.model.scope import Visibility
from memory.model.validation import require_number, require_whole


class FieldType(StrEnum):
    """The type of a field's values. An unknown word counts as `string`."""

    STRING = "string"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    DATE = "date"
    DATETIME = "datetime"
    LIST = "list"
    JSON = "json"

    @classmethod
    def of(cls, word: str) -> "FieldType":
        """The type with this name, else `string`."""
        return cls(word) if word in cls._value2member_map_ else cls.STRING


class TopicEventKind(StrEnum):
    """The kinds of entry in a topic's audit trail."""

    CREATED = "created"
    SALIENCE = "salience"
    """Detail: `from` (after decay), `to`, `reason` (`query_bump`, `forgotten`)."""
    REVISED = "revised"
    """A field got a newer value. Detail: `field`, `revision`."""
    CONFIRMED = "confirmed"
    """Somebody gave the value that was already current. Detail: `field`, `revision`."""
    LINKED = "linked"
    ARCHIVED = "archived"
    RESTORED = "restored"
    MERGED = "merged"
    """It was merged into another topic, which now stands for both. Detail: `into`."""
    SPLIT = "split"
    """The topic that it was merged into was erased, so it stands for itself again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One thing that something is known about."""

    workspace: str
    id: str
    partition: str
    """The partition of `memory.rules.audience` that says who may see it."""
    person: str
    """Who brought it up, with whom it is forgotten."""
    channel: str = ""
    """Where it was brought up; empty if unknown, and then only the partition counts."""
    visibility: Visibility = Visibility.PUBLIC
    """Who could read the channel then. `memory.rules.audience.may_meet` says who may see the topic now."""
    channel_visibility: Visibility | None = None
    """Who can read the channel now, from the store's record of it; None where there is none. Never stored with it."""
    title: str | None = None
    summary: str | None = None
    topic_kind: str | None = None
    created_at: datetime
    first_salience: float = 1.0
    """Its initial salience."""
    failed_salience: float = 0.0
    """The salience gained by failed attempts, as counted by its source."""
    salience: float = 1.0
    """Attention at `salience_at`, 0 and up; halves with disuse."""
    salience_at: datetime
    archived_at: datetime | None = None
    merged_into: str = ""
    """The topic that stands for this one; empty for one that stands for itself."""
    alias: str = ""
    """The id that its author chose, if a topic that they cannot see already had it; else empty."""
    seq: int = 0
    """Order of arrival in the workspace; set by the store."""

    def __post_init__(self) -> None:
        if not self.workspace or not self.id or not self.partition:
            raise ValueError(f"a topic needs a workspace, an id and a partition, got {self!r}")
        if self.merged_into == self.id:
            raise ValueError(f"a topic cannot be merged into itself ({self.id})")

    @property
    def public_id(self) -> str:
        """The id that its author chose."""
        return self.alias or self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicField:
    """A named property of a topic. Without revisions it only refers to another topic."""

    workspace: str
    topic_id: str
    name: str
    person: str
    field_type: FieldType = FieldType.STRING
    ref_topic_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One value of a field. Revisions are only ever added."""

    workspace: str
    topic_id: str
    name: str
    id: str
    """Chosen by the caller; unique for one person and field, so that it cannot clash with other people's ids."""
    person: str
    value: object
    """A JSON value."""
    valid_from: datetime
    provenance: str | None = None
    """Its source: `ui`, `api`, `reaction:U1`."""
    why_changed: str | None = None
    impact_expected: str | None = None
    seq: int = 0
    """Order of arrival in the workspace; set by the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLink:
    """A typed edge between two topics. No self-loops."""

    workspace: str
    from_id: str
    to_id: str
    kind: str
    person: str
    at: datetime

    def __post_init__(self) -> None:
        if self.from_id == self.to_id:
            raise ValueError(f"a topic cannot be linked to itself ({self.from_id})")


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicEvent:
    """One entry of a topic's audit trail."""

    workspace: str
    topic_id: str
    kind: TopicEventKind
    actor: str
    """Who caused it; empty for memory itself and for people who were forgotten."""
    at: datetime
    detail: Mapping[str, object] = field(default_factory=dict[str, object])
    seq: int = 0
    """Position in the workspace's trail; set by the store."""


NAMING = {TopicEventKind.LINKED: "to", TopicEventKind.MERGED: "into", TopicEventKind.RESTORED: "because"}
"""The key of the detail in which an entry of each kind names another topic."""


def names_topic(event: TopicEvent, topic_ids: Collection[str]) -> bool:
    """Whether an entry names one of these topics in its detail."""
    return event.detail.get(NAMING.get(event.kind, "")) in topic_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldPolicy:
    """The configuration of topics. Raises `InvalidInput` (a `ValueError`) for a number outside its range."""

    bump: float = 0.1
    """Salience that a topic gains each time it is returned."""
    salience_cap: float = 1e9
    """The largest salience of a topic."""
    min_similarity: float = -1.0
    """The smallest cosine that the semantic stage returns, and so reinforces. -1: no limit, as in the seed."""
    soft_limit: int = 500
    """The number of topics in a workspace from which those with little salience are archived."""
    forget_below: float = 0.05
    """The salience below which they are archived."""
    max_history: int = 500
    """How many values of one field are shown, newest first. Older ones are kept."""
    max_merges: int = 50
    """How many duplicates one pass merges."""

    def __post_init__(self) -> None:
        require_number(self.min_similarity, "min_similarity", low=-1.0, high=1.0)
        for name in ("bump", "salience_cap", "forget_below"):
            require_number(getattr(self, name), name)
        for name in ("soft_limit", "max_history", "max_merges"):
            require_whole(getattr(self, name), name)

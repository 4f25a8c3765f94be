"""What goes into the world: a new topic, more about a known one, or a new value of one field."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from memory.errors import InvalidInput
from memory.model import Audience


class Placement(StrEnum):
    """Where something new belongs."""

    NEW_TOPIC = "new_topic"
    EXTEND_TOPIC = "extend_topic"
    VERSION_FIELD = "version_field"


class _NoValue:
    """What stands for "no value": null is one."""

    def __repr__(self) -> str:
        return "NO_VALUE"


NO_VALUE: Final = _NoValue()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldInput:
    """A field, with a value or only a reference."""

    name: str
    value: object = NO_VALUE
    """A JSON value; left out, the field only refers to a topic."""
    field_type: str = "string"
    """A word of `FieldType`; others count as `string`."""
    ref_topic_id: str | None = None
    provenance: str | None = None
    why_changed: str | None = None
    impact_expected: str | None = None
    valid_from: datetime | None = None
    """Since when it holds; None: since now."""
    revision_id: str = ""
    """The caller's own id: a value with a known id is taken once. Empty: a fresh one."""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InvalidInput("a field needs a name")
        if self.valid_from is not None and self.valid_from.tzinfo is None:
            raise InvalidInput(f"valid_from of {self.name} needs a time zone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """An edge to another topic."""

    topic_id: str
    kind: str = "related"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingest:
    """One thing to remember. Raises `InvalidInput` for parts that do not fit the placement."""

    placement: Placement = Placement.NEW_TOPIC
    topic_id: str = ""
    """The topic to extend; for a new one the caller's own id, or empty for a fresh one."""
    title: str | None = None
    summary: str | None = None
    topic_kind: str | None = None
    audience: Audience = Audience.PERSONAL
    """Who may see a new topic. More about a known one is seen by whoever sees that."""
    fields: Sequence[FieldInput] = ()
    related: Sequence[Related] = ()
    salience: float = 1.0
    """The attention a new topic starts with."""
    embedding: Sequence[float] | None = None
    """Of a new topic, from the memory's own embedder; None: it is made of title and summary."""

    def __post_init__(self) -> None:
        if self.placement is not Placement.NEW_TOPIC and not self.topic_id:
            raise InvalidInput(f"{self.placement.value} needs a topic_id")
        if self.placement is Placement.VERSION_FIELD and len(self.fields) != 1:
            raise InvalidInput(f"version_field takes exactly one field, got {len(self.fields)}")
        if self.placement is Placement.VERSION_FIELD and self.fields[0].value is NO_VALUE:
            raise InvalidInput(f"version_field needs a value for {self.fields[0].name}")
        if not 0 <= self.salience < float("inf"):
            raise InvalidInput(f"salience must be 0 or more, got {self.salience}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What became of it."""

    topic_id: str
    """The topic that holds it now; another than the one asked for if the two were found to be the same."""
    revised: tuple[str, ...] = ()
    """Fields that got a value."""
    confirmed: tuple[str, ...] = ()
    """Fields that had this value already."""
    linked: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """Topics of `related` that do not exist for this person, or are the topic itself: no edge was made."""
    merged: tuple[tuple[str, str], ...] = ()
    """(duplicate, survivor) of topics found to be the same."""
    similar: tuple[str, ...] = ()
    """Up to eight other topics most like a new one, best first."""

"""The input of an ingest: a new topic, more about a known one, or a new value of one field."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from memory.errors import InvalidInput
from memory.model import Audience, is_in_calendar
from memory.model.validation import (
    require_embedding,
    require_instance,
    require_instances,
    require_json,
    require_member,
    require_number,
    require_text,
)


class Placement(StrEnum):
    """What an ingest adds to."""

    NEW_TOPIC = "new_topic"
    EXTEND_TOPIC = "extend_topic"
    VERSION_FIELD = "version_field"


class _NoValue:
    """The type of the marker for "no value", because null is a value."""

    def __repr__(self) -> str:
        return "NO_VALUE"


NO_VALUE: Final = _NoValue()


def _check_texts(record: object, *names: str, or_none: bool = False) -> None:
    for name in names:
        value = getattr(record, name)
        if value is not None or not or_none:
            require_text(value, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldInput:
    """A field, with a value or only a reference."""

    name: str
    value: object = NO_VALUE
    """A JSON value; if left out, the field only refers to a topic."""
    field_type: str = "string"
    """A value of `FieldType`; other words count as `string`."""
    ref_topic_id: str | None = None
    provenance: str | None = None
    why_changed: str | None = None
    impact_expected: str | None = None
    valid_from: datetime | None = None
    """Since when it is valid, now or later; None: since now."""
    revision_id: str = ""
    """The caller's id of the value, which is stored only once. Empty: a new id."""

    def __post_init__(self) -> None:
        if not require_text(self.name, "the name of a field").strip():
            raise InvalidInput("a field needs a name")
        _check_texts(self, "field_type", "revision_id")
        _check_texts(self, "ref_topic_id", "provenance", "why_changed", "impact_expected", or_none=True)
        if self.value is not NO_VALUE:
            require_json(self.value, f"the value of {self.name}")
        if self.valid_from is not None:
            require_instance(datetime, self.valid_from, f"valid_from of {self.name}")
        if self.valid_from is not None and self.valid_from.tzinfo is None:
            raise InvalidInput(f"valid_from of {self.name} needs a time zone")
        if self.valid_from is not None and not is_in_calendar(self.valid_from):
            raise InvalidInput(f"valid_from of {self.name} is outside the years 1 to 9999 in UTC; give another date")


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """An edge to another topic."""

    topic_id: str
    kind: str = "related"

    def __post_init__(self) -> None:
        _check_texts(self, "topic_id", "kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingest:
    """One thing to remember. Raises `InvalidInput` for parts that do not fit the placement."""

    placement: Placement = Placement.NEW_TOPIC
    topic_id: str = ""
    """The topic to extend; for a new topic the caller's id, or empty for a new id."""
    title: str | None = None
    summary: str | None = None
    topic_kind: str | None = None
    audience: Audience = Audience.PERSONAL
    """Who may see a new topic. Additions to a known one are visible to those who see that."""
    fields: Sequence[FieldInput] = ()
    related: Sequence[Related] = ()
    salience: float = 1.0
    """The initial salience of a new topic."""
    embedding: Sequence[float] | None = None
    """The embedding of a new topic, by memory's embedder; None: computed from title and summary."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "placement", require_member(Placement, self.placement, "placement"))
        object.__setattr__(self, "audience", require_member(Audience, self.audience, "audience"))
        object.__setattr__(self, "fields", require_instances(FieldInput, self.fields, "fields"))
        object.__setattr__(self, "related", require_instances(Related, self.related, "related"))
        _check_texts(self, "topic_id")
        _check_texts(self, "title", "summary", "topic_kind", or_none=True)
        require_number(self.salience, "salience")
        if self.embedding is not None:
            object.__setattr__(self, "embedding", require_embedding(self.embedding, "the embedding of a topic"))
        self._check_placement()

    def _check_placement(self) -> None:
        """Check that everything the placement needs is given, and nothing that it would ignore."""
        name = self.placement.value
        if self.placement is Placement.NEW_TOPIC:
            if not (self.topic_id or self.title or self.summary or self.fields or self.related or self.embedding):
                raise InvalidInput("new_topic needs something to be found by: a topic_id, a title, a summary, a field")
            return
        if not self.topic_id:
            raise InvalidInput(f"{name} needs a topic_id")
        unwanted = [each for each in ("title", "summary", "topic_kind", "embedding") if getattr(self, each) is not None]
        if unwanted:
            raise InvalidInput(f"{name} leaves the {unwanted[0]} of topic {self.topic_id} as it is; leave it out")
        if self.placement is Placement.EXTEND_TOPIC and not self.fields and not self.related:
            raise InvalidInput(f"extend_topic needs fields or related topics for {self.topic_id}")
        if self.placement is Placement.VERSION_FIELD and len(self.fields) != 1:
            raise InvalidInput(f"version_field takes exactly one field, got {len(self.fields)}")
        if self.placement is Placement.VERSION_FIELD and self.fields[0].value is NO_VALUE:
            raise InvalidInput(f"version_field needs a value for {self.fields[0].name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestResult:
    """The result of an ingest."""

    topic_id: str
    """The topic that has it now; another than the given one if the two were found to be the same."""
    revised: tuple[str, ...] = ()
    """Fields that got a value."""
    confirmed: tuple[str, ...] = ()
    """Fields that had this value already."""
    linked: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """The topics of `related` that are not visible to this person, or are the topic itself: no edge was made."""
    merged: tuple[tuple[str, str], ...] = ()
    """(duplicate, survivor) of topics found to be the same."""
    similar: tuple[str, ...] = ()
    """Up to eight other topics most similar to a new one, best first."""

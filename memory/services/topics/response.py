"""What a query answers: bundles of topics, and a short summary in words."""

from dataclasses import dataclass
from datetime import UTC, datetime

from memory.model.topic import FieldType

SUMMARY_LINES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value of a field, with where it is known from."""

    id: str
    value: object
    valid_from: datetime
    provenance: str | None
    why_changed: str | None
    impact_expected: str | None

    def as_dict(self) -> dict[str, object]:
        """As JSON values."""
        return {
            "id": self.id,
            "value": self.value,
            "valid_from": self.valid_from.astimezone(UTC).isoformat(),
            "provenance": self.provenance,
            "why_changed": self.why_changed,
            "impact_expected": self.impact_expected,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldBundle:
    """A field with the values the query asked for, newest first."""

    name: str
    field_type: FieldType
    ref_topic_id: str | None
    current: Value | None
    """The value that holds; None while every value holds from a later moment on."""
    history: tuple[Value, ...]
    """Never empty. The current value alone unless the query wanted the whole history; then what is planned too."""

    def as_dict(self) -> dict[str, object]:
        """As JSON values."""
        return {
            "name": self.name,
            "field_type": self.field_type.value,
            "ref_topic_id": self.ref_topic_id,
            "current": self.current.as_dict() if self.current is not None else None,
            "history": [value.as_dict() for value in self.history],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """One topic with what the stages added to it."""

    topic_id: str
    title: str | None
    summary: str | None
    topic_kind: str | None
    salience: float
    """Before this query raised it."""
    failed_salience: float
    neighbors: tuple[tuple[str, str | None], ...]
    """(id, title) of each linked topic, by id."""
    fields: tuple[FieldBundle, ...]
    similarity: float | None
    """Cosine to the query, -1..1; None when the semantic stage did not choose the topic."""

    def as_dict(self) -> dict[str, object]:
        """As JSON values."""
        return {
            "topic_id": self.topic_id,
            "title": self.title,
            "summary": self.summary,
            "topic_kind": self.topic_kind,
            "salience": self.salience,
            "failed_salience": self.failed_salience,
            "neighbors": [{"id": topic_id, "title": title} for topic_id, title in self.neighbors],
            "fields": [field.as_dict() for field in self.fields],
            "similarity": self.similarity,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResponse:
    """The answer to one query."""

    query: str
    candidates: tuple[Bundle, ...]

    @property
    def summary_text(self) -> str:
        """One line for each of the first five topics. Titles are quoted, so that no title can end its line."""
        lines = [f"- {each.topic_id} {each.title!r} sim={each.similarity}" for each in self.candidates[:SUMMARY_LINES]]
        return "\n".join([f"Top topics for {self.query!r}:", *lines])

    def as_dict(self) -> dict[str, object]:
        """The body of the seed's response."""
        return {
            "query": self.query,
            "candidates": [candidate.as_dict() for candidate in self.candidates],
            "summary_text": self.summary_text,
        }

"""The request and response of a query, as in `POST /v1/query`."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum

from memory.errors import InvalidInput
from memory.model.topic import FieldType
from memory.model.validation import (
    require_bool,
    require_member,
    require_text,
    require_texts,
    require_whole,
    shown_value,
)

MAX_TOP_K = 100
SUMMARY_LINES = 5


class Stage(StrEnum):
    """The stages of a query; any of them can be left out."""

    SEMANTIC = "semantic"
    STRUCTURAL = "structural"
    TEMPORAL = "temporal"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRequest:
    """One query. Order and repetition of `stages` do not matter; none at all is allowed.

    Raises `InvalidInput` for a field of another type, a `top_k` outside 0..100, or a stage there is none of.
    """

    q: str
    stages: frozenset[Stage] = frozenset(Stage)
    explain: bool = False
    """Whether the temporal stage returns whole histories."""
    top_k: int = 8
    topic_ids: tuple[str, ...] | None = None
    """Only these topics; None: no such list. An empty one allows nothing."""
    field_names: tuple[str, ...] | None = None
    """Only these fields, in this order; None or empty: all, by name."""
    reinforce: bool = True
    """Whether returned topics gain salience, as in the seed. Off for administrators who only look."""

    def __post_init__(self) -> None:
        require_text(self.q, "q")
        require_whole(self.top_k, "top_k", high=MAX_TOP_K)
        require_bool(self.explain, "explain")
        require_bool(self.reinforce, "reinforce")
        object.__setattr__(self, "stages", _stages(self.stages))
        object.__setattr__(self, "topic_ids", _optional_texts(self.topic_ids, "topic_ids"))
        object.__setattr__(self, "field_names", _optional_texts(self.field_names, "field_names"))

    @classmethod
    def from_json(cls, body: object) -> "QueryRequest":
        """The request in a decoded JSON body. Unknown keys are ignored.

        Numbers and truth values may be given as text (`"2"`, `"true"`), as the seed's server takes them.
        Raises `InvalidInput`, naming the field.
        """
        if not isinstance(body, Mapping):
            raise InvalidInput("the query must be a JSON object with the field q")
        if "q" not in body:
            raise InvalidInput("q is required: the text to look for, which may be empty")
        return cls(
            q=require_text(body["q"], "q"),
            stages=frozenset(Stage) if "stages" not in body else _stages(body["stages"]),
            explain=_truth(body.get("explain", False), "explain"),
            top_k=_whole(body.get("top_k", 8), "top_k"),
            topic_ids=_optional_texts(body.get("topic_ids"), "topic_ids"),
            field_names=_optional_texts(body.get("field_names"), "field_names"),
            reinforce=_truth(body.get("reinforce", True), "reinforce"),
        )


def _optional_texts(value: object, name: str) -> tuple[str, ...] | None:
    return None if value is None else require_texts(value, name)


def _stages(value: object) -> frozenset[Stage]:
    return frozenset(require_member(Stage, each, "each of stages") for each in require_texts(value, "stages"))


_TRUTHS: dict[object, bool] = {
    word: answer
    for answer, words in {
        True: ("true", "t", "yes", "y", "on", "1"),
        False: ("false", "f", "no", "n", "off", "0"),
    }.items()
    for word in words
}


def _truth(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return value
    word = str(int(value)) if isinstance(value, int | float) and value in (0, 1) else value
    answer = _TRUTHS.get(word.lower()) if isinstance(word, str) else None
    if answer is None:
        raise InvalidInput(f"{name} must be true or false, got {shown_value(value)}")
    return answer


def _whole(value: object, name: str) -> int:
    if isinstance(value, str) and value.strip().lstrip("+-").isdecimal():
        try:
            return int(value)
        except ValueError:  # two signs, or more digits than Python reads
            raise InvalidInput(f"{name} must be a whole number") from None
    if isinstance(value, int | float) and value == value // 1 and abs(value) < 2**63:
        return int(value)
    raise InvalidInput(f"{name} must be a whole number, got {shown_value(value)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value of a field, with its source."""

    id: str
    value: object
    valid_from: datetime
    provenance: str | None
    why_changed: str | None
    impact_expected: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldBundle:
    """A field with the values the query asked for, newest first."""

    name: str
    field_type: FieldType
    ref_topic_id: str | None
    current: Value | None
    """The current value; None while all values are valid only from a later time on."""
    history: tuple[Value, ...]
    """Never empty. Only the current value, unless the query asked for the history, which includes future values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """One topic with what the stages added to it."""

    topic_id: str
    title: str | None
    summary: str | None
    topic_kind: str | None
    salience: float
    """The salience before this query raised it."""
    failed_salience: float
    neighbors: tuple[tuple[str, str | None], ...]
    """(id, title) of each linked topic, by id."""
    fields: tuple[FieldBundle, ...]
    similarity: float | None
    """Cosine to the query, -1..1; None when the semantic stage did not choose the topic."""


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
            "candidates": [
                _as_dict(bundle)
                | {
                    "neighbors": [{"id": topic_id, "title": title} for topic_id, title in bundle.neighbors],
                    "fields": [
                        _as_dict(field)
                        | {
                            "field_type": field.field_type.value,
                            "current": _value(field.current) if field.current is not None else None,
                            "history": [_value(value) for value in field.history],
                        }
                        for field in bundle.fields
                    ],
                }
                for bundle in self.candidates
            ],
            "summary_text": self.summary_text,
        }


def _as_dict(part: Value | FieldBundle | Bundle) -> dict[str, object]:
    return {field.name: getattr(part, field.name) for field in fields(part)}


def _value(value: Value) -> dict[str, object]:
    return _as_dict(value) | {"valid_from": value.valid_from.astimezone(UTC).isoformat()}

"""What a query asks for: the fields of `POST /v1/query` with the seed's defaults, checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from memory.errors import InvalidInput

MAX_TOP_K = 100


class Stage(StrEnum):
    """The modes of retrieval; any of them can be left out."""

    SEMANTIC = "semantic"
    STRUCTURAL = "structural"
    TEMPORAL = "temporal"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRequest:
    """One query. Order and repetition of `stages` do not matter; none at all is allowed.

    Raises `InvalidInput` for a `top_k` outside 0..100.
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
    """Whether reading raises salience, as the seed has it. An administrator who only looks says no."""

    def __post_init__(self) -> None:
        if not 0 <= self.top_k <= MAX_TOP_K:
            raise InvalidInput(f"top_k must be from 0 to {MAX_TOP_K}, got {self.top_k}")

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
        allowed = _texts(body.get("topic_ids"), "topic_ids")
        names = _texts(body.get("field_names"), "field_names")
        return cls(
            q=_text(body["q"], "q"),
            stages=frozenset(Stage) if "stages" not in body else _stages(body["stages"]),
            explain=_truth(body.get("explain", False), "explain"),
            top_k=_whole(body.get("top_k", 8), "top_k"),
            topic_ids=allowed,
            field_names=names,
            reinforce=_truth(body.get("reinforce", True), "reinforce"),
        )


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text, got {_kind(value)}")
    return value


def _texts(value: object, name: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"{name} must be a list of texts, got {_kind(value)}")
    return tuple(_text(each, f"each of {name}") for each in value)


def _stages(value: object) -> frozenset[Stage]:
    known = {stage.value for stage in Stage}
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) and each in known for each in value):
        raise InvalidInput(f"stages must be a list of {', '.join(sorted(known))}")
    return frozenset(map(Stage, value))


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
        raise InvalidInput(f"{name} must be true or false, got {_kind(value)}")
    return answer


def _whole(value: object, name: str) -> int:
    if isinstance(value, str) and value.strip().lstrip("+-").isdecimal():
        try:
            return int(value)
        except ValueError:  # two signs, or more digits than Python reads
            raise InvalidInput(f"{name} must be a whole number") from None
    if isinstance(value, int | float) and value == value // 1 and abs(value) < 2**63:
        return int(value)
    raise InvalidInput(f"{name} must be a whole number, got {_kind(value)}")


def _kind(value: object) -> str:
    return "nothing" if value is None else type(value).__name__

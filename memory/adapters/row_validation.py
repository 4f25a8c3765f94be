"""Validation of what stores accept: text that any database can keep, finite numbers, aware times, JSON values."""

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from memory.errors import InvalidInput
from memory.model import Event, RetrievalItem, TrustEvidence, Vote, is_in_calendar
from memory.model.topic import TopicEvent

if TYPE_CHECKING:
    from memory.model import Vector

T = TypeVar("T")
S = TypeVar("S", bound=Sequence[object])

_BIGGEST = 2**63
_TEXT = frozenset({str})
_MANY = 8
"""From this many values on they are checked together."""


def require_storable(value: T) -> T:
    """The value itself if every part of it can be stored.

    Raises `InvalidInput` for text with a NUL or a lone surrogate (PostgreSQL takes neither, SQLite no surrogates) and
    for a time that in UTC is outside the years 1 to 9999; `ValueError` / `TypeError` for programming errors: naive
    times, NaN, integers above 64 bits, other types.
    """
    texts: list[str] = []
    if not (_has_only_texts_to_check(value, texts) and _is_storable("".join(texts))):
        _check(value, type(value).__name__)
    return value


def require_all_storable(values: S) -> S:
    """The values themselves if each can be stored. Values of one type are checked together, which halves the time."""
    texts: list[str] = []
    if len(values) < _MANY or not (_have_only_texts_to_check(values, texts) and _is_storable("".join(texts))):
        for each in values:
            require_storable(each)
    return values


def _has_only_texts_to_check(value: object, texts: list[str]) -> bool:
    """Whether a value can be stored if its texts, which are added to `texts`, can. False if it needs `_check`.

    Nearly all values pass here; `_check`, which can say which part is wrong, takes three times as long.
    """
    parts = _values(value)
    if parts is None:
        return False
    for each in parts:
        kind = type(each)
        if kind is str:
            texts.append(each)
        elif each is None or (kind is tuple and not each):
            continue
        elif simple := _SIMPLE.get(kind):
            if not simple(each):
                return False
        elif isinstance(each, str):
            texts.append(each)
        elif not _has_only_texts_to_check(each, texts):
            return False
    return True


def _have_only_texts_to_check(values: Collection[Any], texts: list[str]) -> bool:
    """`_has_only_texts_to_check` of many values, type by type."""
    kinds = set(map(type, values))
    if len(kinds) == 1:
        return _are_texts_to_check(kinds.pop(), values, texts)
    return all(_are_texts_to_check(kind, [each for each in values if type(each) is kind], texts) for kind in kinds)


def _are_texts_to_check(kind: type, values: Collection[Any], texts: list[str]) -> bool:
    """`_has_only_texts_to_check` of many values of one type."""
    if simple := _SIMPLE.get(kind):
        return all(map(simple, values))
    if getter := _getter(kind):
        return all(_have_only_texts_to_check(column, texts) for column in zip(*map(getter, values), strict=True))
    if issubclass(kind, str):
        texts.extend(values)
        return True
    every: list[Any] = []
    for value in values:
        parts = () if value is None else _values(value)
        if parts is None:
            return False
        every.extend(parts)
    return _have_only_texts_to_check(every, texts)


_SIMPLE: dict[type, Callable[[Any], bool]] = {
    bool: lambda _: True,
    int: lambda value: -_BIGGEST <= value < _BIGGEST,
    float: math.isfinite,
    datetime: lambda value: value.tzinfo is UTC or (value.tzinfo is not None and is_in_calendar(value)),
}
"""By type: whether a value without parts can be stored."""


def _values(value: Any) -> Iterable[Any] | None:  # noqa: ANN401 - of any kind
    """The parts of a tuple, a list, a dict with text keys, or a dataclass of two or more fields; else None."""
    kind: type = type(value)
    if kind is tuple or kind is list:
        return cast("Iterable[Any]", value)
    if kind is dict:
        return (*value, *value.values()) if _TEXT.issuperset(map(type, value)) else None
    getter = _getter(kind)
    return getter(value) if getter else None


@cache
def _getter(kind: type) -> Callable[[Any], Iterable[Any]] | None:
    names = field_names(kind)
    return attrgetter(*names) if len(names) > 1 else None


def _is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _check(value: object, where: str, part: str = "") -> None:
    """Raise as `require_storable` does if something is wrong; `part` names the value within `where`."""
    where = f"{where}.{part}" if part else where
    match value:
        case None:
            pass
        case str():
            _check_text(value, where)
        case int():  # and bool
            if not -_BIGGEST <= value < _BIGGEST:
                raise ValueError(f"{where} does not fit 64 bits")
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{where} must be a finite number, got {value}")
        case datetime():
            _check_time(value, where)
        case _:
            for name, each in _parts(value, where):
                _check(each, where, name)


def _parts(value: object, where: str) -> Iterable[tuple[str, Any]]:
    """The parts of a value with their names; items of a list have empty names."""
    kind: type = type(value)
    if names := field_names(kind):
        return [(name, getattr(value, name)) for name in names]
    match value:
        case Mapping():
            return list(_items(value, where))
        case list() | tuple():
            return [("", item) for item in value]
        case _:
            raise TypeError(f"{where} cannot be stored: {kind.__name__}")


def _items(value: Mapping[object, Any], where: str) -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"{where} must have text keys, got {key!r}")
        _check_text(key, where)
        yield key, item


@cache
def field_names(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass; empty for other types. Cached, as `fields` takes longer than all the rest."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def _check_time(moment: datetime, where: str) -> None:
    if moment.tzinfo is None:
        raise ValueError(f"{where} must be an aware time (UTC), got {moment!r}")
    if moment.tzinfo is not UTC and not is_in_calendar(moment):
        raise InvalidInput(f"{where} is {moment.isoformat()}, outside the years 1 to 9999 in UTC; give another date.")


def _check_text(text: str, where: str) -> None:
    if "\0" in text:
        raise InvalidInput(f"{where} contains a NUL character, which cannot be stored; remove it and try again.")
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise InvalidInput(f"{where} contains half a character (a lone surrogate); remove it and try again.") from exc


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
"""Shared, as `json.dumps` makes a new encoder for each value."""


def to_json(value: object) -> str:
    """Compact JSON. Raises `ValueError` or `TypeError` for a value that JSON cannot express."""
    if not value and type(value) in (list, dict):
        return "[]" if type(value) is list else "{}"
    return _ENCODER.encode(value)


def half(vector: "Vector") -> "Vector":
    """The vector as it is read back from the store: rounded to float16, as read-only float32. Shape (dimension,).

    Raises `ValueError` unless it is one non-empty row of finite numbers.
    """
    return halves([vector])[0]


def halves(vectors: Sequence["Vector"]) -> Sequence["Vector"]:
    """`half` of several vectors with the same dimension."""
    rounded = np.asarray(vectors, dtype="<f2").astype(np.float32)
    if vectors and (rounded.ndim != 2 or rounded.size == 0 or not np.isfinite(rounded).all()):
        raise ValueError(f"a vector is one row of finite numbers, got shape {rounded.shape[1:]}")
    rounded.setflags(write=False)
    return list(rounded)


def exact(vector: "Vector") -> bytes:
    """The vector as bytes without rounding: little-endian float64, 8 bytes per dimension.

    Raises `ValueError` unless it is one non-empty row of finite numbers.
    """
    row = np.asarray(vector, dtype="<f8")
    if row.ndim != 1 or row.size == 0 or not np.isfinite(row).all():
        raise ValueError(f"a vector is one row of finite numbers, got shape {row.shape}")
    return row.tobytes()


def check_of_run(workspace: str, run_id: str, given: Sequence[Vote] | Sequence[TrustEvidence]) -> None:
    """Raises `ValueError` for entries of another run, or two entries of one person on one node."""
    require_storable(tuple(given))
    if any((each.workspace, each.run_id) != (workspace, run_id) for each in given):
        raise ValueError(f"votes or evidence of another run given for {workspace}/{run_id}")
    if len({(each.node_id, each.actor) for each in given}) < len(given):
        raise ValueError(f"two entries of one person on one node of {workspace}/{run_id}")


def check_items(workspace: str, retrieval_id: str, items: Sequence[RetrievalItem]) -> None:
    """Raises `ValueError` for an item of another retrieval, or two items of one episode."""
    require_storable(tuple(items))
    if any((item.workspace, item.retrieval_id) != (workspace, retrieval_id) for item in items):
        raise ValueError(f"items of another retrieval given for {workspace}/{retrieval_id}")
    if len({item.episode_id for item in items}) < len(items):
        raise ValueError(f"one episode twice in retrieval {workspace}/{retrieval_id}")


def one_workspace(events: Sequence[Event] | Sequence[TopicEvent]) -> str:
    """The workspace of one or more events. Raises `ValueError` if they have different ones."""
    workspace = events[0].workspace
    if any(event.workspace != workspace for event in events):
        raise ValueError("events of several workspaces are appended workspace by workspace")
    return workspace


def claim_key(workspace: str, source_event_id: str) -> str:
    """A digest of a handled event's id, which may name a person, to recognise it by. 32 hexadecimal digits."""
    return blake2b(f"{workspace}\0{source_event_id}".encode(), digest_size=16).hexdigest()


def chunks(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """The values in lists of at most `size`: databases limit the number of parameters of a statement."""
    rest = iter(values)
    while chunk := list(islice(rest, size)):
        yield chunk

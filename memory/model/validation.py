"""Validation of the arguments of the public interface. Each check returns the value or raises `InvalidInput`."""

import math
import sys
from collections.abc import Iterable, Mapping
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta
from enum import StrEnum
from typing import TypeVar

from memory.errors import InvalidInput

T = TypeVar("T")
W = TypeVar("W", bound=StrEnum)

DEEPEST = 50
"""The most levels of lists and objects in one JSON value."""
_BIGGEST = 2**63
_SHOWN_CHARACTERS = 60
_TEXT = frozenset({str})
_SIMPLE = frozenset({str, bool, type(None)})
"""Types whose values need no further check."""

_CENTURY = timedelta(days=36_525)
_EXACT = 2**53
"""The bound of the whole numbers that a float represents exactly; larger ones must also fit into 64 bits."""


def require_text(value: object, name: str) -> str:
    """A text, empty or not."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text, got {shown_value(value)}")
    return value


def require_texts(value: object, name: str) -> tuple[str, ...]:
    """A list, tuple or set of texts; a single text is rejected."""
    if not isinstance(value, list | tuple | set | frozenset):
        raise InvalidInput(f"{name} must be a list of texts, got {shown_value(value)}")
    return tuple(require_text(each, f"each of {name}") for each in value)


def require_bool(value: object, name: str) -> bool:
    """A bool; words and numbers are rejected."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be true or false, got {shown_value(value)}")
    return value


def require_whole(value: object, name: str, *, low: int = 0, high: int = _BIGGEST - 1) -> int:
    """A whole number within these bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        bounds = f"from {low} to {high}" if high < _BIGGEST - 1 else f"of {low} or more"
        raise InvalidInput(f"{name} must be a whole number {bounds}, got {shown_value(value)}")
    return value


def require_integer(value: object, name: str) -> int:
    """A whole number of at most 64 bits, negative or not."""
    if isinstance(value, bool) or not isinstance(value, int) or not -_BIGGEST <= value < _BIGGEST:
        raise InvalidInput(f"{name} must be a whole number of at most 64 bits, got {shown_value(value)}")
    return value


def require_from_one(value: object, what: str) -> int:
    """A whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < _BIGGEST:
        raise InvalidInput(f"{what} are counted from 1, got {shown_value(value)}")
    return value


def require_number(value: object, name: str, *, low: float = 0.0, high: float = math.inf) -> float:
    """A finite number within these bounds."""
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and low <= value <= high
        and abs(value) <= sys.float_info.max
    ):
        return float(value) if abs(value) >= _EXACT else value
    bounds = f" from {low:g} to {high:g}" if high < math.inf else f" of {low:g} or more" if low > -math.inf else ""
    raise InvalidInput(f"{name} must be a{'' if bounds else ' finite'} number{bounds}, got {shown_value(value)}")


def require_member(kind: type[W], value: object, name: str) -> W:
    """A member of this enumeration, or its value as text."""
    if not isinstance(value, str) or value not in kind._value2member_map_:
        raise InvalidInput(f"{name} must be one of {', '.join(kind)}, got {shown_value(value)}")
    return kind(value)


def require_instance(kind: type[T], value: object, name: str) -> T:
    """An instance of this class."""
    if not isinstance(value, kind):
        raise InvalidInput(f"{name} must be {_with_article(kind.__name__)}, got {shown_value(value)}")
    return value


def require_instances(kind: type[T], value: object, name: str) -> tuple[T, ...]:
    """A list or tuple of instances of this class."""
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"{name} must be a list of {kind.__name__}, got {shown_value(value)}")
    return tuple(require_instance(kind, each, f"each of {name}") for each in value)


def require_lifetime(value: object, name: str) -> timedelta:
    """A duration above zero, of at most a century."""
    if not isinstance(value, timedelta) or not timedelta(0) < value <= _CENTURY:
        raise InvalidInput(f"{name} must be a time above zero, of a century at most, got {shown_value(value)}")
    return value


def is_in_calendar(moment: datetime) -> bool:
    """Whether an aware time is representable in UTC, which may fail near the ends of the calendar."""
    if MINYEAR < moment.year < MAXYEAR:
        return True
    try:
        moment.astimezone(UTC)
    except OverflowError:
        return False
    return True


def require_embedding(value: object, name: str) -> tuple[float, ...]:
    """A vector: one row of finite numbers. All zeros, for a text without content, is similar to nothing."""
    wrong = InvalidInput(f"{name} must be one row of finite numbers, at least one; leave it out to have it made")
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise wrong
    try:
        row = tuple(float(each) for each in value)
    except (TypeError, ValueError, OverflowError) as exc:
        raise wrong from exc
    if not row or not all(map(math.isfinite, row)):
        raise wrong
    return row


def require_json(value: T, name: str) -> T:
    """A value that can be written as JSON, at most `DEEPEST` levels deep."""
    level: list[object] = [value]
    for _ in range(DEEPEST):
        level = [part for each in level for part in _parts(each, name) if type(part) not in _SIMPLE]
        if not level:
            return value
    raise InvalidInput(f"{name} is nested more than {DEEPEST} levels deep; store it as a text or in parts")


def require_mapping(value: object, name: str) -> Mapping[object, object]:
    """A mapping."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must be a mapping, got {shown_value(value)}")
    return value


def _parts(value: object, name: str) -> Iterable[object]:
    """The parts of a JSON value."""
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, Mapping):
        if not _TEXT.issuperset(map(type, value)):
            for key in value:
                require_text(key, f"each key of {name}")
        return value.values()
    if isinstance(value, int) and not isinstance(value, bool):
        require_integer(value, f"each number of {name}")
    elif isinstance(value, float):
        require_number(value, f"each number of {name}", low=-math.inf)
    elif not (value is None or isinstance(value, str | bool)):
        raise InvalidInput(f"{name} must hold JSON values only, got {shown_value(value)}")
    return ()


def shown_value(value: object) -> str:
    """A value for an error message: short values as they are, others by their type."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _BIGGEST:
        return "a number of more than 64 bits"
    if value is None or isinstance(value, str | bool | int | float | timedelta):
        written = repr(value)
        return written if len(written) <= _SHOWN_CHARACTERS else f"{written[: _SHOWN_CHARACTERS - 1]}…"
    return _with_article(type(value).__name__)


def _with_article(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiouAEIO' else 'a'} {name}"

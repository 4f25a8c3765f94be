"""How values of the model are written in columns that every database has: text, whole numbers and bytes."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from sqlalchemy import BigInteger, Dialect, LargeBinary, String, Text
from sqlalchemy.types import TypeDecorator

from memory.adapters.row_validation import to_json
from memory.model import EnvironmentState, Step, StepKind

if TYPE_CHECKING:
    from memory.model import Vector

E = TypeVar("E", bound=Enum)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EARLIEST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LATEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_DAY = timedelta(days=1) // _MICROSECOND
_NOTHING = ("[]", "{}")
"""Most lists are empty; not parsing them is a good part of reading an episode."""


class Moment(TypeDecorator[datetime]):
    """An aware time as whole microseconds since 1970 UTC: exact, sorted, and the same in every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else self.of_stored(value)

    @staticmethod
    def of_stored(value: int) -> datetime:
        """The time that is stored as this number."""
        # Earlier versions took times whose date is outside the calendar in UTC: by no more than a time zone.
        if _LATEST < value <= _LATEST + _DAY:
            return datetime.max.replace(tzinfo=UTC)
        if _EARLIEST - _DAY <= value < _EARLIEST:
            return datetime.min.replace(tzinfo=UTC)
        return _EPOCH + timedelta(microseconds=value)


class Word(TypeDecorator[E], Generic[E]):
    """A member of an enumeration as its value."""

    impl = String
    cache_ok = True

    def __init__(self, enumeration: type[E]) -> None:
        super().__init__()
        self.enumeration = enumeration
        self._members: dict[str, E] = {str(member.value): member for member in enumeration}

    def process_bind_param(self, value: E | None, dialect: Dialect) -> str | None:
        return None if value is None else str(value.value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> E | None:
        return None if value is None else self._members[value]


class TextTuple(TypeDecorator[tuple[str, ...]]):
    """Several texts as a JSON list."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: Dialect) -> str:
        return to_json(list(value or ()))

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...]:
        return () if value is None or value in _NOTHING else _texts(json.loads(value))


class JsonObject(TypeDecorator[Mapping[str, Any]]):
    """A mapping of JSON values as JSON."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Mapping[str, Any] | None, dialect: Dialect) -> str:
        return to_json(dict(value or {}))

    def process_result_value(self, value: str | None, dialect: Dialect) -> dict[str, Any]:
        return {} if value is None or value in _NOTHING else dict(json.loads(value))


class Environment(TypeDecorator[EnvironmentState]):
    """What an agent saw as a JSON object."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: EnvironmentState | None, dialect: Dialect) -> str:
        seen = value or EnvironmentState()
        return to_json({"elements": list(seen.elements), "url": seen.url, "details": dict(seen.details)})

    def process_result_value(self, value: str | None, dialect: Dialect) -> EnvironmentState:
        return EnvironmentState(**json.loads(value or "{}"))


class Numbers(TypeDecorator[tuple[float, ...]]):
    """Numbers as a JSON list, exact to the last digit."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[float, ...] | None, dialect: Dialect) -> str:
        return to_json(list(value or ()))

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[float, ...]:
        return () if value is None or value in _NOTHING else tuple(float(number) for number in json.loads(value))


class Steps(TypeDecorator[tuple[Step, ...]]):
    """A trajectory as a JSON list of its steps, without what is empty."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[Step, ...] | None, dialect: Dialect) -> str:
        return to_json([_step_to_json(step) for step in value or ()])

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[Step, ...]:
        return () if value is None or value in _NOTHING else tuple(_step_from_json(step) for step in json.loads(value))


class HalfVector(TypeDecorator["Vector"]):
    """A vector as little-endian float16, 2 bytes per dimension: the same recall as float32 at half the size."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: "Vector | None", dialect: Dialect) -> bytes | None:
        return None if value is None else value.astype("<f2").tobytes()

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> "Vector | None":
        if value is None:
            return None
        vector = np.frombuffer(value, "<f2").astype(np.float32)
        vector.setflags(write=False)
        return vector


def _texts(loaded: object) -> tuple[str, ...]:
    if not isinstance(loaded, list) or not all(isinstance(each, str) for each in loaded):
        raise TypeError("a list of texts is needed")
    return tuple(loaded)


def _step_to_json(step: Step) -> dict[str, object]:
    whole = {
        "kind": step.kind.value,
        "text": step.text,
        "tool": step.tool,
        "arguments": dict(step.arguments),
        "flow": step.flow,
        "subgoals": list(step.subgoals),
        "is_error": step.is_error,
    }
    return {name: value for name, value in whole.items() if value}


def _step_from_json(stored: dict[str, Any]) -> Step:
    step = Step(kind=StepKind(stored.pop("kind")), subgoals=_texts(stored.pop("subgoals", [])), **stored)
    _texts([step.text, step.tool, step.flow])
    return step

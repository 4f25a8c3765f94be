"""Column types, which store the model's values as text, integers or bytes in every database."""

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np
from sqlalchemy import BigInteger, ColumnElement, Dialect, LargeBinary, cast as cast_to, null
from sqlalchemy.types import TypeDecorator, TypeEngine

from memory.adapters.row_validation import to_json
from memory.adapters.sql.tables.dialect import PROSE, SHORT
from memory.model import EnvironmentState
from memory.model.episode import step_as_json, step_from_json
from memory.model.evidence import INITIAL_THRESHOLD, BeliefRecord, EvidenceRecord, WeightRecord

if TYPE_CHECKING:
    from memory.model import Vector

E = TypeVar("E", bound=Enum)
T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EARLIEST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LATEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_DAY = timedelta(days=1) // _MICROSECOND


class _Direct(TypeDecorator[T]):
    """A type whose `to_stored` and `from_stored` SQLAlchemy calls directly.

    `TypeDecorator`'s layers in between take longer than the conversion, and an episode has some twenty such columns.
    """

    __abstract__ = True

    @abstractmethod
    def to_stored(self, value: Any) -> Any:  # noqa: ANN401 - of each type its own
        """The stored form of a value."""

    @abstractmethod
    def from_stored(self, stored: Any) -> Any:  # noqa: ANN401 - the same
        """The value of a stored form."""

    def process_bind_param(self, value: T | None, dialect: Dialect) -> Any:  # noqa: ANN401 - what the driver takes
        return self.to_stored(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> T | None:  # noqa: ANN401 - what it gives
        return cast("T | None", self.from_stored(value))

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        return self.from_stored

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        return self.to_stored


class UtcDateTime(_Direct[datetime]):
    """An aware time as integer microseconds since 1970 UTC: exact, sortable, and the same in every database."""

    impl = BigInteger
    cache_ok = True

    def to_stored(self, value: datetime | None) -> int | None:
        return None if value is None else (value - _EPOCH) // _MICROSECOND

    def from_stored(self, stored: int | None) -> datetime | None:
        return None if stored is None else self.of_stored(stored)

    @staticmethod
    def of_stored(value: int) -> datetime:
        """The time of a stored number of microseconds."""
        if not _EARLIEST <= value <= _LATEST:
            # Earlier versions accepted times that in UTC are outside the calendar, by less than a day.
            if _LATEST < value <= _LATEST + _DAY:
                return datetime.max.replace(tzinfo=UTC)
            if _EARLIEST - _DAY <= value < _EARLIEST:
                return datetime.min.replace(tzinfo=UTC)
        return _EPOCH + timedelta(0, 0, value)  # positional microseconds are faster than a keyword


class EnumText(_Direct[E], Generic[E]):
    """An enumeration's member as its value."""

    impl = SHORT
    cache_ok = True

    def __init__(self, enumeration: type[E]) -> None:
        super().__init__()
        self.enumeration = enumeration
        self._members: dict[str | None, E | None] = {str(member.value): member for member in enumeration}
        self._members[None] = None
        self._stored = {member: text for text, member in self._members.items()}

    def to_stored(self, value: E | None) -> str | None:
        return self._stored[value]

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        return self._stored.__getitem__

    def from_stored(self, stored: str | None) -> E | None:
        return self._members[stored]

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        return self._members.__getitem__


class Json(_Direct[T], Generic[T]):
    """A value as JSON text; `write` and `read` convert it to JSON values and back."""

    impl = PROSE
    cache_ok = True

    def __init__(self, write: Callable[[T], object], read: Callable[[Any], T]) -> None:
        super().__init__()
        self.write = write
        self.read = read

    def to_stored(self, value: T | None) -> str | None:
        return to_json(None if value is None else self.write(value))

    def from_stored(self, stored: str | None) -> T | None:
        # Most lists are empty; skipping the parser saves much of the time of reading an episode.
        return self.read([] if stored is None or stored == "[]" else {} if stored == "{}" else json.loads(stored))


class OptionalJson(Json[T | None]):
    """A nullable `Json`."""

    cache_ok = True

    def to_stored(self, value: T | None) -> str | None:
        return None if value is None else super().to_stored(value)

    def from_stored(self, stored: str | None) -> T | None:
        return None if stored is None else super().from_stored(stored)


class HalfVector(_Direct["Vector"]):
    """A vector as little-endian float16, 2 bytes per dimension: half the size of float32, with the same recall."""

    impl = LargeBinary
    cache_ok = True

    def to_stored(self, value: "Vector | None") -> bytes | None:
        return None if value is None else value.astype("<f2").tobytes()

    def from_stored(self, stored: bytes | None) -> "Vector | None":
        if stored is None:
            return None
        vector = np.frombuffer(stored, "<f2").astype(np.float32)
        vector.setflags(write=False)
        return vector


def _texts(loaded: object) -> tuple[str, ...]:
    if loaded == []:
        return ()
    if not isinstance(loaded, list) or not set(map(type, loaded)) <= {str}:
        raise TypeError("a list of texts is needed")
    return tuple(loaded)


def _environment_to_json(seen: EnvironmentState) -> dict[str, object]:
    return {"elements": list(seen.elements), "url": seen.url, "details": dict(seen.details)}


def _evidence_to_json(kept: EvidenceRecord | None) -> object:
    return kept and {
        "nearest": kept.nearest,
        "lessons": kept.lessons,
        "threshold": kept.threshold,
        "is_followed": kept.is_followed,
        "beliefs": [
            {
                "action": belief.action,
                "value": belief.value,
                "prior": belief.prior,
                "weights": [[each.episode_id, each.weight, each.effect, each.approves] for each in belief.weights],
            }
            for belief in kept.beliefs
        ],
    }


def _evidence_from_json(stored: dict[str, Any]) -> EvidenceRecord:
    beliefs = [
        BeliefRecord(
            action=_text(belief.pop("action")),
            value=_number(belief.pop("value")),
            prior=_number(belief.pop("prior")),
            weights=tuple(_weight(*each) for each in belief.pop("weights")),
            **belief,
        )
        for belief in stored.pop("beliefs")
    ]
    nearest, lessons = _number(stored.pop("nearest")), stored.pop("lessons")
    threshold, is_followed = _number(stored.pop("threshold", INITIAL_THRESHOLD)), stored.pop("is_followed", False)
    if type(lessons) is not int or type(is_followed) is not bool:
        raise TypeError("a number of lessons is needed, and whether they were followed")
    return EvidenceRecord(
        beliefs=tuple(beliefs),
        nearest=nearest,
        lessons=lessons,
        threshold=threshold,
        is_followed=is_followed,
        **stored,
    )


def _weight(episode_id: object, weight: object, effect: object, approves: object) -> WeightRecord:
    if not isinstance(approves, bool):
        raise TypeError("true or false is needed")
    return WeightRecord(episode_id=_text(episode_id), weight=_number(weight), effect=_number(effect), approves=approves)


def _text(loaded: object) -> str:
    if not isinstance(loaded, str):
        raise TypeError("a text is needed")
    return loaded


def _number(loaded: object) -> float:
    if isinstance(loaded, bool) or not isinstance(loaded, int | float):
        raise TypeError("a number is needed")
    return float(loaded)


text_tuple: Json[tuple[str, ...]] = Json(list, _texts)
"""Several texts."""
numbers: Json[tuple[float, ...]] = Json(list, lambda loaded: tuple(map(float, loaded)))
"""Numbers, exact to the last digit."""
shares: Json[Mapping[str, float]] = Json(
    dict, lambda loaded: {name: _number(each) for name, each in dict(loaded).items()}
)
"""Numbers by name."""
json_object: Json[Mapping[str, Any]] = Json(dict, dict)
"""A mapping of JSON values."""
json_value: Json[object] = Json(lambda value: value, lambda loaded: loaded)
"""Any JSON value."""
environment = Json(_environment_to_json, lambda loaded: EnvironmentState(**loaded))
"""An `EnvironmentState`."""
trajectory = Json(
    lambda steps: [step_as_json(step) for step in steps], lambda loaded: tuple(map(step_from_json, loaded))
)
"""The steps of an episode, without empty fields."""
evidence: OptionalJson[EvidenceRecord] = OptionalJson(_evidence_to_json, _evidence_from_json)
"""The evidence of a recall; each weight is a list of episode id, weight, effect, and whether it approves."""


def nothing(kind: TypeEngine[Any]) -> ColumnElement[Any]:
    """NULL of this type, for a column that only another part of a compound query has."""
    return cast_to(null(), kind)

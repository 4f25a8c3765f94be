"""Reading an export back: the same values again, and into a memory without making anything twice.

What is imported belongs to the person who imports it. Its outcomes count as their own judgement, and a model's guesses
stay guesses: a file cannot bring votes of other people, or a wider audience than its reader.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from memory.adapters.row_validation import storable
from memory.errors import InvalidInput
from memory.library.export import plain
from memory.model import Episode, MemoryEntry
from memory.model.validation import json_value, shown
from memory.model.validation import text as checked_text

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")
_ENTRY_MARKS = ("internal_state", "step_num", "env_pre")
_EPISODE_CONTENT = (
    "goal", "trajectory", "output", "thoughts", "action", "action_target", "termination", "context_before",
    "context_after", "node_path", "step_number", "created_at",
)  # fmt: skip
_ENTRY_CONTENT = (
    "run_id", "step_id", "step_num", "rep", "env_pre", "internal_state", "think", "action", "action_element_text",
    "env_post", "created_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A record of an export that is no memory."""

    position: int
    """From 1."""
    reason: str


def load_export(text: str) -> list[Episode | MemoryEntry]:
    """The memories of a `json` export, equal to those that were exported. Raises `InvalidInput` for anything else."""
    memories, unreadable = read_export(text)
    if unreadable:
        first = unreadable[0]
        raise InvalidInput(f"record {first.position} of the export is no memory: {first.reason}")
    return memories


def read_export(text: str) -> tuple[list[Episode | MemoryEntry], list[Unreadable]]:
    """The memories of a `json` export and the records that are none. Raises `InvalidInput` for another format.

    Entries may use the seed's spelling (`stepNum`, `envPre`) and its times in milliseconds since 1970.
    """
    try:
        records = json.loads(checked_text(text, "an export"))
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"this is no JSON export ({exc}); make one with export_memories(memories, 'json')") from exc
    if not isinstance(records, list):
        raise InvalidInput("an export is a JSON list of memories; make one with export_memories(memories, 'json')")
    memories: list[Episode | MemoryEntry] = []
    unreadable: list[Unreadable] = []
    for position, record in enumerate(records, start=1):
        try:
            json_value(record, "it")
            memories.append(storable(_memory(record)))
        except (InvalidInput, ValueError, TypeError, OverflowError) as exc:
            unreadable.append(Unreadable(position=position, reason=str(exc)))
    return memories, unreadable


def content_hash(memory: Episode | MemoryEntry) -> str:
    """What makes two memories the same one: everything the run produced, and nothing that was said of it later.

    64 hexadecimal digits. Neither ids nor outcomes count, so a memory that was graded meanwhile is still the same.
    Raises `InvalidInput` for what is no memory.
    """
    if not isinstance(memory, Episode | MemoryEntry):
        raise InvalidInput(f"only episodes and memory entries have a content hash, got {shown(memory)}")
    names = _EPISODE_CONTENT if isinstance(memory, Episode) else _ENTRY_CONTENT
    content = {name: plain(getattr(memory, name)) for name in names}
    text = json.dumps([type(memory).__name__, content], ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _memory(record: object) -> Episode | MemoryEntry:
    if not isinstance(record, dict):
        raise TypeError(f"expected an object, got {type(record).__name__}")
    snake = {_CAMEL.sub(lambda found: f"_{found[1].lower()}", str(name)): value for name, value in record.items()}
    if any(mark in snake for mark in _ENTRY_MARKS):
        return _dataclass(MemoryEntry, snake)
    return _dataclass(Episode, snake)


@cache
def _shape(kind: type) -> dict[str, tuple[object, "Field[Any]"]]:
    hints = get_type_hints(kind)
    return {each.name: (hints[each.name], each) for each in fields(kind)}


def _decoded(hint: object, value: object) -> object:
    """A JSON value as what the type hint says. Raises `ValueError` or `TypeError` where it is not."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return None if value is None else _decoded(next(each for each in arguments if each is not type(None)), value)
    if origin is tuple:
        return tuple(_decoded(arguments[0], item) for item in _expect(value, list))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _expect(value, dict)
    if hint is datetime:
        return _moment(value)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint(_expect(value, str))
    if isinstance(hint, type) and is_dataclass(hint):
        return _dataclass(hint, value)
    return _plain(hint, value)


def _plain(hint: object, value: object) -> object:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint in (int, float, str, bool) and type(value) is not hint:
        raise TypeError(f"expected {getattr(hint, '__name__', hint)}, got {value!r}")
    return value


def _dataclass(kind: type[T], value: object) -> T:
    given = _expect(value, dict)
    plain_kind: type = kind
    shape = _shape(plain_kind)
    unknown = sorted(set(given) - set(shape))
    if unknown:
        raise ValueError(f"{kind.__name__} has no field {unknown[0]!r}")
    for name, (_, each) in shape.items():
        if name not in given and each.default is MISSING and each.default_factory is MISSING:
            raise ValueError(f"{kind.__name__} needs the field {name!r}")
    return kind(**{name: _decoded(shape[name][0], item) for name, item in given.items() if item is not None})


def _expect(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}, got {value!r}")
    return value


def _moment(value: object) -> datetime:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _EPOCH + timedelta(milliseconds=value)
    moment = datetime.fromisoformat(_expect(value, str))
    if moment.tzinfo is None:
        raise ValueError(f"the time {value} has no zone; write it as UTC")
    moment.astimezone(UTC)  # OverflowError for a time that is none in UTC, as stores keep it
    return moment

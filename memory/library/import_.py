"""Reads exports, with a content hash that recognises memories which are stored already.

Imported memories belong to the person who imports them. Their outcomes are that person's own judgement, and a model's
guesses stay guesses: a file cannot add votes of other people, or a wider audience than its importer.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from memory.adapters.row_validation import require_all_storable, require_storable
from memory.errors import InvalidInput
from memory.library.export import plain
from memory.model import Episode, MemoryEntry
from memory.model.validation import require_json, require_text as checked_text, shown_value

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")
_STRICT = ConfigDict(strict=True, extra="forbid")
_ENTRIES = TypeAdapter(list[MemoryEntry], config=_STRICT)
_EPISODES = TypeAdapter(list[Episode], config=_STRICT)
_ENTRY_MARKS = frozenset({"internal_state", "step_num", "env_pre"})
_TO_READ = json.JSONEncoder(ensure_ascii=False)
_TO_COMPARE = json.JSONEncoder(ensure_ascii=True, sort_keys=True, default=plain)
_EPISODE_CONTENT = (
    "goal", "trajectory", "output", "thoughts", "action", "action_target", "termination", "context_before",
    "context_after", "node_path", "step_number", "created_at",
)  # fmt: skip
_ENTRY_CONTENT = (
    "run_id", "step_id", "step_num", "rep", "env_pre", "internal_state", "think", "action", "action_element_text",
    "env_post", "created_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableRecord:
    """A record of an export that is no valid memory."""

    position: int
    """The record's number, from 1."""
    reason: str


def load_export(text: str) -> list[Episode | MemoryEntry]:
    """The memories of a `json` export, equal to the exported ones. Raises `InvalidInput` if any record is invalid."""
    memories, unreadable = read_export(text)
    if unreadable:
        first = unreadable[0]
        raise InvalidInput(f"record {first.position} of the export is no memory: {first.reason}")
    return memories


def read_export(text: str) -> tuple[list[Episode | MemoryEntry], list[UnreadableRecord]]:
    """The memories of a `json` export, and its invalid records. Raises `InvalidInput` for another format.

    The records may also stand one a line, as the pages and the HTTP interface export them. Entries may use the seed's
    spelling (`stepNum`, `envPre`) and its times in milliseconds since 1970.
    """
    if episodes := _episodes(checked_text(text, "an export")):
        return [*episodes], []
    try:
        records = _by_line(text) or json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"this is no JSON export ({exc}); make one in the format json") from exc
    if not isinstance(records, list):
        raise InvalidInput("an export is a JSON list of memories; make one in the format json")
    memories: list[Episode | MemoryEntry] = []
    unreadable: list[UnreadableRecord] = []
    for position, record in enumerate(records, start=1):
        try:
            require_json(record, "it")
            memories.append(require_storable(_memory(record)))
        except (InvalidInput, ValueError, TypeError, OverflowError) as exc:
            unreadable.append(UnreadableRecord(position=position, reason=str(exc)))
    return memories, unreadable


def _by_line(text: str) -> list[object]:
    """The records of a text with one a line; otherwise an empty list. Raises `InvalidInput` for a damaged line."""
    if not text.startswith("{"):
        return []
    records: list[object] = []
    for number, line in enumerate(text.split("\n"), start=1):  # other line breaks may stand within texts
        try:
            records += [json.loads(line)] if line.strip() else []
        except (ValueError, RecursionError):
            if not records:
                return []
            raise InvalidInput(f"its line {number} is damaged or cut off") from None
    return records if all(records) else []


def _episodes(text: str) -> list[Episode]:
    """All records, if all are valid episodes in the exported format, parsed at once; otherwise an empty list."""
    try:
        episodes = require_all_storable(_EPISODES.validate_json(text))
        for step in [step for each in episodes for step in each.trajectory if step.arguments]:
            require_json([[[step.arguments]]], "it")  # nested as in its record, for the limit of depth
    except (InvalidInput, ValueError, TypeError, OverflowError):
        return []
    return episodes


def content_hash(memory: Episode | MemoryEntry) -> str:
    """A hash of what the run produced, without later feedback: equal for copies of a memory.

    64 hexadecimal digits. Ids and outcomes are not part of it, so grading does not change it. Raises `InvalidInput`
    for other types.
    """
    if not isinstance(memory, Episode | MemoryEntry):
        raise InvalidInput(f"only episodes and memory entries have a content hash, got {shown_value(memory)}")
    names = _EPISODE_CONTENT if isinstance(memory, Episode) else _ENTRY_CONTENT
    text = _TO_COMPARE.encode([type(memory).__name__, {name: getattr(memory, name) for name in names}])
    return hashlib.sha256(text.encode()).hexdigest()


def _memory(record: object) -> Episode | MemoryEntry:
    if not isinstance(record, dict):
        raise TypeError(f"expected an object, got {type(record).__name__}")
    snake = {_in_snake_case(name): value for name, value in record.items()}
    is_entry = not _ENTRY_MARKS.isdisjoint(snake)
    given = {
        name: value if type(value) is str else _moment(value) if name.endswith("_at") else _given(value)
        for name, value in snake.items()
        if value is not None
    }
    # As JSON text, from which pydantic's strict mode accepts lists for tuples, and texts for times and enums.
    text = require_storable(_TO_READ.encode([given]))
    try:
        return (_ENTRIES if is_entry else _EPISODES).validate_json(text)[0]
    except ValidationError as exc:
        raise InvalidInput(_error_text(exc.errors(include_url=False)[0])) from exc


@lru_cache(maxsize=256)
def _in_snake_case(name: str) -> str:
    return _CAMEL.sub(lambda found: f"_{found[1].lower()}", name)


def _given(value: object) -> object:
    """A value without null fields, which mean the default; deeper values are kept unchanged."""
    if isinstance(value, list):
        return [_without_nulls(each) if isinstance(each, dict) else each for each in value]
    return _without_nulls(value) if isinstance(value, dict) else value


def _without_nulls(record: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in record.items() if value is not None}


def _moment(value: object) -> object:
    """A time in the seed's milliseconds since 1970 as ISO 8601; other values unchanged."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (_EPOCH + timedelta(milliseconds=value)).isoformat()
    return value


def _error_text(error: ErrorDetails) -> str:
    """A validation error of a record in words, with the field."""
    where = ".".join(map(str, error["loc"][1:]))
    match error["type"]:
        case "unexpected_keyword_argument":
            return f"it has no field {where!r}"
        case "missing":
            return f"it needs the field {where!r}"
        case "value_error":
            return str(error["ctx"]["error"])
    return f"{where}: {error['msg']}, got {shown_value(error['input'])}"

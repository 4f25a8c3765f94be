"""Exports memories as json (complete), csv (for a spreadsheet) or prompt (the seed's lesson text)."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, cast

from memory.adapters.row_validation import field_names
from memory.errors import InvalidInput
from memory.model import Episode, Exemplar, GradeSource, Lesson, MemoryEntry
from memory.model.validation import shown_value
from memory.rules.retrieval.adapter import ScoredMemory
from memory.rules.retrieval.prompt import BY_A_MODEL, HEADER, lesson_lines
from memory.services.privacy.forget import PersonalData

Format = Literal["json", "csv", "prompt"]
Exportable = Episode | Exemplar | MemoryEntry | ScoredMemory[Any]
"""A memory, or a retrieved one, whose score the prompt format shows."""

_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
_CSV_COLUMNS = (
    "id", "run_id", "parent_id", "node_path", "step_number", "rep", "workspace", "channel", "person", "origin",
    "author", "goal", "action", "action_target", "output", "termination", "verdict", "status", "outcome_reason",
    "correction", "task_incomplete", "strength", "model", "created_at", "graded_at", "archived_at",
)  # fmt: skip
_ENTRY_COLUMNS = (
    "id", "session_id", "run_id", "rep", "step_num", "step_id", "url", "action", "action_element_text",
    "internal_state", "think", "outcome", "graded_by", "outcome_reason", "correction", "task_incomplete", "env_pre",
    "env_post", "created_at", "graded_at",
)  # fmt: skip
_ELEMENTS = ("env_pre", "env_post")
_LESSONS: Mapping[str, Lesson] = {"success": Lesson.REPEAT, "failure": Lesson.AVOID}
"""The lesson of a verdict or an outcome; others have none."""


def export_memories(memories: Sequence[Exportable], format: Format = "json") -> str:
    """Memories in one of three formats.

    `json` has all fields and can be imported again; `csv` is safe to open in a spreadsheet; `prompt` is the seed's
    REPEAT / AVOID text without undecided and quarantined memories, and empty if none is left. It includes the scores of
    retrieved memories (`Exemplar`, `ScoredMemory`). Raises `InvalidInput` for another format, and for episodes and
    entries in one csv.
    """
    match format:
        case "json":
            return json.dumps([plain(_bare(memory)) for memory in memories], ensure_ascii=False, indent=2)
        case "csv":
            return _csv([_bare(memory) for memory in memories])
        case "prompt":
            return _prompt(memories)
        case _:
            raise InvalidInput(f"cannot export as {shown_value(format)}; use json, csv or prompt")


def export_person(held: PersonalData, person: str) -> dict[str, object]:
    """All data of one person, as JSON values."""
    return {
        "person": person,
        "messages": [plain(message) for message in held.messages],
        "episodes": [plain(episode) for episode in held.episodes],
        "reactions": [plain(reaction) for reaction in held.reactions],
        "topics": [plain(topic) for topic in held.topics],
        "values": [plain(value) for value in held.values],
        "steps": [plain(step) for step in held.steps],
        "grades": [plain(grade) for grade in held.grades],
        "welcomed_at": plain(held.welcomed_at),
        "kept_for_a_while": [plain(entry) for entry in held.short],
        "answers_to_others_that_repeat_your_words": len(held.derived),
    }


_PLAIN = frozenset({str, bool, int, float, type(None)})


def plain(value: object) -> object:
    """A dataclass as JSON values: times in ISO 8601, enums by value, tuples as lists."""
    kind: type = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return [plain(item) for item in cast("Sequence[object]", value)]
    if names := field_names(kind):
        return {name: plain(getattr(value, name)) for name in names}
    match value:
        case StrEnum():
            return value.value
        case bool() | int() | float() | str():
            return value
        case datetime():
            return value.isoformat()
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _:
            return str(value)


def _bare(memory: Exportable) -> Episode | MemoryEntry:
    """The memory without retrieval results. Raises `InvalidInput` for other types."""
    bare: object = memory
    if isinstance(memory, Exemplar):
        bare = memory.episode
    elif isinstance(memory, ScoredMemory):
        bare = memory.memory
    if not isinstance(bare, Episode | MemoryEntry):
        raise InvalidInput(f"cannot export a {type(bare).__name__}; give episodes or memory entries")
    return bare


def _csv(memories: Sequence[Episode | MemoryEntry]) -> str:
    kinds = {type(memory) for memory in memories}
    if len(kinds) > 1:
        raise InvalidInput("episodes and memory entries have different columns; export one kind at a time")
    columns = _ENTRY_COLUMNS if kinds == {MemoryEntry} else _CSV_COLUMNS
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    for memory in memories:
        writer.writerow([_cell(_value(memory, name)) for name in columns])
    return out.getvalue()


def _value(memory: Episode | MemoryEntry, name: str) -> object:
    if isinstance(memory, MemoryEntry) and name == "url":
        return memory.env_pre.url
    if isinstance(memory, MemoryEntry) and name in _ELEMENTS:
        return " | ".join(getattr(memory, name).elements)
    return plain(getattr(memory, name))


def _cell(value: object) -> str:
    """A text that no spreadsheet reads as a formula: an apostrophe is put before a leading sign."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _prompt(memories: Iterable[Exportable]) -> str:
    blocks: list[str] = []
    for memory in memories:
        bare = _bare(memory)
        verdict: str = bare.outcome if isinstance(bare, MemoryEntry) else bare.verdict
        if isinstance(memory, Exemplar | ScoredMemory) and isinstance(bare, Episode):
            verdict = memory.verdict
        if verdict not in _LESSONS or bare.quarantine:
            continue
        block = lesson_lines(
            len(blocks) + 1,
            _LESSONS[verdict],
            score=_score(memory),
            reason=bare.outcome_reason,
            correction=bare.correction,
            task_incomplete=bare.task_incomplete,
            **(_of_entry(bare) if isinstance(bare, MemoryEntry) else _of_episode(bare)),
        )
        blocks.append(block)
    return "\n".join([HEADER, *blocks]) if blocks else ""


def _score(memory: Exportable) -> float | None:
    if isinstance(memory, Exemplar):
        return memory.relevance
    return memory.score if isinstance(memory, ScoredMemory) else None


def _of_episode(episode: Episode) -> dict[str, Any]:
    target = episode.action_target or episode.goal
    return {"place": episode.place, "action": episode.action or "answer", "target": target}


def _of_entry(entry: MemoryEntry) -> dict[str, Any]:
    extra = [BY_A_MODEL] if entry.graded_by is GradeSource.MODEL else []
    target = entry.action_element_text or entry.call.target
    return {"place": entry.env_pre.place, "action": entry.call.type, "target": target, "extra": extra}

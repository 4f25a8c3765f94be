"""Memories in the formats people take away: json (whole), csv (for a spreadsheet), prompt (the seed's lesson text)."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Literal

from memory.errors import InvalidInput
from memory.model import Episode, Exemplar, Lesson, Verdict
from memory.retrieval.prompt import HEADER, lesson_lines
from memory.service.privacy import Holdings

Format = Literal["json", "csv", "prompt"]

_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
_CSV_COLUMNS = (
    "id", "run_id", "parent_id", "node_path", "step_number", "rep", "workspace", "channel", "person", "origin",
    "author", "goal", "action", "action_target", "output", "termination", "verdict", "status", "outcome_reason",
    "correction", "task_incomplete", "strength", "model", "created_at", "graded_at", "archived_at",
)  # fmt: skip


def export_memories(memories: Sequence[Episode | Exemplar], format: Format = "json") -> str:
    """Episodes in one of three formats (seed 001, "Export Formats").

    `json` holds every field and can be imported again; `csv` is safe to open in a spreadsheet; `prompt` is the seed's
    REPEAT / AVOID text and leaves out what nobody has decided. An `Exemplar` carries its relevance into that text.
    Raises `InvalidInput` for another format.
    """
    match format:
        case "json":
            return json.dumps([plain(_episode(memory)) for memory in memories], ensure_ascii=False, indent=2)
        case "csv":
            return _csv([_episode(memory) for memory in memories])
        case "prompt":
            return _prompt(memories)
        case _:
            raise InvalidInput(f"cannot export as {format!r}; use json, csv or prompt")


def export_person(held: Holdings, person: str) -> dict[str, object]:
    """Everything stored about one person, as JSON values."""
    return {
        "person": person,
        "messages": [plain(message) for message in held.messages],
        "episodes": [plain(episode) for episode in held.episodes],
        "reactions": [plain(reaction) for reaction in held.reactions],
        "answers_to_others_that_repeat_your_words": len(held.derived),
    }


def plain(value: object) -> object:
    """A dataclass as JSON values: times in ISO 8601, enums by value, tuples as lists."""
    match value:
        case None | bool() | int() | float():
            return value
        case StrEnum():
            return value.value
        case str():
            return value
        case datetime():
            return value.isoformat()
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {name: plain(getattr(value, name)) for name in _names(type(value))}
        case _:
            return str(value)


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _episode(memory: Episode | Exemplar) -> Episode:
    return memory.episode if isinstance(memory, Exemplar) else memory


def _csv(episodes: Iterable[Episode]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_CSV_COLUMNS)
    for episode in episodes:
        writer.writerow([_cell(plain(getattr(episode, name))) for name in _CSV_COLUMNS])
    return out.getvalue()


def _cell(value: object) -> str:
    """A text that no spreadsheet takes for a formula: a leading sign gets an apostrophe before it."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _prompt(memories: Sequence[Episode | Exemplar]) -> str:
    blocks: list[str] = []
    for memory in memories:
        episode = _episode(memory)
        verdict = memory.verdict if isinstance(memory, Exemplar) else episode.verdict
        if not verdict.is_validated:
            continue
        blocks.append(
            lesson_lines(
                len(blocks) + 1,
                Lesson.REPEAT if verdict is Verdict.SUCCESS else Lesson.AVOID,
                place=episode.place,
                score=memory.relevance if isinstance(memory, Exemplar) else None,
                action=episode.action or "answer",
                target=episode.action_target or episode.goal,
                reason=episode.outcome_reason,
                correction=episode.correction,
                task_incomplete=episode.task_incomplete,
            )
        )
    return "\n".join([HEADER, *blocks]) if blocks else ""

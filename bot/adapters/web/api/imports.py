"""`POST /v1/episodes/import`: imports an export of any length as it arrives."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from bot.adapters.web.api.dependencies import Admin, ServedMemory, There
from bot.adapters.web.api.episodes import NDJSON
from bot.adapters.web.authentication import BODY_BYTES, IMPORT_PATH
from memory.errors import InvalidInput
from memory.library.episodic import EpisodicMemory
from memory.library.lifecycle import import_memories
from memory.model import Scope
from memory.services import Memory

router = APIRouter(tags=["episodes"])

_BATCH = 100
"""Lines per transaction."""
_MOST_NAMED = 100
"""The most refused lines that are listed; the others are only counted."""


class RefusedLine(BaseModel):
    """A line that is no memory."""

    line: int
    reason: str


class ImportedLines(BaseModel):
    """What became of the lines of an import."""

    imported: int
    skipped: int
    """Lines that were known already."""
    refused: int
    errors: list[RefusedLine]
    """The first refused lines."""


@router.post(
    IMPORT_PATH,
    openapi_extra={"requestBody": {"content": {NDJSON: {"schema": {"type": "string"}}}, "required": True}},
)
async def import_(request: Request, memory: ServedMemory, who: Admin, place: There) -> ImportedLines:
    """Take in an export, one JSON object a line, each of at most 1 MB, as what one person judged.

    Known episodes stay unchanged, so an interrupted import can be sent again. A part of an answer that is not
    among the same 100 lines as its parent is taken in without it.
    """
    taking = _Import(memory, who.place(**place.model_dump()))
    async for line in _lines(request.stream()):
        taking.add(line)
        if taking.is_full:
            await run_in_threadpool(taking.flush)
    await run_in_threadpool(taking.flush)
    taking.done.errors.sort(key=lambda each: each.line)
    return taking.done


@dataclass(slots=True)
class _Import:
    memory: Memory
    scope: Scope
    number: int = 0
    waiting: list[tuple[int, str]] = field(default_factory=list)
    done: ImportedLines = field(default_factory=lambda: ImportedLines(imported=0, skipped=0, refused=0, errors=[]))

    @property
    def is_full(self) -> bool:
        return len(self.waiting) >= _BATCH

    def add(self, line: bytes) -> None:
        """Add a line. Empty lines are skipped."""
        self.number += 1
        if not line.strip():
            return
        try:
            text = line.decode()
            json.loads(text)
        except (ValueError, RecursionError) as error:
            self.refuse(self.number, f"no JSON: {error}")
            return
        self.waiting.append((self.number, text))

    def refuse(self, line: int, reason: str) -> None:
        self.done.refused += 1
        if len(self.done.errors) < _MOST_NAMED:
            self.done.errors.append(RefusedLine(line=line, reason=reason))

    def flush(self) -> None:
        """Import the collected lines."""
        batch, self.waiting = self.waiting, []
        if not batch:
            return
        report = import_memories(
            f"[{','.join(text for _, text in batch)}]", episodic=EpisodicMemory(self.memory, self.scope)
        )
        self.done.imported += report.imported
        self.done.skipped += report.skipped
        for each in report.errors:
            self.refuse(batch[each.position - 1][0], each.reason)


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a body. Raises `InvalidInput` if one is too long."""
    rest, number = b"", 1
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line
        number += len(whole)
        if len(rest) > BODY_BYTES:
            raise InvalidInput(f"line {number} is longer than {BODY_BYTES} bytes; send the import again without it")
    yield rest

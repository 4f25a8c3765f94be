"""The tool `search_knowledge`: searches a folder, as it is on disk now, and pages, as last fetched, by meaning."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.agent.tools.chunks import Chunk
from bot.agent.tools.folder import Converters, Document, document_of, scan
from bot.agent.tools.registry import Tool, ToolContext, text_property, text_tool
from bot.agent.tools.similarity import Embed
from bot.errors import ToolFailed, ToolRetry
from memory.errors import MemoryFault
from memory.model import Vector
from memory.rules.retrieval.similarity import unit_cosine

_SHOWN = 3
_MIN_SIMILARITY = 0.35
_MOST_BELOW_BEST = 0.05
"""Passages whose similarity is further below the best one are not shown."""
_BATCH = 64

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A search result."""

    file: str
    heading: str
    text: str
    similarity: float


class KnowledgeBase:
    """The passages of documents and their vectors. Safe for concurrent tasks of one event loop."""

    def __init__(
        self, folder: Path | None, embed: Embed, *, converters: Converters | None = None, link: str = ""
    ) -> None:
        self._folder = folder
        self._embed = embed
        self._converters = converters or {}
        self._link = link
        """Prepended to the names of the folder's files to make them URLs."""
        self._taken: dict[str, dict[str, Document]] = {}
        self._documents: dict[str, Document] = {}
        self._vectors: dict[Chunk, Vector] = {}
        self._files: set[str] = set()
        self._lock = asyncio.Lock()

    @property
    def notes(self) -> tuple[str, ...]:
        """Why files were left out, one line each: `secret.md: not valid UTF-8`."""
        return tuple(f"{name}: {doc.problem}" for name, doc in sorted(self._documents.items()) if doc.problem)

    async def take(self, source: str, texts: Mapping[str, str]) -> None:
        """Replace the documents of a source: Markdown texts, by the address they are cited with."""
        made = await asyncio.to_thread(lambda: {name: document_of(name, text) for name, text in texts.items()})
        self._taken[source] = made

    async def refresh(self) -> None:
        """Update the passages from the folder. Raises `OSError` (no such folder) and `EmbeddingFailed`.

        A failure changes nothing; the next call tries again.
        """
        async with self._lock:
            documents: dict[str, Document] = {}
            if self._folder is not None:
                documents = await asyncio.to_thread(scan, self._folder, self._documents, self._converters)
            files = set(documents)
            for taken in self._taken.values():
                documents |= taken
            wanted = dict.fromkeys(chunk for document in documents.values() for chunk in document.chunks)
            vectors = {chunk: vector for chunk, vector in self._vectors.items() if chunk in wanted}
            missing = [chunk for chunk in wanted if chunk not in vectors]
            for start in range(0, len(missing), _BATCH):
                batch = missing[start : start + _BATCH]
                embedded = await self._embed([f"{chunk.heading}\n{chunk.text}".strip() for chunk in batch])
                vectors.update(zip(batch, embedded, strict=True))
            before = set(self.notes)
            self._documents, self._vectors, self._files = documents, vectors, files
            for note in sorted(set(self.notes) - before):
                _log.warning("knowledge folder %s: left out %s", self._folder, note)

    async def search(self, query: str, limit: int = _SHOWN) -> list[Passage]:
        """The passages closest to the query, best first. Calls `refresh`, and raises what it raises."""
        await self.refresh()
        documents, vectors = self._documents, self._vectors
        if not vectors:
            return []
        (wanted,) = await self._embed([query])
        found = [
            Passage(
                file=f"{self._link}{name}" if name in self._files else name,
                heading=chunk.heading,
                text=chunk.text,
                similarity=unit_cosine(vectors[chunk], wanted),
            )
            for name, document in sorted(documents.items())
            for chunk in document.chunks
        ]
        return sorted(found, key=lambda passage: -passage.similarity)[:limit]


def knowledge_tool(base: KnowledgeBase) -> Tool:
    """The tool `search_knowledge`."""

    @text_tool(
        "search_knowledge", {"query": text_property("what to look for, as a question or key words")}, is_outside=True
    )
    async def search(_: ToolContext, query: str) -> str:
        """Searches the team's documents (handbook, guides, policies, notes).

        For example: what do the docs say about vacation?; look up the refund policy in the handbook
        """
        if not query:
            raise ToolRetry("search_knowledge needs a query that is not empty.")
        try:
            passages = await base.search(query)
        except OSError as error:
            _log.warning("the knowledge folder cannot be read: %s", error)
            raise ToolFailed("The knowledge folder cannot be read at the moment.") from error
        except MemoryFault as fault:
            raise ToolFailed("The knowledge folder cannot be searched at the moment.") from fault
        return _quoted(passages)

    return search


def _quoted(passages: list[Passage]) -> str:
    if not passages or passages[0].similarity < _MIN_SIMILARITY:
        raise ToolFailed("The documents say nothing about that.")
    floor = max(_MIN_SIMILARITY, passages[0].similarity - _MOST_BELOW_BEST)
    return "\n\n".join(
        f"{passage.text}\n(from {', '.join(filter(None, (passage.file, passage.heading)))})"
        for passage in passages
        if passage.similarity >= floor
    )

"""The documents that a tool searches: a folder, web pages, and resources of MCP servers, reread by a job."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bot.agent.tools.knowledge import KnowledgeBase, knowledge_tool
from bot.agent.tools.registry import Tool
from bot.agent.tools.similarity import Embed
from bot.app.wiring.periodic import run_periodically
from bot.config import Settings
from bot.errors import ConfigError, ToolError
from memory.ports import Clock

if TYPE_CHECKING:
    from bot.adapters.tools.mcp_servers import McpServers
    from bot.agent.tools.folder import Converters

log = logging.getLogger(__name__)

_AT_ONCE = 4
"""The number of pages read at the same time."""


@dataclass(slots=True, kw_only=True)
class Knowledge:
    """The documents, with the sources of those that are not files."""

    base: KnowledgeBase
    settings: Settings
    servers: "McpServers | None" = None
    _texts: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def tool(self) -> Tool:
        """The tool that searches them."""
        return knowledge_tool(self.base)

    async def reload(self) -> None:
        """Read every page and resource again. Those that cannot be read stay as they were."""
        turn = asyncio.Semaphore(_AT_ONCE)

        async def read(url: str) -> None:
            async with turn:
                text = await self._text_of(url)
                if text:
                    self._texts[url] = text

        await asyncio.gather(*(read(url) for url in self.settings.knowledge.pages))
        await self.base.take("pages", self._texts)
        if self.servers is not None and (found := await self.servers.resources()):
            await self.base.take("resources", found)

    async def _text_of(self, url: str) -> str:
        from bot.adapters.tools.guarded_http import Fetcher
        from bot.adapters.tools.page_text import text_of

        pages = self.settings.pages
        try:
            fetched = await Fetcher(max_bytes=pages.max_bytes, timeout_s=pages.timeout_s, allows_private=True).fetch(
                url
            )
            title, text = await text_of(fetched)
        except ToolError as error:
            log.warning("could not refresh the page %s, using its last version: %s", url, error)
            return ""
        return f"# {title}\n\n{text}" if title and not text.startswith("#") else text


def make_knowledge(settings: Settings, embed: Embed) -> Knowledge | None:
    """The configured documents; None if there are none. Raises `ConfigError` without the extra."""
    wanted = settings.knowledge
    if not (wanted.folder or wanted.pages or settings.mcp.servers):
        return None
    converters = _converters()
    if wanted.pages and not converters:
        raise ConfigError("[knowledge] pages needs libraries that are not installed; run pip install 'goodbot[pages]'")
    folder = Path(wanted.folder) if wanted.folder else None
    base = KnowledgeBase(folder, embed, converters=converters, link=wanted.link)
    return Knowledge(base=base, settings=settings)


def _converters() -> "Converters":
    """The converters of HTML and PDF to text; empty without the extra."""
    from importlib.util import find_spec

    if not all(find_spec(each) for each in ("trafilatura", "pypdf", "httpcore2")):
        return {}
    from bot.adapters.tools.page_text import html_text, pdf_text

    def html(content: bytes) -> str:
        title, text = html_text(content.decode("utf-8", errors="replace"))
        return f"# {title}\n\n{text}" if title else text

    return {".pdf": pdf_text, ".html": html, ".htm": html}


@asynccontextmanager
async def reloading(knowledge: Knowledge | None, clock: Clock) -> AsyncIterator[None]:
    """Read pages and resources now and periodically; reading is cancelled at the end."""
    if knowledge is None or not (knowledge.settings.knowledge.pages or knowledge.servers):
        yield
        return
    every_s = knowledge.settings.knowledge.refresh_minutes * 60
    async with run_periodically({"knowledge": knowledge.reload}, every_s=every_s, clock=clock, break_off=True):
        yield

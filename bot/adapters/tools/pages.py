"""The tools `fetch_page` and `search_web`. Their results, and the links in them, are untrusted."""

import json
import re
from urllib.parse import urlencode

from cachetools import LRUCache

from bot.adapters.tools.guarded_http import Fetcher
from bot.adapters.tools.page_text import text_of
from bot.agent.tools.registry import Tool, ToolContext, text_property, text_tool
from bot.errors import ToolFailed, ToolRetry

SHOWN_CHARACTERS = 6_000
_SHOWN_RESULTS = 5
_SNIPPET_CHARACTERS = 300
_RUNS_KEPT = 200
_ROOT = "0"
"""The path of a run's root, whose goal is the person's message."""
_URL = re.compile(r"https?://[^\s<>\"'`|()\[\]{}]++")


class KnownAddresses:
    """The URLs in the texts that a run was given: the person's message, pages and search results.

    Only these are fetched, so that nobody can make the model send data in a URL of its own.
    """

    def __init__(self) -> None:
        self._shown: LRUCache[str, dict[str, str]] = LRUCache(_RUNS_KEPT)

    def show(self, run_id: str, text: str) -> None:
        """Add the URLs in a text that a run is shown."""
        self._shown.setdefault(run_id, {}).update(_addresses(text))

    def address_of(self, url: str, context: ToolContext) -> str:
        """The URL as the run was given it, else empty. Goals of subtasks do not count, as the model wrote them."""
        asked = context.question if context.node_path != _ROOT else f"{context.question} {context.goal}"
        return (self._shown.get(context.run_id, {}) | _addresses(asked)).get(_same(url), "")


def fetch_tool(fetcher: Fetcher, known: KnownAddresses) -> Tool:
    """The tool `fetch_page`."""

    @text_tool("fetch_page", {"url": text_property("the address, beginning with http:// or https://")}, is_outside=True)
    async def fetch(context: ToolContext, url: str) -> str:
        """Reads the text of a page or PDF at an address.

        For example: what does https://example.org/news say?; read https://example.org; summarise this page
        """
        address = known.address_of(url, context)
        if not address:
            raise ToolRetry("Only addresses that the person wrote, or that a search or a page showed, are read.")
        fetched = await fetcher.fetch(address)
        title, whole = await text_of(fetched)
        cut = whole if len(whole) <= SHOWN_CHARACTERS else f"{whole[:SHOWN_CHARACTERS]}…"
        known.show(context.run_id, cut)
        title = "" if title in cut[:300] else title
        return f"{title}\n\n{cut}\n(from {fetched.url})".strip()

    return fetch


def search_tool(endpoint: str, fetcher: Fetcher, known: KnownAddresses) -> Tool:
    """The tool `search_web`, by a server with SearXNG's JSON API."""

    @text_tool("search_web", {"query": text_property("what to look for")}, is_outside=True)
    async def search(context: ToolContext, query: str) -> str:
        """Searches the web.

        For example: search the web for the opening hours of the museum; look up on the internet who won the match
        """
        if not query:
            raise ToolRetry("search_web needs a query that is not empty.")
        asked = urlencode({"q": query[:400], "format": "json"})
        fetched = await fetcher.fetch(f"{endpoint.rstrip('/')}/search?{asked}")
        shown = _results(fetched.text)
        known.show(context.run_id, shown)
        return shown

    return search


def _results(answered: str) -> str:
    try:
        results = json.loads(answered)["results"][:_SHOWN_RESULTS]
        found = [(each["url"], each.get("title") or "", each.get("content") or "") for each in results]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ToolFailed("The search gave an answer that makes no sense.") from error
    if not found:
        raise ToolFailed("The search found nothing.")
    return "\n\n".join(
        f"{' '.join(str(title).split())[:150]}\n{' '.join(str(text).split())[:_SNIPPET_CHARACTERS]}\n({str(url)[:500]})"
        for url, title, text in found
    )


def _addresses(text: str) -> dict[str, str]:
    """The URLs in a text without closing punctuation, by their `_same`."""
    return {_same(found): found.partition("#")[0].rstrip(".,;:!?") for found in _URL.findall(text)}


def _same(url: str) -> str:
    """The URL for comparison: without fragment and closing punctuation."""
    return url.strip().partition("#")[0].rstrip(".,;:!?/")

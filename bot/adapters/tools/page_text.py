"""Extracts the text of pages and documents: HTML by trafilatura, PDF by pypdf; other texts are unchanged."""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from typing import Any

from bot.adapters.tools.guarded_http import Fetched
from bot.errors import ToolFailed

TEXT_CHARACTERS = 200_000
_MOST_PDF_PAGES = 200
_MOST_ELEMENTS = 20_000
"""Of a page whose main text is looked for, which takes 60 s for a quarter of a million."""
_PLAIN = ("application/json", "application/xml", "application/yaml")
_THREADS = ThreadPoolExecutor(2, thread_name_prefix="page-text")
"""A separate pool, so that slow documents block no other work."""


async def text_of(fetched: Fetched) -> tuple[str, str]:
    """Title and text of a response, by `page_text` in a thread. Raises `ToolFailed`."""
    read = partial(page_text, fetched.content, fetched.media_type, fetched.text)
    return await asyncio.get_running_loop().run_in_executor(_THREADS, read)


def page_text(content: bytes, media_type: str, text: str) -> tuple[str, str]:
    """Title and text, as Markdown if it has structure. `text` is the decoded content.

    Blocking. Raises `ToolFailed`.
    """
    if media_type == "application/pdf" or content.startswith(b"%PDF-"):
        return "", pdf_text(content)
    if media_type in ("text/html", "application/xhtml+xml"):
        return html_text(text)
    if media_type.startswith("text/") or media_type in _PLAIN:
        return "", text[:TEXT_CHARACTERS]
    raise ToolFailed(f"There is no text at that address, but {media_type[:60] or 'something unnamed'}.")


def html_text(html: str) -> tuple[str, str]:
    """Title and main text of a page. Raises `ToolFailed` if there is no text."""
    import trafilatura  # takes 0.5 s, which only reading pages needs

    tree = trafilatura.load_html(html)
    title = tree.findtext(".//title") if tree is not None else None
    if tree is not None and sum(1 for _ in tree.iter()) > _MOST_ELEMENTS:
        text: str | None = _whole_text(tree.iter())
    else:
        text = trafilatura.extract(tree, output_format="markdown", include_comments=False, include_tables=True)
        text = text or trafilatura.html2txt(html)
    if not text or not text.strip():
        raise ToolFailed("There is no text on that page.")
    return " ".join((title or "").split())[:200], text.strip()[:TEXT_CHARACTERS]


def _whole_text(elements: Iterable[Any]) -> str:
    """All text of a page, a line for each of its lines."""
    hidden = {"script", "style", "noscript", "template"}
    texts = (
        text
        for each in elements
        for text in (each.text if isinstance(each.tag, str) and each.tag not in hidden else None, each.tail)
        if text
    )
    return "\n".join(filter(None, (line.strip() for line in " ".join(texts).splitlines())))


def pdf_text(content: bytes) -> str:
    """The text of a PDF. Raises `ToolFailed` if it cannot be read or has no text."""
    from pypdf import PdfReader

    parts: list[str] = []
    try:
        for page in PdfReader(BytesIO(content)).pages[:_MOST_PDF_PAGES]:
            parts.append(page.extract_text())
            if sum(map(len, parts)) > TEXT_CHARACTERS:
                break
    except Exception as error:  # for damaged files pypdf raises seven kinds or more, which share no other root
        raise ToolFailed(f"That PDF cannot be read: {type(error).__name__}.") from error
    text = "\n\n".join(filter(None, (part.strip() for part in parts)))
    if not text:
        raise ToolFailed("That PDF has no text in it.")
    return text[:TEXT_CHARACTERS]

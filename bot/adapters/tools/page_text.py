"""The text of pages and documents: HTML by trafilatura, PDF by pypdf, anything textual as it is. Blocking."""

from io import BytesIO

from bot.errors import ToolFailed

TEXT_CHARACTERS = 200_000
_MOST_PDF_PAGES = 200
_PLAIN = ("application/json", "application/xml", "application/yaml")


def page_text(content: bytes, media_type: str, text: str) -> tuple[str, str]:
    """Title and text, as Markdown where there is structure. `text` is the content decoded. Raises `ToolFailed`."""
    if media_type == "application/pdf" or content.startswith(b"%PDF-"):
        return "", pdf_text(content)
    if media_type in ("text/html", "application/xhtml+xml"):
        return html_text(text)
    if media_type.startswith("text/") or media_type in _PLAIN:
        return "", text[:TEXT_CHARACTERS]
    raise ToolFailed(f"There is no text at that address, but {media_type[:60] or 'something unnamed'}.")


def html_text(html: str) -> tuple[str, str]:
    """Title and main text. Raises `ToolFailed` where there is none."""
    import trafilatura  # 0.5 s that only who reads pages pays

    found = trafilatura.bare_extraction(html, include_comments=False, include_tables=True, with_metadata=True)
    text = trafilatura.extract(html, output_format="markdown", include_comments=False, include_tables=True)
    text = text or trafilatura.html2txt(html)
    if not text or not text.strip():
        raise ToolFailed("There is no text on that page.")
    title = getattr(found, "title", "") or ""
    return " ".join(title.split())[:200], text.strip()[:TEXT_CHARACTERS]


def pdf_text(content: bytes) -> str:
    """The text of a PDF, page by page. Raises `ToolFailed` where it cannot be read or holds pictures only."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    parts: list[str] = []
    try:
        for page in PdfReader(BytesIO(content)).pages[:_MOST_PDF_PAGES]:
            parts.append(page.extract_text())
            if sum(map(len, parts)) > TEXT_CHARACTERS:
                break
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ToolFailed(f"That PDF cannot be read: {type(error).__name__}.") from error
    text = "\n\n".join(filter(None, (part.strip() for part in parts)))
    if not text:
        raise ToolFailed("That PDF has no text in it.")
    return text[:TEXT_CHARACTERS]

"""The templates and their filters for times, numbers and texts. All output is escaped."""

import json
import unicodedata
from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bot.adapters import commonmark
from bot.conversation.messages import why_held
from bot.conversation.reply import short_id
from memory.library.export import plain
from memory.model import Episode

FOLDER = Path(__file__).parent
_KEPT = {"\n", "\t", "\u200d"}
_MARKDOWN = commonmark.parser().disable(["link", "image", "autolink", "reference", "heading", "lheading"])
_MARKDOWN.options["breaks"] = True


@cache
def templates() -> Environment:
    """The templates in this folder, compiled once per process."""
    found = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "plain": plain_text,
        "when": when,
        "day": lambda moment: f"{moment:%Y-%m-%d}",
        "percent": percent,
        "short": short_id,
        "cut": cut,
        "answer": answer,
        "score": lambda number: f"{number:.2f}",
        "spaced": lambda number: f"{number:,.0f}".replace(",", "\u202f"),
        "as_json": lambda value: json.dumps(plain(value), ensure_ascii=False),
        "why_held": why_held,
        "words": lambda name: str(name).replace("_", " "),
    }
    return found


def plain_text(text: object) -> str:
    """A text without control and format characters, such as those that reverse its direction."""
    return "".join(
        each for each in str(text) if each in _KEPT or unicodedata.category(each) not in ("Cc", "Cf", "Cs", "Co")
    )


def answer(episode: Episode, length: int) -> str:
    """What was answered in one line, and behind an arrow what people said would have been right."""
    if not episode.correction:
        return cut(episode.output, length)
    half = length // 2
    return f"{cut(episode.output, half) or 'no answer'} → {cut(episode.correction, half)}"


def cut(text: object, length: int = 120) -> str:
    """The start of a text in one line."""
    line = " ".join(plain_text(text).split())
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"


def when(moment: datetime | None) -> str:
    """A time to the minute in UTC, as a `time` element."""
    if moment is None:
        return "—"
    return Markup('<time datetime="{}">{}</time>').format(
        moment.isoformat(timespec="seconds"), f"{moment:%Y-%m-%d %H:%M}"
    )


def percent(share: float | None) -> str:
    """A share as a percentage; a dash for None."""
    return "—" if share is None else f"{share:.0%}"


def marked(text: str) -> str:
    """Markdown as HTML: emphasis, lists, tables and code. Everything else, also links and tags, stays text."""
    return Markup(_MARKDOWN.render(plain_text(text)))  # noqa: S704 - the renderer escapes every text

"""Templates, and how they write times, numbers and what people or the bot wrote. Everything is escaped."""

import json
import unicodedata
from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bot.adapters import commonmark
from bot.conversation.reply import short
from memory.library.export import plain

FOLDER = Path(__file__).parent
_KEPT = {"\n", "\t", "\u200d"}
_MARKDOWN = commonmark.parser().disable(["link", "image", "autolink", "reference", "heading", "lheading"])
_MARKDOWN.options["breaks"] = True


@cache
def templates() -> Environment:
    """The templates beside this file, each compiled once in a process."""
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
        "short": short,
        "cut": cut,
        "score": lambda number: f"{number:.2f}",
        "spaced": lambda number: f"{number:,.0f}".replace(",", "\u202f"),
        "as_json": lambda value: json.dumps(plain(value), ensure_ascii=False),
        "words": lambda name: str(name).replace("_", " "),
    }
    return found


def plain_text(text: object) -> str:
    """What somebody wrote, without what turns the direction of writing around or is not shown."""
    return "".join(
        each for each in str(text) if each in _KEPT or unicodedata.category(each) not in ("Cc", "Cf", "Cs", "Co")
    )


def cut(text: object, length: int = 120) -> str:
    """The beginning, in one line."""
    line = " ".join(plain_text(text).split())
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"


def when(moment: datetime | None) -> str:
    """A time to the minute, UTC, which programs can read too."""
    if moment is None:
        return "—"
    return Markup('<time datetime="{}">{}</time>').format(
        moment.isoformat(timespec="seconds"), f"{moment:%Y-%m-%d %H:%M}"
    )


def percent(share: float | None) -> str:
    """A share of 1; a dash where there is none."""
    return "—" if share is None else f"{share:.0%}"


def marked(text: str) -> str:
    """Markdown as HTML: emphasis, lists, tables and code. Everything else stays text, links and tags too."""
    return Markup(_MARKDOWN.render(plain_text(text)))  # noqa: S704 - the renderer escapes every text

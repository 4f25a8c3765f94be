"""A CommonMark parser with tables and strikethrough, HTML as plain text, in time linear in the text.

And what the dialects of platforms share: tables as plain columns, and a character that nobody sees.
"""

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table

INVISIBLE = "\u200b"
"""A zero-width space: keeps a platform from reading a mention, and people from seeing a difference."""
RULE = "──────────"
_WIDEST_COLUMN = 60
"""Columns of a table are padded to this width at most, so that one long cell does not lengthen every row."""
_MOST_COLUMNS = 20
"""A wider table is text: the library fills up every row to the width of the first, be it one cell."""


def parser() -> MarkdownIt:
    """A new parser."""
    made = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    made.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    return made


def in_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows of a table as lines of plain text, for a font of one width."""
    widths = [0] * max(map(len, rows))
    for row in rows:
        for column, cell in enumerate(row):
            widths[column] = min(max(widths[column], len(cell)), _WIDEST_COLUMN)
    return [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows]


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    head = state.src[state.bMarks[start] : state.eMarks[start]]
    return head.count("|") <= _MOST_COLUMNS + 1 and table(state, start, end, silent)

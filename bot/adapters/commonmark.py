"""A CommonMark parser with tables and strikethrough, HTML as plain text, in time linear in the text."""

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table

_MOST_COLUMNS = 20
"""A wider table is text: the library fills up every row to the width of the first, be it one cell."""


def parser() -> MarkdownIt:
    """A new parser."""
    made = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    made.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    return made


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    head = state.src[state.bMarks[start] : state.eMarks[start]]
    return head.count("|") <= _MOST_COLUMNS + 1 and table(state, start, end, silent)

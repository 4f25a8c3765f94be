"""CommonMark helpers for all platforms: a parser, tables as plain columns, code fences, splitting long texts.

The parser knows tables and strikethrough, treats HTML as plain text, and takes linear time. Splitting does not break
emoji, links or code blocks.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table

INVISIBLE = "\u200b"
"""A zero-width space, which breaks a mention without being seen."""
RULE = "──────────"
_WIDEST_COLUMN = 60
"""The widest padding of a table's column, so that one long cell does not lengthen every row."""
_MOST_COLUMNS = 20
"""A wider table is treated as text, as the library pads every row to the first row's width."""

FENCE = re.compile(
    r"^(?P<lead>[ \t>]*+(?P<items>(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+))(?P<mark>`{3,}+|~{3,}+)(?P<info>[^`\n]*+)$",
    re.MULTILINE,
)
"""A line that opens a code block, or closes one (`Fence.is_closed_by`)."""
_CLOSES_WITHIN = 3
"""How many columns further in than the opening line a closing line may be."""

_NAMED = re.compile(r"[ \t]*(?:[A-Za-z][\w+#.-]{0,19})?[ \t]*\n")
"""The rest of an opening line: nothing, or the name of a language."""

_LONGEST_LEAD, _LONGEST_MARK, _LONGEST_INFO = 16, 10, 40
"""Limits of an opening line. A longer one is treated as prose, as repeating it would fill a part."""
_UNDER_A_HEAD = re.compile(r"[ \t]*+\|?(?:[ \t]*+:?-++:?[ \t]*+\|)++[ \t:-]*+")
"""A table's second line."""
_WHOLE = re.compile(
    r"!?\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]"  # a link or image: its label,
    r"\((?:[^()\s]|\([^()\s]*\))*(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?\)"  # its address and title
    r"|<[^<>\s]+>"  # an address in angle brackets
    r"|https?://[^\s<>]+"
    r"|(?<!`)`[^`\n]+`(?!`)"  # code within a line
    r"|:[\w+'-]+(?:::skin-tone-[2-6])?:"  # an emoji by name
)
_TICKS = re.compile("`+")
_NEWLINE = "\n"
_BREAKS = ("\n\n", "\n", ". ", " ")
_FURTHEST = 4
"""A link or similar is kept whole if it ends within this many lengths of a part; longer ones are cut."""
_MOST_OF_A_HEAD = 0.25
_SMALLEST_SHARE = 0.5
"""The smallest part, as a share of the limit, unless a code block or link would be cut."""


def parser() -> MarkdownIt:
    """A new parser."""
    made = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    made.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    return made


def in_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows of a table as lines of plain text for a monospaced font."""
    widths = [0] * max(map(len, rows))
    for row in rows:
        for column, cell in enumerate(row):
            widths[column] = min(max(widths[column], len(cell)), _WIDEST_COLUMN)
    return [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows]


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    head = state.src[state.bMarks[start] : state.eMarks[start]]
    return head.count("|") <= _MOST_COLUMNS + 1 and table(state, start, end, silent)


@dataclass(frozen=True, slots=True)
class Fence:
    """A line that opened a code block: its prefix, its backticks or tildes, and its language."""

    lead: str
    mark: str
    info: str

    def is_closed_by(self, line: re.Match[str]) -> bool:
        """Whether this line (a match of `FENCE`) closes the code block."""
        is_near = len(line["lead"]) <= len(self.lead) + _CLOSES_WITHIN
        return is_near and not (line["items"] or line["info"].strip()) and line["mark"].startswith(self.mark)


def code_and_prose(text: str) -> Iterator[tuple[str, bool]]:
    """The text in consecutive parts, each with whether it is code, which is the text between two fences."""
    opened: Fence | None = None
    start = 0
    for line in FENCE.finditer(text):
        if opened is None:
            yield text[start : line.end()], False
            opened, start = Fence(line["lead"], line["mark"], line["info"]), line.end()
        elif opened.is_closed_by(line):
            yield text[start : line.start()], True
            opened, start = None, line.start()
    yield text[start:], opened is not None


def on_own_lines(text: str, *, names_language: bool = False) -> str:
    """The text with the fences of code blocks on lines of their own.

    In chats everything between the backticks is code, also within a line. In Slack the first line is no language: only
    a block whose opening line has a name, and whose closing fence is on its own line, is left as it is.
    `names_language`: in Discord a name alone on the first line is the code's language.
    """
    parts = text.split("```")
    is_all_closed = len(parts) % 2 == 1
    if len(parts) == 1 or "````" in text or not is_all_closed:
        return text
    written = [parts[0]]
    for code, after in zip(parts[1::2], parts[2::2], strict=True):
        before = written[-1]
        if not code.strip() or _stands_alone(before, code, after):
            written += ["```", code, "```", after]
            continue
        written[-1] = before if before.strip() == "" or before.endswith("\n") else f"{before.rstrip(' ')}\n"
        rest = after if after.strip() == "" or after.startswith("\n") else f"\n{after.lstrip(' ')}"
        named = _NAMED.match(code) if names_language else None
        language, code = (named[0].strip(), code[named.end() :]) if named else ("", code)
        written += [f"```{language}\n", code.strip("\n"), "\n```", rest]
    return "".join(written)


def _stands_alone(before: str, code: str, after: str) -> bool:
    """Whether the code block already means the same in CommonMark."""
    line = before.rpartition("\n")[2]
    is_begun = line.strip(" \t>") == "" and _NAMED.match(code) is not None
    return is_begun and code.rstrip(" \t>").endswith("\n") and (after.strip(" ") == "" or after.lstrip(" ")[0] == "\n")


def outside_code(line: str, change: Callable[[str], str]) -> str:
    """The line with a change applied to everything but inline code."""
    return "".join(piece if is_code else change(piece) for is_code, piece in _pieces(line))


def _pieces(line: str) -> Iterator[tuple[bool, str]]:
    """The line cut into code and everything else."""
    at = 0
    for start, end in _code_in(line):
        yield False, line[at:start]
        yield True, line[start:end]
        at = end
    yield False, line[at:]


def _code_in(line: str) -> Iterator[tuple[int, int]]:
    """The spans of inline code: a run of backticks opens code that the next run of the same length closes."""
    rows = [found.span() for found in _TICKS.finditer(line)]
    of_length: dict[int, list[int]] = {}
    for start, end in reversed(rows):
        of_length.setdefault(end - start, []).append(start)
    done = 0
    for start, end in rows:
        if start < done:
            continue
        for length in range(end - start, 0, -1):
            ends = of_length.get(length, [])
            while ends and ends[-1] <= start:
                ends.pop()
            if ends:
                done = ends[-1] + length
                yield end - length, done
                break


@dataclass(frozen=True, slots=True)
class _CodeBlock(Fence):
    """A code block: where it begins, where its first line ends, and where it ends (None while it is open).

    `lead` is the prefix of each of its lines: the indentation of a list, the marks of a quote.
    """

    start: int
    body: int
    end: int | None = None

    @property
    def closing(self) -> str:
        """The closing line of the code block, with its prefix."""
        return f"{self.lead}{self.mark}"

    def again(self, rest: str) -> str:
        """The rest of the code as a new block. If it was in a list it is no longer indented, as the list is cut."""
        if ">" in self.lead or not self.lead:
            return f"{self.lead}{self.mark}{self.info}\n{rest}"
        moved = [f"{self.mark}{self.info}"]
        at: int | None = 0
        while at is not None:
            end = rest.find("\n", at)
            line, at = (rest[at:end], end + 1) if end >= 0 else (rest[at:], None)
            inner = line.lstrip(" \t")
            moved.append(line[min(len(self.lead), len(line) - len(inner)) :])
            found = FENCE.fullmatch(line)
            if found is not None and self.is_closed_by(found):
                break
        return "\n".join(moved if at is None else [*moved, rest[at:]])


def size(text: str) -> int:
    """Length in UTF-16 units, which no platform's count exceeds: an emoji has two."""
    return len(text) + sum(character > "\uffff" for character in text)


def split(text: str, limit: int) -> list[str]:
    """The text in parts within the limit (at least 100). A code block that is cut is closed and opened again."""
    parts: list[str] = []
    rest = text
    while _fitting(rest, limit) < len(rest):
        head, rest = _cut(rest, limit)
        parts.append(head)
    nonempty = [part for part in (*parts, rest) if part.strip()]
    return nonempty or [""]


def _cut(text: str, limit: int) -> tuple[str, str]:
    last = _fitting(text, limit)
    fences = _fences(text, last)
    if not fences or fences[-1].end is not None:
        return _cut_prose(text, last, fences)
    if fences[-1].start >= last * _SMALLEST_SHARE:
        return text[: fences[-1].start].rstrip(), text[fences[-1].start :]
    return _cut_code(text, limit, fences[-1])


def _cut_prose(text: str, last: int, fences: list[_CodeBlock]) -> tuple[str, str]:
    least = int(last * _SMALLEST_SHARE)
    code = [(fence.start, fence.end or fence.start) for fence in fences]
    whole = [found.span() for found in _WHOLE.finditer(text, 0, last * _FURTHEST) if 0 < found.start() < last]
    blank = last - len(text[:last].lstrip())
    for mark in _BREAKS:
        at = text.rfind(mark, least, last)
        while at >= 0:
            end = at + len(mark)
            if end > blank and not (_around(code, end) or _around(whole, end)) and _is_boundary(text, end):
                return text[:end].rstrip(), _table_head(text, end) + text[end:].lstrip("\n")
            at = text.rfind(mark, least, at)
    torn = _around(whole, last)
    at = torn[0] if torn else _boundary(text, last)
    return text[:at], text[at:]


def _around(spans: Sequence[tuple[int, int]], at: int) -> tuple[int, int] | None:
    """The span, among sorted ones, that a cut here would break."""
    number = bisect_left(spans, (at,)) - 1
    return spans[number] if number >= 0 and at < spans[number][1] else None


def _cut_code(text: str, limit: int, fence: _CodeBlock) -> tuple[str, str]:
    """Cut a code block between two lines, or within a line that is too long."""
    last = _fitting(text, limit - size(fence.closing) - 1)
    at = text.rfind("\n", fence.body, last) + 1
    if at <= fence.body:
        at = max(_boundary(text, last), fence.body + 1)
    return f"{text[:at].removesuffix(_NEWLINE)}\n{fence.closing}", fence.again(text[at:])


def _table_head(text: str, at: int) -> str:
    """The head to repeat before the rest of a table that is cut here, if it leaves room for rows."""
    if text[at - 1 : at] != _NEWLINE or "|" not in text[at:].partition(_NEWLINE)[0]:
        return ""
    lines = text[text.rfind("\n\n", 0, at) + 1 : at].split("\n")[:-1]
    rows = next((number for number in range(len(lines), 0, -1) if "|" not in lines[number - 1]), 0)
    table = lines[rows:]
    under = (number for number, line in enumerate(table) if number and _UNDER_A_HEAD.fullmatch(line))
    second = next(under, 0)
    head = f"{table[second - 1]}\n{table[second]}\n" if second else ""
    return head if len(head) < at * _MOST_OF_A_HEAD else ""


def _fitting(text: str, limit: int) -> int:
    """How many characters fit into the limit."""
    used = 0
    for position, character in enumerate(text):
        used += 2 if character > "\uffff" else 1
        if used > limit:
            return position
    return len(text)


def _fences(text: str, end: int) -> list[_CodeBlock]:
    """The code blocks that begin before a position, in order; only the last may be open there."""
    fences: list[_CodeBlock] = []
    for found in FENCE.finditer(text, 0, end):
        fence = fences[-1] if fences else None
        if fence is not None and fence.end is None:
            if fence.is_closed_by(found):
                fences[-1] = replace(fence, end=found.end())
        elif (
            len(found["lead"]) <= _LONGEST_LEAD
            and len(found["mark"]) <= _LONGEST_MARK
            and len(found["info"]) <= _LONGEST_INFO
        ):
            lead = re.sub(r"[^\s>]", " ", found["lead"])
            fences.append(_CodeBlock(lead, found["mark"], found["info"], found.start(), found.end() + 1))
    return fences


def _boundary(text: str, at: int) -> int:
    """The last position up to `at` that is not within an emoji or an accented letter; at least 1."""
    whole = at
    while whole > 1 and not _is_boundary(text, whole):
        whole -= 1
    return whole if whole > 1 or at <= 1 else at


def _is_boundary(text: str, at: int) -> bool:
    """Whether a position is not within an emoji or an accented letter."""
    if at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before == "\u200d" or _extends(after):
        return False
    if _is_flag_letter(before) and _is_flag_letter(after):
        run = at
        while run > 0 and _is_flag_letter(text[run - 1]):
            run -= 1
        return (at - run) % 2 == 0
    return True


def _extends(character: str) -> bool:
    return (
        character in "\u200d\ufe0e\ufe0f\u20e3"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or unicodedata.category(character).startswith("M")
    )


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"

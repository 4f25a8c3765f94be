"""FAQs as Markdown: questions are headings, with the answers below.

Files that we write are read back unchanged: an answer that would be read differently (it has headings, or an open code
block) is written as a fenced block with a name of ours.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from urllib.parse import quote, unquote

from markdown_it.token import Token

from bot.adapters.commonmark import parser
from bot.adapters.sources.entries import FileFault, SourceEntry
from bot.adapters.sources.faq import FaqEntry, entry_of
from memory.model import Audience

_FENCE_NAME = "goodbot-answer"
"""The name of the fenced block of an answer."""
_FENCED = re.compile(rf"(?P<fence>`{{3,}}){_FENCE_NAME}\n(?P<text>.*)\n(?P=fence)", re.DOTALL)
_NOTE = re.compile(r"<!-- goodbot (?P<fields>(?:[a-z]+=\S* ?)*)-->")
_AUTHOR = re.compile(r"\*Taught by (?P<name>[^\n]+)\*")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])|<br ?/?>|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")
"""Escapes in a heading: an escaped character, a line break, a character reference."""
_QUESTION_LEVEL = 3
_NO_LEVEL = 7
"""Lower than any heading, if no heading has text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heading:
    level: int
    text: str
    line: int
    """Its line number, from 0."""
    body: int
    """The line after it."""


# Reading ----------------------------------------------------------------------------------------------------------


def read(text: str) -> Iterator[SourceEntry | FileFault]:
    """Read the headings with text below. Headings of a higher level are sections, lower ones are parts of answers."""
    lines = text.split("\n")
    headings = _headings(text)
    level = _question_level(headings, lines)
    fields: dict[str, str] = {}
    for number, heading in enumerate(headings):
        below = headings[number + 1 :]
        end = next((each.line for each in below if each.level <= level), len(lines))
        body = "\n".join(lines[heading.body : end]).strip()
        if heading.level < level:
            fields = _noted(body)
        elif heading.level == level:
            yield _entry(f"line {heading.line + 1}", heading.text, body, fields)


def _headings(text: str) -> list[_Heading]:
    """The headings outside of lists, quotes and code."""
    tokens: Sequence[Token] = parser().parse(text)
    return [
        _Heading(level=int(token.tag[1]), text=_unescaped(tokens[at + 1].content), line=token.map[0], body=token.map[1])
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map is not None
    ]


def _question_level(headings: Sequence[_Heading], lines: Sequence[str]) -> int:
    """The level of questions: below our notes, else of most questions with text below, else of most such headings."""
    asking: Counter[int] = Counter()
    answered: Counter[int] = Counter()
    ends = [*(each.line for each in headings[1:]), len(lines)]
    for heading, end in zip(headings, ends, strict=False):
        body = "\n".join(lines[heading.body : end]).strip()
        if _NOTE.match(body):
            return heading.level + 1
        if body:
            answered[heading.level] += 1
            asking[heading.level] += heading.text.rstrip().endswith(("?", "？"))
    counts = +asking or answered
    return max(counts, key=lambda level: (counts[level], -level), default=_NO_LEVEL)


def _noted(body: str) -> dict[str, str]:
    """The fields in the note of a section of ours."""
    found = _NOTE.match(body)
    if found is None:
        return {}
    pairs = (each.partition("=") for each in found["fields"].split())
    return {name: unquote(value) for name, _, value in pairs}


def _entry(position: str, question: str, body: str, fields: dict[str, str]) -> SourceEntry | FileFault:
    author = ""
    if fields:
        above, _, last = body.rpartition("\n\n")
        if found := _AUTHOR.fullmatch(last):
            body, author = above, _unescaped(found["name"])
    whole = _FENCED.fullmatch(body) if fields else None
    try:
        return entry_of(
            position, {**fields, "question": question, "answer": whole["text"] if whole else body, "author": author}
        )
    except ValueError as error:
        return FileFault(position=position, reason=str(error))


def _unescaped(text: str) -> str:
    def shown(found: re.Match[str]) -> str:
        if found[1]:
            return found[1]
        return "\n" if found[0].startswith("<") else unescape(found[0])

    return _ESCAPE.sub(shown, text)


# Writing ----------------------------------------------------------------------------------------------------------


def write(entries: Iterable[FaqEntry], title: str) -> str:
    """The file of these entries in sections by audience; their order in a section is kept."""
    sections: dict[tuple[str, ...], list[FaqEntry]] = {}
    for each in entries:
        where = (each.audience.value, each.channel, each.visibility.value, each.place)
        sections.setdefault(where, []).append(each)
    written = [f"# {_escaped(title)}"]
    for (audience, channel, visibility, place), inside in sections.items():
        fields = {"audience": audience, "channel": channel, "visibility": visibility, "place": place}
        note = " ".join(f"{name}={quote(value, safe=_SAFE)}" for name, value in fields.items() if value)
        readers = "everybody" if audience == Audience.WORKSPACE else place or channel or "the channel"
        written += [f"## {_escaped(f'For {readers}')}", f"<!-- goodbot {note} -->"]
        written += [_block(each) for each in inside]
    return "\n\n".join(written) + "\n"


def _block(entry: FaqEntry) -> str:
    head = f"{'#' * _QUESTION_LEVEL} {_escaped(entry.question)}"
    author = f"\n\n*Taught by {_escaped(entry.author)}*" if entry.author else ""
    plain = f"{head}\n\n{entry.answer}{author}"
    if _is_read_back(plain, entry):
        return plain
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", entry.answer)), 3)
    return f"{head}\n\n{fence}{_FENCE_NAME}\n{entry.answer}\n{fence}{author}"


def _is_read_back(block: str, entry: FaqEntry) -> bool:
    """Whether a block between two others is read back unchanged."""
    head, note = f"{'#' * (_QUESTION_LEVEL - 1)} S\n\n", "<!-- goodbot audience=workspace -->"
    around = "#" * _QUESTION_LEVEL + " b?\n\nb"
    found = list(read(f"{head}{note}\n\n{around}\n\n{block}\n\n{around}\n"))
    if len(found) != 3 or not all(isinstance(each, SourceEntry) for each in found):
        return False
    middle = found[1]
    return isinstance(middle, SourceEntry) and (middle.answer, middle.author) == (entry.answer, entry.author)


_SAFE = "#@:.,+"
_NEEDS_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~\n])|<(?=br ?/?>)|&(?=#?\w+;)|#(?=#*$)")


def _escaped(text: str) -> str:
    """A text as one line of Markdown, with escapes only where needed."""
    escaped = _NEEDS_ESCAPE.sub(r"\\\g<0>", text)
    return "<br>".join(escaped.split("\n"))

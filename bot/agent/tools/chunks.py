"""Splits Markdown and plain text documents into passages, for search."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

CHUNK_CHARACTERS = 800
_TITLE_CHARACTERS = 200
"""Headings are cut, as every passage repeats those above it."""

_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*)")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A passage and the headings above it."""

    heading: str
    """For example `Handbook > Holidays`; empty if there is none."""
    text: str


def chunk_document(text: str, *, is_markdown: bool) -> list[Chunk]:
    """The passages of a document, at most `CHUNK_CHARACTERS` each, cut at headings, then paragraphs, then sentences."""
    chunks: list[Chunk] = []
    for heading, section in _sections(text, is_markdown=is_markdown):
        chunks.extend(Chunk(heading=heading, text=passage) for passage in _passages(section))
    return chunks


def _sections(text: str, *, is_markdown: bool) -> Iterator[tuple[str, str]]:
    """Headings and text of each section. A `#` inside a code fence is no heading."""
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line) if is_markdown else None
        if mark and (not fence or mark[1] == fence):
            fence = "" if fence else mark[1]
        match = _HEADING.match(line) if is_markdown and not fence else None
        if match is None:
            lines.append(line)
            continue
        yield _joined(path), "\n".join(lines)
        lines = []
        level = len(match[1])
        path = [*(entry for entry in path if entry[0] < level), (level, _title(match[2]))]
    yield _joined(path), "\n".join(lines)


def _title(heading: str) -> str:
    """The text of a heading, without the `#` that may close it."""
    text = heading.rstrip()
    return (text.rstrip("#").rstrip() or text[:1])[:_TITLE_CHARACTERS]


def _joined(path: list[tuple[int, str]]) -> str:
    return " > ".join(title for _, title in path)


def _passages(section: str) -> Iterator[str]:
    """The passages of a section: whole paragraphs while they fit; longer paragraphs are cut."""
    gathered = ""
    for paragraph in re.split(r"\n\s*\n", section):
        for piece in _pieces(paragraph.strip()):
            together = f"{gathered}\n\n{piece}" if gathered else piece
            if len(together) <= CHUNK_CHARACTERS:
                gathered = together
                continue
            if gathered:
                yield gathered
            gathered = piece
    if gathered:
        yield gathered


def _pieces(paragraph: str) -> Iterator[str]:
    """A paragraph in pieces of at most `CHUNK_CHARACTERS`, cut after sentences, else at spaces, else anywhere."""
    gathered = ""
    for sentence in _SENTENCE_END.split(paragraph) if len(paragraph) > CHUNK_CHARACTERS else [paragraph]:
        if len(gathered) + 1 + len(sentence) <= CHUNK_CHARACTERS:
            gathered = f"{gathered} {sentence}" if gathered else sentence
            continue
        if gathered:
            yield gathered
        start = 0
        while len(sentence) - start > CHUNK_CHARACTERS:
            cut = sentence.rfind(" ", start + CHUNK_CHARACTERS // 2, start + CHUNK_CHARACTERS)
            cut = cut if cut > 0 else start + CHUNK_CHARACTERS
            yield sentence[start:cut].strip()
            start = _after_space(sentence, cut)
        gathered = sentence[start:]
    if gathered:
        yield gathered


def _after_space(text: str, position: int) -> int:
    """The position of the next character that is no space."""
    found = _SPACE.match(text, position)
    return found.end() if found else position

"""The lines that open and close code in CommonMark (0.31, 4.5), also in a list or a quote."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

FENCE = re.compile(
    r"^(?P<lead>[ \t>]*+(?P<items>(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+))(?P<mark>`{3,}+|~{3,}+)(?P<info>[^`\n]*+)$",
    re.MULTILINE,
)
"""A line that opens code, or closes it (`Fence.is_closed_by`)."""
_CLOSES_WITHIN = 3
"""Columns by which a line that closes code may be further in than the one that opened it."""

_NAMED = re.compile(r"[ \t]*(?:[A-Za-z][\w+#.-]{0,19})?[ \t]*\n")
"""The rest of a line that opens code: nothing, or the name of a language."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A line that opened code: what stands before it, its backticks or tildes, and the language it names."""

    lead: str
    mark: str
    info: str

    def is_closed_by(self, line: re.Match[str]) -> bool:
        """Whether this line, a `FENCE` too, closes the code."""
        is_near = len(line["lead"]) <= len(self.lead) + _CLOSES_WITHIN
        return is_near and not (line["items"] or line["info"].strip()) and line["mark"].startswith(self.mark)


def parted(text: str) -> Iterator[tuple[str, bool]]:
    """The text in parts that join to it, and whether each is code: what stands between two fences, without them."""
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


def on_own_lines(text: str) -> str:
    """Code between three backticks in lines of its own, with all its characters.

    Slack writes code as it is between the backticks, also within a line: what CommonMark would read as the name of a
    language is its first line there. Only code that was typed with a name, and closed on a line of its own, has one.
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
        written += ["```\n", code.strip("\n"), "\n```", rest]
    return "".join(written)


def _stands_alone(before: str, code: str, after: str) -> bool:
    """Whether CommonMark reads it as code of the same lines already."""
    line = before.rpartition("\n")[2]
    is_begun = line.strip(" \t>") == "" and _NAMED.match(code) is not None
    return is_begun and code.rstrip(" \t>").endswith("\n") and (after.strip(" ") == "" or after.lstrip(" ")[0] == "\n")

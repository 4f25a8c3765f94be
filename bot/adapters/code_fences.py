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

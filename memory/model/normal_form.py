"""Normalising texts for comparison and display: Unicode normal forms in linear time, and white space.

Ordering combining characters takes quadratic time in their number, which is therefore limited here.
"""

import re
import unicodedata
from typing import Literal

MOST_MARKS = 30
"""The most combining characters in a row that are kept (Unicode Standard Annex 15, "Stream-Safe Text Format"), more
than any language uses."""

_HALF_WIDTH_MARKS = "\uff9e\uff9f"
"""Characters that become combining characters in the compatibility forms."""
_MAYBE_MARKS = re.compile(rf"(?:[^\w\x00-\x7f]|[{_HALF_WIDTH_MARKS}]){{{MOST_MARKS + 1},}}+")


def normalised(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """`unicodedata.normalize`, without the combining characters beyond `MOST_MARKS` in a row."""
    return unicodedata.normalize(form, text if text.isascii() else _MAYBE_MARKS.sub(_fewer, text))


def _fewer(found: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in found[0]:
        is_mark = unicodedata.combining(character) > 0 or character in _HALF_WIDTH_MARKS
        marks = marks + 1 if is_mark else 0
        if marks <= MOST_MARKS:
            kept.append(character)
    return "".join(kept)


def comparable(text: str) -> str:
    """The text normalised for comparison that ignores case and white space."""
    return " ".join(text.split()).casefold()


def shortened(text: str, limit: int) -> str:
    """The text with white space collapsed, cut to `limit` characters with an ellipsis."""
    folded = " ".join(text.split())
    return folded if len(folded) <= limit else folded[: limit - 1].rstrip() + "…"

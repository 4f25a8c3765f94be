"""Whether a text repeats another word for word: what decides whose words it contains. In linear time.

The detector of used lessons finds what is retold, too: it would take an answer for a copy of its question.
"""

import re

RUN = 4
"""How many words in a row make a quotation; of a shorter text, all of them."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
"""A word; of scripts without spaces, a character."""


def repeats(text: str, source: str) -> bool:
    """Whether a text has `RUN` words of the source in a row, or the whole of a shorter one."""
    runs = _runs(source, RUN)
    return bool(runs and runs & _runs(text, len(next(iter(runs)))))


def _runs(text: str, length: int) -> set[tuple[str, ...]]:
    """All runs of so many words in a row; of a shorter text, the whole."""
    words = WORD.findall(text.casefold())
    length = min(length, len(words))
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)} if length else set()

"""What two texts have in common as answers."""

import re
from dataclasses import dataclass
from functools import lru_cache

SAME_WORDS = 0.8
"""Share of all words of two answers that both must have to say the same."""

COMPARED = 2_000
"""Characters of an answer that are compared word by word."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """An answer as it is compared with others."""

    words: frozenset[str]
    """Those among the first `COMPARED` characters."""
    exact: tuple[str, ...]
    """What must be alike: its words with a digit in them, in alphabetical order, and the rest of a long text."""

    @classmethod
    @lru_cache(maxsize=4096)
    def of(cls, text: str) -> "AnswerWords":
        """The words of a text, without their case."""
        words = _WORD.findall(text[:COMPARED].casefold())
        return cls(frozenset(words), (*sorted(filter(_DIGIT.search, words)), text[COMPARED:]))

    def says_the_same_as(self, other: "AnswerWords") -> bool:
        """Whether it has the same words in the main, and every number alike ("page 101", "page 102")."""
        if self.exact != other.exact:
            return False
        return len(self.words & other.words) >= SAME_WORDS * len(self.words | other.words)

"""What two texts have in common as answers."""

import re
from dataclasses import dataclass

SAME_WORDS = 0.8
"""Share of all words of two answers that both must have to say the same."""

COMPARED = 2_000
"""Characters of an answer that are compared word by word."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_DIGIT = re.compile(r"\d")


_MOST_KNOWN = 4096

_known: dict[int, "AnswerWords"] = {}
"""Of the texts that were read last, by their hashes: what is forgotten stays in no process's memory."""


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """An answer as it is compared with others, by this process's hashes, from which no word can be read."""

    words: frozenset[int]
    """Those among the first `COMPARED` characters."""
    exact: int
    """What must be alike: its words with a digit in them, in alphabetical order, and the rest of a long text."""

    @classmethod
    def of(cls, text: str) -> "AnswerWords":
        """The words of a text, without their case."""
        key = hash(text)
        found = _known.get(key)
        if found is None:
            words = _WORD.findall(text[:COMPARED].casefold())
            numbered = [word for word in words if not word.isalpha() and _DIGIT.search(word)]
            exact = hash((*sorted(numbered), text[COMPARED:]))
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            found = _known[key] = cls(frozenset(map(hash, words)), exact)
        return found

    def says_the_same_as(self, other: "AnswerWords") -> bool:
        """Whether it has the same words in the main, and every number alike ("page 101", "page 102")."""
        if self.exact != other.exact:
            return False
        return len(self.words & other.words) >= SAME_WORDS * len(self.words | other.words)

"""Whether two answers say the same, by their words."""

import re
from dataclasses import dataclass
from functools import cache

from memory.rules.use_detection.vocabulary import all_languages, stop_words

SAME_WORDS = 0.8
"""The least share of all words of two answers that both must have to say the same."""

COMPARED = 2_000
"""Characters of an answer that are compared word by word."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_FROM_DIGIT, _FROM_ASCII_DIGIT = re.compile(r"\d[^\W_]*"), re.compile(r"[0-9][^\W_]*")
"""From a word's first digit to its end. The second finds the same in ASCII texts, in half of the time."""

_SIGN = re.compile(r"[+#%°€$£¥−<>-](?:(?<=[\w+#][+#])|(?<=[%°€$£¥])|(?<=[-−])(?<!\w[-−])(?=\d)|(?<=[<>])(?=\d))")
"""Signs that tell "C++" from "C#", "-5" from "5" and "5 %" from "5 €". The pattern starts with the sign and looks
around it afterwards, which is much faster."""

_MOST_KNOWN = 4096

_known: dict[int, "AnswerWords"] = {}
"""A cache by the texts' hashes; texts themselves are not kept, so that no process keeps forgotten ones."""


def exact_part(text: str) -> int:
    """A hash, valid in this process, of what must be equal in two answers that say the same.

    These are words with digits, in order ("room 2 at 3", "version 1.5"), a few signs, the rest of a text beyond
    `COMPARED` characters, and the whole text if it has no words. Most answers differ in this already, and it is much
    faster than comparing all words.
    """
    compared = text[:COMPARED].casefold()
    signs = _SIGN.findall(compared)
    wordless = "" if _WORD.search(compared) else compared.strip()
    return hash((*numbered_words(compared), *sorted(signs), wordless, text[COMPARED:]))


def numbered_words(text: str) -> list[str]:
    """The words with a digit, in order."""
    found: list[str] = []
    for match in (_FROM_ASCII_DIGIT if text.isascii() else _FROM_DIGIT).finditer(text):
        start, end = match.span()
        while start and text[start - 1].isalnum():
            start -= 1
        found.append(text[start:end])
    return found


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """An answer for comparison, as hashes valid in this process, so that no words are kept."""

    words: frozenset[int]
    """The words among the first `COMPARED` characters."""
    exact: int
    """What must be equal (`exact_part`)."""
    core: int
    """A hash of the words without `_small_words`, which must be equal too."""

    @classmethod
    def of(cls, text: str) -> "AnswerWords":
        """The words of a text, ignoring case."""
        key = hash(text)
        found = _known.get(key)
        if found is None:
            words = frozenset(map(hash, _WORD.findall(text[:COMPARED].casefold())))
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            found = _known[key] = cls(words, exact_part(text), hash(words - _small_words()))
        return found

    def says_the_same_as(self, other: "AnswerWords") -> bool:
        """Whether two answers have equal numbers ("page 101", "page 102"), and mostly the same words.

        They say different things if each has a word that the other lacks ("on Monday", "on Tuesday"), or if one has
        additional words other than stop words that deny nothing ("you may not").
        """
        if self.exact != other.exact or self.core != other.core:
            return False
        more = self.words ^ other.words
        if not more:
            return True
        is_more_of_one = more <= self.words or more <= other.words
        is_small = more <= _small_words() and len(self.words & other.words) >= SAME_WORDS * len(
            self.words | other.words
        )
        return is_more_of_one and is_small


@cache
def _small_words() -> frozenset[int]:
    """The hashes of stop words that deny nothing, in all languages."""
    denying = {word for language in all_languages() for word in language.denies | language.without}
    return frozenset(map(hash, stop_words() - denying))

"""What two texts have in common as answers."""

import re
from dataclasses import dataclass
from functools import cache

from memory.rules.feedback.vocabulary import all_languages, stop_words

SAME_WORDS = 0.8
"""Share of all words of two answers that both must have to say the same."""

COMPARED = 2_000
"""Characters of an answer that are compared word by word."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_FROM_DIGIT, _FROM_ASCII_DIGIT = re.compile(r"\d[^\W_]*"), re.compile(r"[0-9][^\W_]*")
"""From a word's first digit to its end; in a text of ASCII alone the second finds the same in half of the time."""

_SIGN = re.compile(r"[+#%°€$£¥−<>-](?:(?<=[\w+#][+#])|(?<=[%°€$£¥])|(?<=[-−])(?<!\w[-−])(?=\d)|(?<=[<>])(?=\d))")
"""What tells "C++" from "C#", "-5" from "5" and "5 %" from "5 €". The sign comes before what surrounds it, so that a
text is looked through for the signs alone, in a small part of the time."""

_MOST_KNOWN = 4096

_known: dict[int, "AnswerWords"] = {}
"""Of the texts that were read last, by their hashes: what is forgotten stays in no process's memory."""


def exact_part(text: str) -> int:
    """What must be alike in two answers that say the same, by this process's hash.

    It is their words with a digit in them, in order ("room 2 at 3", "version 1.5"), a few signs, the rest of a long
    text, and all of one that has no words. Most answers differ in that already, and it is found in a small part of the
    time of reading all words.
    """
    compared = text[:COMPARED].casefold()
    signs = _SIGN.findall(compared)
    wordless = "" if _WORD.search(compared) else compared.strip()
    return hash((*numbered_words(compared), *sorted(signs), wordless, text[COMPARED:]))


def numbered_words(text: str) -> list[str]:
    """The words with a digit in them."""
    found: list[str] = []
    for match in (_FROM_ASCII_DIGIT if text.isascii() else _FROM_DIGIT).finditer(text):
        start, end = match.span()
        while start and text[start - 1].isalnum():
            start -= 1
        found.append(text[start:end])
    return found


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """An answer as it is compared with others, by this process's hashes, from which no word can be read."""

    words: frozenset[int]
    """Those among the first `COMPARED` characters."""
    exact: int
    """What must be alike (`exact_part`)."""
    core: int
    """Nor do those say the same of which this differs: it is of the words that are not small."""

    @classmethod
    def of(cls, text: str) -> "AnswerWords":
        """The words of a text, without their case."""
        key = hash(text)
        found = _known.get(key)
        if found is None:
            words = frozenset(map(hash, _WORD.findall(text[:COMPARED].casefold())))
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            found = _known[key] = cls(words, exact_part(text), hash(words - _small_words()))
        return found

    def says_the_same_as(self, other: "AnswerWords") -> bool:
        """Whether it has the same words in the main, and every number alike ("page 101", "page 102").

        Where each has a word of its own it says something else ("on Monday", "on Tuesday"), and where one has more than
        small words that deny nothing beside ("you may not").
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
    """The hashes of the words that add nothing to an answer, in every language."""
    denying = {word for language in all_languages() for word in language.denies | language.without}
    return frozenset(map(hash, stop_words() - denying))

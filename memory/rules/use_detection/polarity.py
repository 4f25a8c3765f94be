"""Which words of a text are denied, by cues, not by grammar.

A denying word denies the other words of its clause; "without" denies the next few words; "do not forget to" and "no
problem" deny nothing. Two denials of the same word cancel each other.
"""

import re
from collections.abc import Sequence

from memory.rules.use_detection.vocabulary import Language, fold, stop_words
from memory.rules.use_detection.words import WORD, Term, clauses

_ENGLISH_SHORT = re.compile(r"\w+n't|(?:is|are|was|were|do|does|did|should|would|could|wo|ca|must|has|have)nt")
_REACH = 3
"""The most words that "without" denies: those from the next content word up to the following stop word."""
_INSTEAD = "\u2298"
"""Replaces "instead of" in simplified text; no language uses this character."""


def simplified(text: str, languages: Sequence[Language]) -> str:
    """The folded text with a clause end before "but" and "instead of", so that denials end there."""
    folded = fold(text)
    for language in languages:
        folded = language.instead.sub(f", {_INSTEAD}x ", folded)
        folded = language.but.sub(", ", folded)
    return folded


class Denials:
    """The denied words of a simplified text."""

    def __init__(self, text: str, languages: Sequence[Language]) -> None:
        self._languages = languages
        self._without = {word for language in languages for word in language.without}
        self._denies = {word for language in languages for word in language.denies}
        self._marks = {mark for language in languages for mark in language.marks}
        self._clauses: set[int] = set()
        self._close: set[tuple[int, int]] = set()
        for number, clause in enumerate(clauses(text)):
            self._read(number, clause)

    def __contains__(self, term: Term) -> bool:
        return (term.clause in self._clauses) != ((term.clause, term.position) in self._close)

    def __bool__(self) -> bool:
        return bool(self._clauses or self._close)

    def _read(self, number: int, clause: str) -> None:
        words = list(WORD.finditer(clause))
        without = {place for place, word in enumerate(words) if self._is_without(word)}
        denying = {place for place, word in enumerate(words) if place not in without and self._is_denying(word[0])}
        marks = {
            found.start() for mark in self._marks if mark in clause for found in re.finditer(re.escape(mark), clause)
        }
        if not (without or denying or marks):
            return
        harmless = {
            place
            for language in self._languages
            for found in language.harmless.finditer(clause)
            for place in range(*found.span())
        }
        meaningful = _meaningful([word[0] for word in words])
        for place in without:
            if words[place].start() not in harmless:
                self._close |= {(number, reached) for reached in _reached(meaningful, place + 1)}
        if any(words[place].start() not in harmless for place in denying):
            self._clauses.add(number)
        if len(marks - harmless) % 2:
            self._clauses ^= {number}

    def _is_without(self, word: re.Match[str]) -> bool:
        return word[0] in self._without or word.string.endswith(_INSTEAD, 0, word.start())

    def _is_denying(self, word: str) -> bool:
        return word in self._denies or (word.endswith("t") and _ENGLISH_SHORT.fullmatch(word) is not None)


def _meaningful(words: Sequence[str]) -> list[int]:
    """For each index, and for the end, the index of the first word from there on that is no stop word."""
    places = [len(words)] * (len(words) + 1)
    for place in reversed(range(len(words))):
        places[place] = places[place + 1] if words[place] in stop_words() else place
    return places


def _reached(meaningful: Sequence[int], start: int) -> Sequence[int]:
    """The indexes of the first content words from `start` on, up to the next stop word, at most `_REACH`."""
    first, end = meaningful[start], len(meaningful) - 1
    reach = range(first, min(first + _REACH, end))
    return reach[: next((number for number, place in enumerate(reach) if meaningful[place] != place), _REACH)]


def admits_ignorance(text: str, languages: Sequence[Language]) -> bool:
    """Whether a text says that its author does not know."""
    folded = fold(text)
    return any(language.unknowing.search(folded) for language in languages)


def yes_or_no(text: str, languages: Sequence[Language]) -> bool | None:
    """True for a text that begins with yes, False for no, None for neither."""
    folded = fold(text).strip()
    first = WORD.search(folded)
    if first is None or any(language.harmless.match(folded) for language in languages):
        return None
    if any(first.group() in language.yes for language in languages):
        return True
    return False if any(first.group() in language.no for language in languages) else None

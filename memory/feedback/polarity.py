"""What a text denies: cues, not grammar.

A denying word denies the other words of its clause; "without" denies what follows it closely; "do not forget to" and
"no problem" deny nothing. Two denials of the same word cancel each other.
"""

import re
from collections.abc import Sequence

from memory.feedback.vocabulary import Language, fold, stop_words
from memory.feedback.words import WORD, Term, clauses

_ENGLISH_SHORT = re.compile(r"\w+n't|(?:is|are|was|were|do|does|did|should|would|could|wo|ca|must|has|have)nt")
_REACH = 3
"""How many words that carry meaning "without" denies: those that follow it up to the next small word."""
_INSTEAD = "\u2298"
"""Stands for "instead of" in simplified text; no language has it."""


def simplified(text: str, languages: Sequence[Language]) -> str:
    """The folded text with a clause end before "but" and before "instead of", so that what is denied ends there."""
    folded = fold(text)
    for language in languages:
        folded = language.instead.sub(f", {_INSTEAD}x ", folded)
        folded = language.but.sub(", ", folded)
    return folded


class Denials:
    """Which words of a simplified text are denied."""

    def __init__(self, text: str, languages: Sequence[Language]) -> None:
        self._languages = languages
        self._clauses: set[int] = set()
        self._close: set[tuple[int, int]] = set()
        for number, clause in enumerate(clauses(text)):
            self._read(number, clause)

    def __contains__(self, term: Term) -> bool:
        return (term.clause in self._clauses) != ((term.clause, term.position) in self._close)

    def __bool__(self) -> bool:
        return bool(self._clauses or self._close)

    def _read(self, number: int, clause: str) -> None:
        harmless = [m.span() for language in self._languages for m in language.harmless.finditer(clause)]

        def counts(start: int) -> bool:
            return not any(begin <= start < end for begin, end in harmless)

        words = WORD.findall(clause)
        for position, word in enumerate(WORD.finditer(clause)):
            if not counts(word.start()):
                continue
            said = word.group()
            is_instead = word.start() > 0 and clause[word.start() - 1] == _INSTEAD
            if is_instead or any(said in language.without for language in self._languages):
                self._close |= {(number, place) for place in _reached(words, position)}
            elif _ENGLISH_SHORT.fullmatch(said) or any(said in language.denies for language in self._languages):
                self._clauses.add(number)
        marks = {
            found.start()
            for language in self._languages
            for mark in language.marks
            for found in re.finditer(re.escape(mark), clause)
            if counts(found.start())
        }
        if len(marks) % 2:
            self._clauses ^= {number}


def _reached(words: Sequence[str], position: int) -> list[int]:
    reached: list[int] = []
    for place in range(position + 1, len(words)):
        if words[place] not in stop_words():
            reached.append(place)
        elif reached:
            break
    return reached[:_REACH]


def admits_ignorance(text: str, languages: Sequence[Language]) -> bool:
    """Whether a text says that it does not know."""
    folded = fold(text)
    return any(language.unknowing.search(folded) for language in languages)


def stance(text: str, languages: Sequence[Language]) -> bool | None:
    """True for a text that begins with yes, False for no, None for neither."""
    folded = fold(text).strip()
    first = WORD.search(folded)
    if first is None or any(language.harmless.match(folded) for language in languages):
        return None
    if any(first.group() in language.yes for language in languages):
        return True
    return False if any(first.group() in language.no for language in languages) else None

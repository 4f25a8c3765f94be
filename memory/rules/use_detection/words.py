"""Splits text into comparable terms: folded, stemmed and weighted, each with its position.

Scripts without spaces, and Hangul, whose words include particles, are compared by pairs of neighbouring characters.
"""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from Stemmer import Stemmer

from memory.rules.use_detection.vocabulary import (
    Language,
    all_languages,
    empty_words,
    number_words,
    stop_words,
    without_accents,
)

WORD = re.compile(r"[^\W_]+(?:[-'.:/@_][^\W_]+)*")
_CONNECTORS = re.compile(r"[-'.:/@_]")
_NUMBER = re.compile(r"\d+(?:[.:/-]\d+)*")
_MEASURE = re.compile(r"(\d+(?:[.:/]\d+)*)(?:[-']?[^\W\d_]{1,9})")
"""`14-day`, `5pm`, `10'dur`: a number with its unit."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
"""Thai, Lao, Burmese, Khmer, kana, Han and Hangul."""
_MARK = r"[.!?;,()—…]"
_CLAUSE_END = re.compile(
    # A run of marks at the end of a word; otherwise, only up to a closing bracket, dash or ellipsis in the run.
    rf"(?<!{_MARK})(?:{_MARK}++(?=\s|$|[^\x00-\x7f])|{_MARK}+(?=[)—…]))|[\n。、，！？；।،؟]"
)
_EMOJI_CODE = re.compile(r":[a-z0-9_+-]+:")
_FULL_HOUR = re.compile(r"\b0?(\d{1,2})[:.]00\b")
_SMALL_HOUR = re.compile(r"\b0(\d:\d\d)\b")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")

_SHARED = 4
"""The least number of initial letters that forms of one word share."""
_LONGEST_WORD = 64
"""The most letters of a word for which other forms are searched; longer strings are words in no language."""

NUMBER_WEIGHT = 3.0
"""Weight of terms with digits: values, versions, addresses. They are the most specific part of a lesson."""
NAME_WEIGHT = 2.0
"""Weight of names, abbreviations, and compounds joined by `@`, `/`, `_` or `:`."""
WORD_WEIGHT = 1.0
PIECE_WEIGHT = 0.5
"""Weight of pairs of characters in scripts without spaces, and of words under three letters."""


class Term(NamedTuple):
    """A word of a text with its position. `forms` are the spellings that count as the same word."""

    text: str
    forms: frozenset[str]
    stem: str
    weight: float
    clause: int
    """The index of its clause."""
    position: int
    """Its index among the words of the clause."""
    number: str = ""
    """The numeric value, which must be equal to match; empty for a word."""


def clauses(text: str) -> list[str]:
    """The text split at punctuation, unmarked, with its case."""
    return [clause for clause in _CLAUSE_END.split(_plain(text)) if clause and not clause.isspace()]


def _plain(text: str) -> str:
    without_codes = _EMOJI_CODE.sub(" ", without_accents(text))
    return _DECIMAL_COMMA.sub(".", _SMALL_HOUR.sub(r"\1", _FULL_HOUR.sub(r"\1", without_codes)))


def terms(text: str, languages: Sequence[Language] = ()) -> list[Term]:
    """All terms of a text but stop words, in order, with repetitions. Number words of `languages` become digits."""
    shouts = text.isupper()
    names = tuple(language.name for language in languages)
    digits, has_names = number_words(names), "de" not in names
    found: list[Term] = []
    for number, clause in enumerate(clauses(text)):
        for position, word in enumerate(WORD.findall(clause)):
            is_name = not shouts and (_is_short_name(word) or (has_names and position > 0 and word[0].isupper()))
            written = digits.get(word.casefold(), word)
            parts = _known_parts if len(written) <= _LONGEST_WORD else _parts
            for term, forms, stem, weight, value in parts(written, is_name):
                found.append(Term(term, forms, stem, weight, number, position, value))
    return found


def says_something(text: str) -> bool:
    """Whether a text has words other than empty ones such as "thanks" and "all right"; emoji do not count."""
    words = [word for clause in clauses(text) for word in WORD.findall(clause.casefold())]
    return any(word not in empty_words() and word.replace("'", "") not in empty_words() for word in words)


def has_words(text: str) -> bool:
    """Whether a text has a letter or digit outside emoji codes."""
    return any(character.isalnum() for character in _EMOJI_CODE.sub(" ", text))


def content_words(text: str) -> set[str]:
    """The folded words of a text without stop words, with parts of compounds."""
    return {form for term in terms(text, all_languages()[:1]) for form in term.forms if form not in stop_words()}


def _is_short_name(word: str) -> bool:
    return word.isupper() and len(word) > 1


class _Part(NamedTuple):
    """A term without its position."""

    text: str
    forms: frozenset[str]
    stem: str
    weight: float
    number: str = ""


def _parts(word: str, is_name: bool) -> tuple[_Part, ...]:
    """The terms of a word: itself, and pairs of neighbouring characters of its parts in scripts without spaces."""
    return tuple(_each_part(word, is_name))


_known_parts = functools.lru_cache(maxsize=20_000)(_parts)
"""`_parts` with a cache, for words of up to `_LONGEST_WORD` letters; few words make up most of all text."""


def _each_part(word: str, is_name: bool) -> Iterator[_Part]:
    for run in _UNSPACED.findall(word):
        for start in range(max(1, len(run) - 1)):
            piece = run[start : start + 2]
            yield _Part(piece, frozenset([piece]), piece, PIECE_WEIGHT)
    is_mixed = _UNSPACED.search(word) is not None
    for spaced in _UNSPACED.sub(" ", word).split():
        folded = spaced.casefold()
        if _is_small(folded) and not (is_name and _is_short_name(spaced)):
            continue
        yield _Part(
            text=folded,
            forms=_forms(folded),
            stem=_stem(_joined(folded)) if len(folded) <= _LONGEST_WORD else _joined(folded),
            weight=_weight(folded, is_name=is_name or is_mixed),
            number=_number(folded),
        )


def _is_small(word: str) -> bool:
    """Whether it is a stop word, also with an ending after an apostrophe (`it's`, `there'll`)."""
    head, _, tail = word.partition("'")
    return word in stop_words() or (len(tail) <= 2 and tail != "t" and head in stop_words() and bool(tail))


def _number(word: str) -> str:
    if _NUMBER.fullmatch(word):
        return word
    measure = _MEASURE.fullmatch(word)
    return measure.group(1) if measure else ""


def _forms(word: str) -> frozenset[str]:
    parts = _CONNECTORS.split(word)
    if len(parts) == 1 or _NUMBER.fullmatch(word):
        return frozenset([word])
    return frozenset([word, _joined(word), *(part for part in parts if len(part) > 1 and part not in stop_words())])


def _joined(word: str) -> str:
    return word if _NUMBER.fullmatch(word) else _CONNECTORS.sub("", word)


def _weight(word: str, *, is_name: bool) -> float:
    if any(character.isdigit() for character in word):
        return NUMBER_WEIGHT
    if is_name or re.search(r"[@/_:]", word):
        return NAME_WEIGHT
    return PIECE_WEIGHT if len(word) < 3 else WORD_WEIGHT


_english: Callable[[str], str] = Stemmer("english", 0).stemWord  # 0: no cache, as `_stem` has one


@functools.lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """The English stem. Endings of other languages are handled by `TermIndex._find_alike`."""
    return _english(word) if word.isascii() and word.isalpha() else word


class TermIndex:
    """An index of a text's terms by form, stem and number.

    `is_denied` tells denied terms. Of equal terms, only the first denied and the first other one are kept: the count
    does not matter, and repetitions must not make look-ups slower.
    """

    def __init__(self, indexed: Iterable[Term], is_denied: Callable[[Term], bool] = lambda term: False) -> None:
        self._terms = [(term, is_denied(term)) for term in indexed]
        self._by_form: dict[str, dict[bool, Term]] = {}
        self._by_stem: dict[str, dict[bool, Term]] = {}
        self._by_number: dict[str, dict[bool, Term]] = {}
        for term, sign in self._terms:
            for form in term.forms:
                self._by_form.setdefault(form, {}).setdefault(sign, term)
            self._by_stem.setdefault(term.stem, {}).setdefault(sign, term)
            if term.number:
                self._by_number.setdefault(term.number, {}).setdefault(sign, term)

    def find(self, term: Term) -> list[Term]:
        """The text's terms that are this word or another form of it: at most one denied and one other per spelling."""
        if term.number:
            return list(self._by_number.get(term.number, {}).values())
        found = self._by_form.get(term.text) or self._by_stem.get(term.stem)
        return list(found.values()) if found else self._find_compound(term) or self._find_alike(term.text)

    def _find_compound(self, term: Term) -> list[Term]:
        """The terms of a compound, written as one word or as several."""
        if len(term.forms) == 1:
            return []
        joined = _joined(term.text)
        if joined in self._by_form:
            return list(self._by_form[joined].values())
        parts = [self._by_form.get(form, {}) for form in term.forms - {term.text, joined}]
        return [place for places in parts for place in places.values()] if parts and all(parts) else []

    def _find_alike(self, word: str) -> list[Term]:
        """Terms with another ending; a prefix "re" of the text's word is ignored unless `word` has it."""
        return self._beginnings[word.startswith("re")].alike(word)

    @functools.cached_property
    def _beginnings(self) -> dict[bool, "_Beginnings"]:
        """True: the words as they are; False: without a prefix "re"."""
        whole, bare = _Beginnings(), _Beginnings()
        for term, sign in self._terms:
            whole.add(term.text, term, sign)
            bare.add(term.text.removeprefix("re"), term, sign)
        return {True: whole, False: bare}


class _Beginnings:
    """Words by prefix: for each, the shortest word, which is the most similar one to words with that prefix."""

    def __init__(self) -> None:
        self._shortest: dict[str, dict[bool, tuple[int, Term]]] = {}

    def add(self, word: str, term: Term, sign: bool) -> None:
        """Add a word. Ignores words with other characters than letters, and very short or long ones."""
        if not _has_an_ending(word):
            return
        for end in range(_SHARED, len(word) + 1):
            known = self._shortest.setdefault(word[:end], {})
            if sign not in known or len(word) < known[sign][0]:
                known[sign] = len(word), term

    def alike(self, word: str) -> list[Term]:
        """Words that differ from this one only in their ending, one for each sign.

        Either one is a prefix of at least half of the other, or they share a prefix of 70 % of the longer one.
        """
        found: dict[bool, Term] = {}
        if word[:_SHARED] not in self._shortest or not _has_an_ending(word):
            return []
        for end in range(_SHARED, len(word) + 1):
            for sign, (length, term) in self._shortest.get(word[:end], {}).items():
                shorter, longer = sorted((len(word), length))
                if 2 * end >= longer if end == shorter else end >= 0.7 * longer:
                    found.setdefault(sign, term)
        return list(found.values())


def _has_an_ending(word: str) -> bool:
    return _SHARED < len(word) <= _LONGEST_WORD and word.isalpha()

"""Vocabularies by language (`vocabulary.toml`): words that negate or qualify sentences. And detection of languages."""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_TYPOGRAPHIC = str.maketrans({"’": "'", "‐": "-", "\u2011": "-"})
_MARKS = ("Mn", "Mc", "Me", "Cf")
_LATIN_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


def without_accents(text: str) -> str:
    """The text in NFKC, without accents and invisible characters."""
    if text.isascii():
        return text
    # Marks are removed before too, as normalisation sorts them in quadratic time.
    decomposed = unicodedata.normalize("NFKD", _without_marks(text.translate(_TYPOGRAPHIC)))
    # Compose Hangul again, which was decomposed with the accents.
    return unicodedata.normalize("NFC", _without_marks(decomposed))


def _without_marks(text: str) -> str:
    return "".join(c for c in text if unicodedata.category(c) not in _MARKS)


def fold(text: str) -> str:
    """The text in the form in which both sides are compared: unmarked and case-folded. The seed folds only one side."""
    return without_accents(text).casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The folded vocabulary of one language. Patterns match folded text; a missing one matches nothing."""

    name: str
    stop: frozenset[str]
    denies: frozenset[str]
    without: frozenset[str]
    marks: tuple[str, ...]
    yes: frozenset[str]
    no: frozenset[str]
    empty: frozenset[str]
    numbers: dict[str, str]
    harmless: re.Pattern[str]
    unknowing: re.Pattern[str]
    instead: re.Pattern[str]
    but: re.Pattern[str]

    @property
    def is_unspaced(self) -> bool:
        """Whether it is written without spaces between words."""
        return bool(self.marks)


def _language(name: str, table: dict[str, str]) -> Language:
    def words(key: str) -> tuple[str, ...]:
        return tuple(fold(table.get(key, "")).split())

    def pattern(key: str) -> re.Pattern[str]:
        text = fold(table.get(key, "")) or r"(?!)"
        return re.compile(text if table.get("marks") else rf"\b(?:{text})\b")

    stop = words("stop")
    return Language(
        name=name,
        stop=frozenset([*stop, *(word.replace("'", "") for word in stop)]),
        denies=frozenset(words("denies")),
        without=frozenset(words("without")),
        marks=words("marks"),
        yes=frozenset(words("yes")),
        no=frozenset(words("no")),
        empty=frozenset(words("empty")),
        numbers={word: str(value) for value, word in enumerate(words("numbers"), start=2)},
        harmless=pattern("harmless"),
        unknowing=pattern("unknowing"),
        instead=pattern("instead"),
        but=pattern("but"),
    )


@cache
def all_languages() -> tuple[Language, ...]:
    """All languages, loaded at the first use, as most commands do not need them."""
    text = files("memory.rules.use_detection").joinpath("vocabulary.toml").read_text(encoding="utf-8")
    return tuple(_language(name, table) for name, table in tomllib.loads(text).items())


@cache
def stop_words() -> frozenset[str]:
    """The stop words of every language."""
    return frozenset(word for language in all_languages() for word in language.stop)


@cache
def empty_words() -> frozenset[str]:
    """Words of answers without content, in all languages."""
    return frozenset(word for language in all_languages() for word in language.empty)


@cache
def number_words(names: tuple[str, ...]) -> dict[str, str]:
    """The number words of these languages with their digits; the first language with a word decides."""
    named = [language for language in all_languages() if language.name in names]
    return {word: digits for language in reversed(named) for word, digits in language.numbers.items()}


@cache
def _languages_by_small_word() -> dict[str, tuple[str, ...]]:
    """The names of languages written with spaces by their stop words and denying words."""
    spaced = [language for language in all_languages() if not language.is_unspaced]
    words = {word for language in spaced for word in language.stop | language.denies}
    return {
        word: tuple(language.name for language in spaced if word in language.stop or word in language.denies)
        for word in words
    }


def small_words(text: str) -> Counter[str]:
    """The number of a text's stop words and denying words in each language."""
    known = _languages_by_small_word()
    return Counter(name for word in _LATIN_WORD.findall(fold(text)) for name in known.get(word, ()))


def languages_of(texts: Iterable[str]) -> tuple[Language, ...]:
    """The languages these texts may be in, by their stop words (`likely_languages`)."""
    return likely_languages(map(small_words, texts))


def likely_languages(counts: Iterable[Counter[str]]) -> tuple[Language, ...]:
    """The languages with the highest total of stop words in some texts; all languages without any.

    Languages without spaces are always included, as their words cannot be mistaken for another language's.
    """
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    best = max(total.values(), default=0)
    return tuple(language for language in all_languages() if language.is_unspaced or total[language.name] == best)

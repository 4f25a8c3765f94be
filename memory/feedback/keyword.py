"""Was an injected lesson used? Detectors that compare what was injected with what was answered.

`KeywordDetector` is the seed's rule to the letter (002, `RetrievalFeedbackSignal`), weaknesses included.
`OverlapDetector` is the bot's own: Unicode words, the question's words are no evidence, negation contradicts, an AVOID
lesson is judged against its correction, and where there is nothing to judge by it says so.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Protocol

from memory.model import Exemplar, Lesson, Signal

USED_ABOVE = 0.30
"""Share of the lesson's words the answer must contain to count as used (seed: strictly above)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A detector's finding: the signal and the share of the lesson found in the answer, 0..1."""

    signal: Signal
    ratio: float = 0.0


class Detector(Protocol):
    """Judges one injected exemplar by the answer given."""

    def detect(self, exemplar: Exemplar, question: str, answer: str, action: str = "") -> Evidence:
        """The evidence. Pure. `action` is what the answer rests on: a tool's name, `answer` or `expand`."""
        ...


# The white space of ECMAScript; Python's differs in U+FEFF (not space), U+0085 and U+001C..1F (space).
_JS_SPACE = re.compile("[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
_NOT_ALPHANUMERIC = re.compile("[^a-z0-9]")


class KeywordDetector:
    """The seed's keyword heuristic: words longer than 4 characters, raw substring match, used above a ratio of 0.30."""

    def keywords(self, content: str) -> list[str]:
        """Distinct keywords in order of appearance."""
        words = (_NOT_ALPHANUMERIC.sub("", word) for word in _JS_SPACE.split(content.lower()))
        return list(dict.fromkeys(word for word in words if len(word) > 4))

    def match(self, content: str, response: str) -> Evidence:
        """`used` iff there are keywords and more than 30 % of them occur in the response, else `ignored`."""
        keywords, lowered = self.keywords(content), response.lower()
        found = sum(keyword in lowered for keyword in keywords)
        ratio = found / len(keywords) if keywords else 0.0
        return Evidence(signal=Signal.USED if ratio > USED_ABOVE else Signal.IGNORED, ratio=ratio)

    def detect(self, exemplar: Exemplar, question: str, answer: str, action: str = "") -> Evidence:
        """Compare the episode's output with the answer; question and action play no part, as in the seed."""
        return self.match(exemplar.episode.output, answer)


_WORD = re.compile(r"[^\W_]+(?:[-'’.:/@][^\W_]+)*")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
"""Thai, Lao, Burmese, Khmer, kana and Han."""
_UNSEEN = ("Mn", "Cf")
"""Accents, and what is invisible: soft hyphens, joiners."""
_NEGATION = re.compile(r"\b(?:not|no|never|cannot|isn't|don't|doesn't|won't|wrong|incorrect|nicht|kein\w*|pas|no es)\b")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be but by can do does for from have how i if in is it its of on or our so that the their "
        "there they this to was we what when where which who will with you your",
    )
)
_CONTAINED = 0.9
_WORDY_ACTIONS = frozenset({"", "answer", "none"})
"""Actions whose substance is the text; any other (a tool, an expansion) is recognised by its name."""


def content_words(text: str) -> set[str]:
    """Words that carry meaning, folded (NFKC, case, accents) so that both sides are compared alike."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    plain = "".join(character for character in folded if unicodedata.category(character) not in _UNSEEN)
    return {piece for word in _WORD.findall(plain) for piece in _pieces(word) if piece not in _STOP_WORDS}


def _pieces(word: str) -> Iterator[str]:
    """The word itself; of a script that writes no spaces, every two neighbouring characters."""
    for run in _UNSPACED.findall(word):
        yield from (run[start : start + 2] for start in range(max(1, len(run) - 1)))
    yield from _UNSPACED.sub(" ", word).split()


class OverlapDetector:
    """The bot's own detector, with four signals."""

    def detect(self, exemplar: Exemplar, question: str, answer: str, action: str = "") -> Evidence:
        """REPEAT: is the lesson's answer in this one? AVOID: is its correction, or the mistake again?"""
        taught = exemplar.episode.action
        if taught == action and taught not in _WORDY_ACTIONS:
            repeats = exemplar.lesson is Lesson.REPEAT
            return Evidence(signal=Signal.USED if repeats else Signal.CONTRADICTED, ratio=1.0)
        said = content_words(answer)
        known = content_words(question) | content_words(exemplar.episode.goal)
        if not said:
            return Evidence(signal=Signal.UNKNOWN)
        if exemplar.lesson is Lesson.REPEAT:
            return self._of_repeat(exemplar.episode.output, known, said, answer)
        return self._of_avoid(exemplar, known, said)

    def _of_repeat(self, output: str, known: Collection[str], said: set[str], answer: str) -> Evidence:
        ratio = _share(output, known, said)
        if ratio is None:
            return Evidence(signal=Signal.UNKNOWN)
        if ratio <= USED_ABOVE:
            return Evidence(signal=Signal.IGNORED, ratio=ratio)
        if _denies(answer) and not _denies(output):
            return Evidence(signal=Signal.CONTRADICTED, ratio=ratio)
        return Evidence(signal=Signal.USED, ratio=ratio)

    def _of_avoid(self, exemplar: Exemplar, known: Collection[str], said: set[str]) -> Evidence:
        corrected = _share(exemplar.episode.correction, known, said)
        if corrected is not None and corrected > USED_ABOVE:
            return Evidence(signal=Signal.USED, ratio=corrected)
        repeated = _share(exemplar.episode.output, known, said)
        if repeated is not None and repeated >= _CONTAINED:
            return Evidence(signal=Signal.CONTRADICTED, ratio=repeated)
        return Evidence(signal=Signal.UNKNOWN)


def _share(text: str, known: Collection[str], said: set[str]) -> float | None:
    """How much of what `text` adds to the question is in the answer; None if it adds nothing."""
    words = content_words(text)
    evidence = words - set(known) or words
    return len(evidence & said) / len(evidence) if evidence else None


def _denies(text: str) -> bool:
    return _NEGATION.search(text.casefold()) is not None

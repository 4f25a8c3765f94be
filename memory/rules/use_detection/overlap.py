"""The default detector of used lessons: compares words that a lesson adds to the question; has four signals.

It differs from the keyword rule. Words of the question are no evidence, because echoing the question does not use a
lesson. A negated word contradicts, and so does another number of the same thing. An AVOID lesson is judged by its
correction, because an answer that follows it does not contain the mistake. With nothing to compare, the signal is
UNKNOWN.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from memory.model import WORDY_ACTIONS, Episode, Exemplar, Lesson, Signal
from memory.rules.use_detection.detector import USED_ABOVE, DetectedSignal
from memory.rules.use_detection.polarity import Denials, admits_ignorance, simplified, yes_or_no
from memory.rules.use_detection.vocabulary import Language, fold, likely_languages, small_words
from memory.rules.use_detection.words import NAME_WEIGHT, Term, TermIndex, has_words, says_something, terms

MOSTLY_FROM = 0.50
"""The least share of an answer's new words that come from the lesson, for a short answer to use a long lesson."""
REPEATED = 0.60
"""The least share of a mistake's words in an answer that repeats the mistake."""
SEVERAL, SOME_OF_MANY = 3, 0.20
"""The number and share of a long lesson's words that are enough for a use, as an answer may not need the others."""
SAME_SENTENCE = 0.60
"""The least share of a lesson's words (including those of the question) in an answer that is the same sentence."""


class OverlapDetector:
    """Detects from the words of lesson, question and answer whether the answer used the lesson, in any language."""

    def detect(self, exemplar: Exemplar, question: str, answer: str, action: str = "") -> DetectedSignal:
        """The signal of one lesson.

        For REPEAT, whether the answer contains the lesson's answer; for AVOID, whether it contains the correction, or
        the mistake.
        """
        return _judged(exemplar, question, _Answer(answer), action)

    def detect_all(
        self, exemplars: Iterable[Exemplar], question: str, answer: str, action: str = ""
    ) -> list[DetectedSignal]:
        """The signals of several lessons, in order. The answer is read once."""
        read = _Answer(answer)
        return [_judged(each, question, read, action) for each in exemplars]


def _judged(exemplar: Exemplar, question: str, answer: "_Answer", action: str) -> DetectedSignal:
    taught = exemplar.named_action or exemplar.episode.action
    if taught == action and taught not in WORDY_ACTIONS:
        repeats = exemplar.lesson is Lesson.REPEAT
        return DetectedSignal(signal=Signal.USED if repeats else Signal.CONTRADICTED, ratio=1.0)
    if not answer.has_words:
        return DetectedSignal(signal=Signal.UNKNOWN)
    episode = exemplar.episode
    asked = f"{question}\n{episode.goal}"
    of_lesson = _of_repeat if exemplar.lesson is Lesson.REPEAT else _of_avoid
    return of_lesson(episode, asked, answer)


def _languages(episode: Episode, asked: str, answer: "_Answer") -> tuple[Language, ...]:
    """The languages that question, lesson and answer may be in."""
    others = map(small_words, (asked, episode.output, episode.correction))
    return likely_languages([answer.small_words, *others])


class _Answer:
    """An answer, parsed once for each set of languages."""

    def __init__(self, raw: str) -> None:
        self._raw = raw
        self._by_languages: dict[tuple[str, ...], _Text] = {}

    @cached_property
    def has_words(self) -> bool:
        return has_words(self._raw)

    @cached_property
    def folded(self) -> str:
        return _folded(self._raw)

    @cached_property
    def small_words(self) -> Counter[str]:
        return small_words(self._raw)

    def read(self, languages: Sequence[Language]) -> "_Text":
        names = tuple(language.name for language in languages)
        if names not in self._by_languages:
            self._by_languages[names] = _Text(self._raw, languages)
        return self._by_languages[names]


@dataclass(frozen=True)
class _Text:
    """A text with its terms, their weights (which depend on capitals) and its negated parts, parsed when needed."""

    raw: str
    languages: Sequence[Language]

    @cached_property
    def _simple(self) -> str:
        return simplified(self.raw, self.languages)

    @cached_property
    def terms(self) -> list[Term]:
        return terms(self._simple, self.languages)

    @cached_property
    def weights(self) -> dict[str, float]:
        return {term.text: term.weight for term in terms(self.raw, self.languages)}

    @cached_property
    def denied(self) -> Denials:
        return Denials(self._simple, self.languages)

    @cached_property
    def stance(self) -> bool | None:
        return yes_or_no(self.raw, self.languages)

    @cached_property
    def numbers(self) -> set[str]:
        return {term.number for term in self.terms if term.number}

    @cached_property
    def index(self) -> TermIndex:
        """An index of the terms and the negated ones."""
        return TermIndex(self.terms, self.denied.__contains__)

    def weight(self, some: Sequence[Term]) -> float:
        return sum(self.weights.get(term.text, term.weight) for term in some)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    share: float
    """The larger of: share of the lesson that is in the answer, share of the answer that is the lesson; 0..1."""
    is_denied: bool
    """Whether the answer negates it or has other numbers; False unless the share is above `USED_ABOVE`."""


def _of_repeat(episode: Episode, asked: str, given: _Answer) -> DetectedSignal:
    if not has_words(episode.output):
        return DetectedSignal(signal=Signal.UNKNOWN)
    words = _folded(episode.output)
    if words == given.folded:
        return DetectedSignal(signal=Signal.USED, ratio=1.0)
    languages = _languages(episode, asked, given)
    lesson, answer = _Text(episode.output, languages), given.read(languages)
    if words in given.folded and len(lesson.terms) > 1 and not answer.denied:
        return DetectedSignal(signal=Signal.USED, ratio=1.0)
    if not says_something(answer.raw) and lesson.stance is None:
        return DetectedSignal(signal=Signal.UNKNOWN)
    if lesson.stance is not None and answer.stance is not None and lesson.stance is not answer.stance:
        return DetectedSignal(signal=Signal.CONTRADICTED, ratio=1.0)
    found = _compare(lesson, asked, answer)
    if found is None:
        agrees = lesson.stance is not None and lesson.stance is answer.stance
        return DetectedSignal(signal=Signal.USED if agrees else Signal.IGNORED, ratio=1.0 if agrees else 0.0)
    if found.share > USED_ABOVE:
        return DetectedSignal(signal=Signal.CONTRADICTED if found.is_denied else Signal.USED, ratio=found.share)
    opposes = not admits_ignorance(answer.raw, answer.languages) and _opposes(lesson, answer)
    return DetectedSignal(signal=Signal.CONTRADICTED if opposes else Signal.IGNORED, ratio=found.share)


def _of_avoid(episode: Episode, asked: str, given: _Answer) -> DetectedSignal:
    languages = _languages(episode, asked, given)
    mistake, correction = _Text(episode.output, languages), _Text(episode.correction, languages)
    answer = given.read(languages)
    # Words that are in both the mistake and the correction are no evidence for either.
    corrected = _compare(correction, f"{asked}\n{mistake.raw}", answer)
    repeated = _compare(mistake, f"{asked}\n{correction.raw}", answer)
    if corrected is not None and corrected.share > USED_ABOVE and not corrected.is_denied:
        return DetectedSignal(signal=Signal.USED, ratio=corrected.share)
    if mistake.stance is not None and answer.stance is not None:
        rejects = mistake.stance is not answer.stance
        return DetectedSignal(signal=Signal.USED if rejects else Signal.CONTRADICTED, ratio=1.0)
    if repeated is not None and repeated.share >= REPEATED:
        rejects = repeated.is_denied and not admits_ignorance(answer.raw, answer.languages)
        return DetectedSignal(signal=Signal.USED if rejects else Signal.CONTRADICTED, ratio=repeated.share)
    if corrected is not None and corrected.share > USED_ABOVE:
        return DetectedSignal(signal=Signal.CONTRADICTED, ratio=corrected.share)
    return DetectedSignal(signal=Signal.UNKNOWN)


def _compare(text: _Text, known: str, answer: _Text) -> _Comparison | None:
    """Compare what `text` adds to the known words with the answer. None if `text` has no terms."""
    there = TermIndex(terms(known, text.languages))
    evidence = _once([term for term in text.terms if not there.find(term)] or text.terms)
    if not evidence:
        return None
    found = {term.text: answer.index.find(term) for term in _once(text.terms)}
    matched = [term for term in evidence if found[term.text]]
    recall = text.weight(matched) / text.weight(evidence)
    share = max(recall, _precision(evidence, there, answer) if text.weight(matched) >= NAME_WEIGHT else 0.0)
    if len(matched) >= SEVERAL and recall >= SOME_OF_MANY:
        share = max(share, USED_ABOVE + 0.001)
    is_denied = share > USED_ABOVE and (
        _gives_other_numbers(text, there, answer) or _is_denied(text, _once(text.terms), found, answer)
    )
    return _Comparison(share=min(1.0, share), is_denied=is_denied)


def _once(some: Sequence[Term]) -> list[Term]:
    return list({term.text: term for term in reversed(some)}.values())


def _precision(evidence: Sequence[Term], known: TermIndex, answer: _Text) -> float:
    """The share of the answer's new words that come from the lesson, or 0 below `MOSTLY_FROM`."""
    taught = TermIndex(evidence)
    added = _once([term for term in answer.terms if not known.find(term)])
    theirs = [term for term in added if taught.find(term)]
    share = answer.weight(theirs) / answer.weight(added) if added else 0.0
    return share if share >= MOSTLY_FROM else 0.0


def _is_denied(text: _Text, matched: Sequence[Term], found: dict[str, list[Term]], answer: _Text) -> bool:
    """Whether more of the found words are negated differently than alike, by weight."""
    agreeing = opposing = 0.0
    for term in matched:
        if not found[term.text]:
            continue
        if any((place in answer.denied) == (term in text.denied) for place in found[term.text]):
            agreeing += text.weight([term])
        else:
            opposing += text.weight([term])
    if text.denied and answer.denied:
        # Both negate something: they differ only if no found word is negated alike.
        return opposing > 0 and agreeing == 0
    return opposing > agreeing


def _gives_other_numbers(text: _Text, known: TermIndex, answer: _Text) -> bool:
    """Whether the answer has another number for the same thing."""
    ours, theirs = ([term for term in side.terms if term.number and not known.find(term)] for side in (text, answer))
    if not ours or not theirs or text.numbers & answer.numbers:
        return False
    beside = TermIndex(_beside(theirs, answer.terms))
    return any(beside.find(term) for term in _beside(ours, text.terms))


def _beside(numbers: Sequence[Term], everything: Sequence[Term]) -> list[Term]:
    """The words directly before and after these numbers."""
    places = {(number.clause, number.position + step) for number in numbers for step in (-1, 1)}
    return [term for term in everything if not term.number and (term.clause, term.position) in places]


def _opposes(lesson: _Text, answer: _Text) -> bool:
    """Whether an answer that does not use a lesson is about the same thing and says the opposite."""
    index = answer.index
    everything = _once([term for term in lesson.terms if not term.number])
    found = {term.text: index.find(term) for term in everything}
    matched = [term for term in everything if found[term.text]]
    if not matched:
        return False
    if answer.stance is False and not lesson.denied:
        return True
    is_same_sentence = lesson.weight(matched) >= SAME_SENTENCE * lesson.weight(everything)
    other_numbers = bool(lesson.numbers and answer.numbers) and not lesson.numbers & answer.numbers
    return is_same_sentence and (other_numbers or _is_denied(lesson, matched, found, answer))


def _folded(text: str) -> str:
    """The text as compared in whole: folded, with single spaces."""
    return " ".join(fold(text).split())

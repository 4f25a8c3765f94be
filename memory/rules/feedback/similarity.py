"""A detector that also compares meanings: a paraphrase shares no word with the lesson."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from memory.model import Exemplar, Lesson, Signal
from memory.rules.feedback.detector import DetectedSignal, Detector
from memory.rules.feedback.polarity import Denials, admits_ignorance, simplified
from memory.rules.feedback.vocabulary import languages_of

Similarity = Callable[[str, str], float]
"""How alike two texts are in meaning, 0..1. The seed's `similarityFn`, which the seed stores and never calls."""

ALIKE_FROM = 0.75
"""From here on, two texts say the same. Lower, two answers to one question look alike whatever they answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityDetector:
    """`detector`, but what it found ignored, or could not judge, is used if it means the same as the lesson."""

    detector: Detector
    similarity: Similarity
    alike_from: float = ALIKE_FROM

    def detect(self, exemplar: Exemplar, question: str, answer: str, action: str = "") -> DetectedSignal:
        """The inner detector's signal, raised to used where meaning says so."""
        found = self.detector.detect(exemplar, question, answer, action)
        taught = exemplar.episode.output if exemplar.lesson is Lesson.REPEAT else exemplar.episode.correction
        if found.signal not in (Signal.IGNORED, Signal.UNKNOWN) or not taught.strip() or not answer.strip():
            return found
        languages = languages_of([answer, taught])
        signs = [bool(Denials(simplified(text, languages), languages)) for text in (answer, taught)]
        if admits_ignorance(answer, languages) or signs[0] is not signs[1]:
            return found
        alike = self.similarity(taught, answer)
        alike = max(0.0, min(1.0, alike)) if math.isfinite(alike) else 0.0  # what is no number says nothing
        return DetectedSignal(signal=Signal.USED, ratio=alike) if alike >= self.alike_from else found

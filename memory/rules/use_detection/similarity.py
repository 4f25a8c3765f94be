"""A detector that also compares meanings, as a paraphrase may share no word with the lesson."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from memory.model import Exemplar, Lesson, Signal
from memory.rules.use_detection.detector import DetectedSignal, Detector
from memory.rules.use_detection.polarity import Denials, admits_ignorance, simplified
from memory.rules.use_detection.vocabulary import languages_of

Similarity = Callable[[str, str], float]
"""A function of two texts that returns the similarity of their meanings, 0..1. The seed's `similarityFn`, which the
seed stores and never calls."""

ALIKE_FROM = 0.75
"""The similarity from which two texts say the same. Lower values also match different answers to one question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityDetector:
    """Wraps `detector`, and raises `ignored` and `unknown` to `used` if the answer means the same as the lesson."""

    detector: Detector
    similarity: Similarity

    def detect(self, exemplar: Exemplar, question: str, answer: str, action: str = "") -> DetectedSignal:
        """The inner detector's signal, or `used` by similarity."""
        found = self.detector.detect(exemplar, question, answer, action)
        taught = exemplar.episode.output if exemplar.lesson is Lesson.REPEAT else exemplar.episode.correction
        if found.signal not in (Signal.IGNORED, Signal.UNKNOWN) or not taught.strip() or not answer.strip():
            return found
        languages = languages_of([answer, taught])
        signs = [bool(Denials(simplified(text, languages), languages)) for text in (answer, taught)]
        if admits_ignorance(answer, languages) or signs[0] is not signs[1]:
            return found
        alike = self.similarity(taught, answer)
        alike = max(0.0, min(1.0, alike)) if math.isfinite(alike) else 0.0
        return DetectedSignal(signal=Signal.USED, ratio=alike) if alike >= ALIKE_FROM else found

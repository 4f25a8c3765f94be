"""Detectors of whether an answer used an injected lesson.

`KeywordDetector` is exactly the seed's rule (002, `RetrievalFeedbackSignal`), weaknesses included. `OverlapDetector` is
the bot's own, with four signals. `SimilarityDetector` adds a comparison of meanings to either.
"""

from memory.rules.use_detection.detector import DetectedSignal as DetectedSignal, Detector as Detector
from memory.rules.use_detection.keyword import KeywordDetector as KeywordDetector
from memory.rules.use_detection.overlap import OverlapDetector as OverlapDetector
from memory.rules.use_detection.similarity import Similarity as Similarity, SimilarityDetector as SimilarityDetector
from memory.rules.use_detection.words import content_words as content_words

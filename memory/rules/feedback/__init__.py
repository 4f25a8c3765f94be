"""Detectors of whether an answer used an injected lesson.

`KeywordDetector` is exactly the seed's rule (002, `RetrievalFeedbackSignal`), weaknesses included. `OverlapDetector` is
the bot's own, with four signals. `SimilarityDetector` adds a comparison of meanings to either.
"""

from memory.rules.feedback.detector import DetectedSignal as DetectedSignal, Detector as Detector
from memory.rules.feedback.keyword import KeywordDetector as KeywordDetector
from memory.rules.feedback.overlap import OverlapDetector as OverlapDetector
from memory.rules.feedback.similarity import Similarity as Similarity, SimilarityDetector as SimilarityDetector
from memory.rules.feedback.words import content_words as content_words

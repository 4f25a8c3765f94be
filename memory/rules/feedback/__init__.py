"""Was an injected lesson used? Detectors that compare what was injected with what was answered.

`KeywordDetector` is the seed's rule to the letter (002, `RetrievalFeedbackSignal`), weaknesses included.
`OverlapDetector` is the bot's own, with four signals. `SimilarityDetector` adds a second opinion by meaning to either.
"""

from memory.rules.feedback.evidence import USED_ABOVE, Detector, Evidence
from memory.rules.feedback.keyword import KeywordDetector
from memory.rules.feedback.overlap import OverlapDetector
from memory.rules.feedback.similarity import Similarity, SimilarityDetector
from memory.rules.feedback.words import content_words

__all__ = [
    "USED_ABOVE",
    "Detector",
    "Evidence",
    "KeywordDetector",
    "OverlapDetector",
    "Similarity",
    "SimilarityDetector",
    "content_words",
]

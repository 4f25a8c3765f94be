"""Was an injected lesson used? Detectors that compare what was injected with what was answered.

`KeywordDetector` is the seed's rule to the letter (002, `RetrievalFeedbackSignal`), weaknesses included.
`OverlapDetector` is the bot's own, with four signals. `SimilarityDetector` adds a second opinion by meaning to either.
"""

from memory.rules.feedback.detector import DetectedSignal as DetectedSignal, Detector as Detector
from memory.rules.feedback.keyword import KeywordDetector as KeywordDetector
from memory.rules.feedback.overlap import OverlapDetector as OverlapDetector
from memory.rules.feedback.similarity import Similarity as Similarity, SimilarityDetector as SimilarityDetector
from memory.rules.feedback.words import content_words as content_words

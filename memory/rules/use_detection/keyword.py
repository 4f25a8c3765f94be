"""The keyword heuristic of the first specification, exactly reproduced."""

import re

from memory.model import Exemplar, Signal
from memory.rules.use_detection.detector import USED_ABOVE, DetectedSignal

# The white space of ECMAScript; Python's differs in U+FEFF (not space), U+0085 and U+001C..1F (space).
_JS_SPACE = re.compile("[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
_NOT_ALPHANUMERIC = re.compile("[^a-z0-9]")


class KeywordDetector:
    """Matches words longer than 4 characters as substrings; used above a ratio of 0.30."""

    def keywords(self, content: str) -> list[str]:
        """The distinct keywords of a text, in order of appearance."""
        words = (_NOT_ALPHANUMERIC.sub("", word) for word in _JS_SPACE.split(content.lower()))
        return list(dict.fromkeys(word for word in words if len(word) > 4))

    def match(self, content: str, response: str) -> DetectedSignal:
        """`used` iff there are keywords and more than 30 % of them occur in the response, else `ignored`."""
        keywords, lowered = self.keywords(content), response.lower()
        found = sum(keyword in lowered for keyword in keywords)
        ratio = found / len(keywords) if keywords else 0.0
        return DetectedSignal(signal=Signal.USED if ratio > USED_ABOVE else Signal.IGNORED, ratio=ratio)

    def detect(self, exemplar: Exemplar, question: str, answer: str, action: str = "") -> DetectedSignal:
        """Compare the episode's output with the answer; question and action are ignored, as in the seed."""
        return self.match(exemplar.episode.output, answer)

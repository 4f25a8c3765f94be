"""The interface of detectors of used lessons."""

from dataclasses import dataclass
from typing import Protocol

from memory.model import Exemplar, Signal

USED_ABOVE = 0.30
"""The share of a lesson's words above which an answer has used it (seed: strictly above)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedSignal:
    """A detected signal, with the share of the lesson that the answer contains, 0..1."""

    signal: Signal
    ratio: float = 0.0


class Detector(Protocol):
    """Judges one injected exemplar by the answer given."""

    def detect(self, exemplar: Exemplar, question: str, answer: str, action: str = "") -> DetectedSignal:
        """The signal of one exemplar. `action` is the answer's kind: a tool's name, `answer` or `expand`."""

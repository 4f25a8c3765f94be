"""What a detector of used lessons is, and what it detects."""

from dataclasses import dataclass
from typing import Protocol

from memory.model import Exemplar, Signal

USED_ABOVE = 0.30
"""Share of the lesson's words the answer must contain to count as used (seed: strictly above)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedSignal:
    """The signal a detector found, and the share of the lesson that is in the answer, 0..1."""

    signal: Signal
    ratio: float = 0.0


class Detector(Protocol):
    """Judges one injected exemplar by the answer given."""

    def detect(self, exemplar: Exemplar, question: str, answer: str, action: str = "") -> DetectedSignal:
        """What became of it. Pure. `action` is what the answer rests on: a tool's name, `answer` or `expand`."""
        ...

"""The finding of a detector, and what a detector is."""

from dataclasses import dataclass
from typing import Protocol

from memory.model import Exemplar, Signal

USED_ABOVE = 0.30
"""Share of the lesson's words the answer must contain to count as used (seed: strictly above)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A detector's finding: the signal and the share of the lesson found in the answer, 0..1."""

    signal: Signal
    ratio: float = 0.0


class Detector(Protocol):
    """Judges one injected exemplar by the answer given."""

    def detect(self, exemplar: Exemplar, question: str, answer: str, action: str = "") -> Evidence:
        """The evidence. Pure. `action` is what the answer rests on: a tool's name, `answer` or `expand`."""
        ...

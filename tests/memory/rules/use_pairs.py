"""Answers that were given after a lesson was shown, each with a person's judgement of whether the lesson was used.

The pairs were written and judged before anybody looked at what a detector says of them. One half, chosen by a hash of
the pair's id, may be looked at to improve a detector; the other half only counts.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.model import Audience, Episode, Exemplar, Signal, Verdict
from memory.rules.use_detection import Detector

_FILE = Path(__file__).parent / "use_pairs.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One judged pair. `correction` is only there for a lesson to avoid."""

    id: str
    language: str
    kind: str
    """`repeat` or `avoid`."""
    question: str
    lesson: str
    answer: str
    judged: Signal
    correction: str = ""

    @property
    def is_held_out(self) -> bool:
        """Whether the detector was built without looking at it."""
        return hashlib.sha256(self.id.encode()).digest()[0] % 2 == 0

    @property
    def exemplar(self) -> Exemplar:
        """The lesson as it was injected."""
        return Exemplar(
            episode=Episode(goal=self.question, output=self.lesson, correction=self.correction, action="answer"),
            verdict=Verdict.SUCCESS if self.kind == "repeat" else Verdict.FAILURE,
            audience=Audience.PERSONAL,
            context_score=1.0,
            intent_score=1.0,
            relevance=1.0,
        )

    def agrees(self, detector: Detector) -> bool:
        """Whether a detector says what the person said."""
        return detector.detect(self.exemplar, self.question, self.answer, "answer").signal is self.judged


def read_pairs(*, held_out: bool) -> list[Pair]:
    """One half of the pairs."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    pairs = [Pair(**{**(entry := json.loads(line)), "judged": Signal(entry["judged"])}) for line in lines]
    return [pair for pair in pairs if pair.is_held_out is held_out]


def agreement(detector: Detector, pairs: Sequence[Pair]) -> float:
    """The share of pairs that a detector judges as the person did, 0..1."""
    return sum(pair.agrees(detector) for pair in pairs) / len(pairs)

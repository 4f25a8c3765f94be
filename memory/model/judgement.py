"""Judgements: where people's reactions say whether what the evidence held to be best was right."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What one person's vote on one answer, or their tap on a question, says of the best candidate there was."""

    workspace: str
    run_id: str
    actor: str
    at: datetime
    """When the answer was given."""
    confidence: int
    """That of its evidence, in hundredths, rounded down, 0..100."""
    is_right: bool
    is_known: bool
    """Whether what this person says here counts for others."""
    is_asked: bool = False
    """Whether the bot had asked, so that it is a question that was judged, and not an answer."""


class JudgementCount(NamedTuple):
    """How many judgements of one person are alike."""

    actor: str
    confidence: int
    is_right: bool
    is_known: bool
    number: int = 1
    is_asked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The threshold of a workspace, as it was last counted."""

    workspace: str
    budget: float
    """The share of wrong answers that it was counted for."""
    value: float

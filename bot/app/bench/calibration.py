"""Calibration: of the answers given with some confidence, how many were right?"""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.app.bench.people import AnswerWorth
from bot.app.bench.stream import StreamResult

_EDGES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6)
"""Between the bins of confidence; the last bin is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """The messages whose best candidate had a confidence from `at_least` up to the next bin's."""

    at_least: float | None
    """None for the lowest bin."""
    messages: int
    given: int
    """How many of them were answered: right or wrong."""
    right: float | None
    """Share of the answered that were right; None without any."""


def calibration(results: Iterable[StreamResult]) -> list[Bin]:
    """The bins of all messages of these streams, lowest confidence first, empty ones left out."""
    pairs = [pair for each in results for pair in zip(each.confidences, each.answered, strict=True)]
    bins: list[Bin] = []
    for low, high in zip((None, *_EDGES), (*_EDGES, None), strict=True):
        inside = [
            answered
            for confidence, answered in pairs
            if (low is None or confidence >= low) and (high is None or confidence < high)
        ]
        right, wrong = inside.count(AnswerWorth.RIGHT), inside.count(AnswerWorth.WRONG)
        share = right / (right + wrong) if right + wrong else None
        if inside:
            bins.append(Bin(at_least=low, messages=len(inside), given=right + wrong, right=share))
    return bins


def rows(bins: Iterable[Bin]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table."""
    head = ["confidence", "messages", "answered", "of these right"]
    return head, [
        [
            f"below {_EDGES[0]}" if each.at_least is None else f"from {each.at_least}",
            f"{each.messages:,}",
            f"{each.given:,}",
            "" if each.right is None else f"{each.right:.3f}",
        ]
        for each in bins
    ]

"""Follow-ups with what they mean, and messages that stand alone.

Of the first 60 of each every second one was left unseen until the rule was built; 30 more were written after it, 20 and
61 (6 and 16 that stand alone) by two people who had not seen it, and the last 20 (10) after it was mended by those.
"""

from pathlib import Path
from typing import NamedTuple


class FollowUp(NamedTuple):
    """Two questions of which both answers are taught; the second is asked in short."""

    question: str
    answer: str
    short: str
    whole: str
    right: str


def _rows(name: str) -> list[list[str]]:
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return [line.split(" | ") for line in lines]


FOLLOW_UPS = [FollowUp(*row) for row in _rows("follow_ups.txt")]
STAND_ALONE = [(before, text) for before, text in _rows("stand_alone.txt")]
"""The question before, and a message that needs none."""

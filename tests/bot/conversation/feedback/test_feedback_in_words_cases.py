"""What people say after an answer, labelled by somebody who had not seen the rule: how much of it is understood."""

import json
import re
from pathlib import Path

from bot.conversation.feedback.feedback_in_words import FeedbackReading, feedback_in

CASES: list[dict[str, str]] = [
    json.loads(line) for line in (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
]


def kind_of(reading: FeedbackReading) -> str:
    if reading.only_refuses:
        return "refusal"
    return "approval" if reading.approves else "correction"


def bare(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def is_understood(case: dict[str, str], reading: FeedbackReading | None) -> bool:
    """Whether it was read as what it is, and teaches the words it should: all of them, and few others."""
    if reading is None or not reading.is_sure or kind_of(reading) != case["kind"]:
        return False
    if not reading.correction:
        return True
    learned, wanted = bare(reading.correction), bare(case["teaches"])
    return set(wanted) <= set(learned) and len(learned) <= 2 * len(wanted)


def is_false(case: dict[str, str], reading: FeedbackReading | None) -> bool:
    """Whether it teaches what nobody said: something of an ordinary message, the wrong sign, a text from a refusal."""
    if reading is None or not reading.is_sure:
        return False
    if case["kind"] in ("none", "refusal"):
        return kind_of(reading) != case["kind"]
    return reading.approves != (case["kind"] == "approval")


def test_most_feedback_is_understood_and_hardly_anything_else_is_taken_for_it() -> None:
    readings = [(case, feedback_in(case["message"], case["question"], case["answer"])) for case in CASES]
    real = [(case, reading) for case, reading in readings if case["kind"] != "none"]
    missed = [case["message"] for case, reading in real if not is_understood(case, reading)]
    assert len(CASES) >= 140
    assert len(real) >= 60
    assert [case["message"] for case, reading in readings if is_false(case, reading)] == []
    assert len(missed) * 10 <= len(real), missed

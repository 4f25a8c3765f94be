"""How a message that judges an answer was read, as the text that is stored with the message. Pure."""

import re

from bot.conversation.feedback.feedback_in_words import FeedbackReading
from bot.conversation.feedback.preference_in_words import is_preference

_UNDERSTOOD = re.compile(
    r"(?P<sign>[👍👎])(?P<asked>\?)?(?: of (?P<run>[0-9a-z-]+))?(?: \((?P<reason>[^()]+)\))?(?: → (?P<text>.+))?",
    re.DOTALL,
)
_ARROW = " → "


def feedback_record(reading: FeedbackReading, run_id: str = "", reason: str = "") -> str:
    """The text stored with the message, as a record of the reading: `👎 of 0a1b → it's room 5`, or `👎?` if unsure.

    `run_id` is the answer that it is about, and `reason` what a form says was wrong with it:
    `👎? of 0a1b2c3d (wrong facts) → it's room 5`.
    """
    sign, text = "👍" if reading.approves else "👎", f"{_ARROW}{reading.correction}" if reading.correction else ""
    about = f"{f' of {run_id}' if run_id else ''}{f' ({reason})' if reason else ''}"
    return f"{sign}{'' if reading.is_sure else '?'}{about}{text}"


def recorded_feedback(understood: str) -> FeedbackReading | None:
    """The reading recorded in the text stored with a message; None for an ordinary message."""
    found = _UNDERSTOOD.fullmatch(understood)
    if found is None:
        return None
    text = found["text"] or ""
    return FeedbackReading(correction=text, approves=found["sign"] == "👍" and not text, is_sure=not found["asked"])


def reworded(understood: str, correction: str) -> str:
    """The same record with the new words of a correction; empty for a message that corrects nothing."""
    reading, record = recorded_feedback(understood), understood.partition(_ARROW)[0]
    return f"{record}{_ARROW}{correction}" if reading is not None and reading.correction else ""


def is_feedback(understood: str) -> bool:
    """Whether the text stored with a message records feedback or a wish about style."""
    return is_preference(understood) or recorded_feedback(understood) is not None


def run_in(understood: str) -> str:
    """The answer that a message is about, as stored with it; empty for one that records no reading."""
    found = _UNDERSTOOD.fullmatch(understood)
    return found["run"] or "" if found is not None else ""


def without_run(understood: str) -> str:
    """The record without the id of the answer it is about, as a prompt shows it."""
    run_id = run_in(understood)
    return understood.replace(f" of {run_id}", "", 1) if run_id else understood


def reason_in(understood: str) -> str:
    """What was wrong with the answer, if that is stored with a message."""
    found = _UNDERSTOOD.fullmatch(understood)
    return found["reason"] or "" if found is not None else ""

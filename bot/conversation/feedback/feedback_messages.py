"""Messages about feedback in words: what was understood, and how to take it back."""

from collections.abc import Sequence

from bot.conversation.feedback.feedback_in_words import FeedbackReading
from bot.conversation.messages import HowToType, lesson_saved
from memory.model import Episode
from memory.rules.evidence.named_action import named_action
from memory.rules.retrieval.prompt import shown_line

DONE_BEFORE = "I have taken that in already."
NOT_DONE = "Then nothing is erased or taken back."
ANSWER_IT = "Answer it instead"


def noted_message(reading: FeedbackReading, how_to_type: HowToType, tools: Sequence[str], judged: Episode) -> str:
    """The confirmation. `judged` is the answer, or the lesson that corrects it, which may name one of the `tools`."""
    goal, undo = shown_line(judged.goal, 80), how_to_type("undo")
    if reading.correction:
        right, saved = (
            shown_line(judged.output, 120),
            lesson_saved(judged, how_to_type, named_action(judged.output, tools)),
        )
        return f"Noted: for “{goal}” the answer is “{right}”. {saved}"
    if reading.approves:
        return f"Noted: my answer to “{goal}” was right (👍). `{undo}` takes it back."
    return (
        f"Noted: my answer to “{goal}” was wrong (👎). What would have been right? `{how_to_type('correct')} ...` "
        f"tells me; `{undo}` takes it back."
    )


def doubt_question(reading: FeedbackReading, goal: str, *, is_supplied: bool = False) -> str:
    """The question whether a message was feedback, or the answer to what the bot did not know."""
    question = shown_line(goal, 80)
    if is_supplied:
        return f"Was that the answer to “{question}”? Then I keep “{shown_line(reading.correction, 120)}”."
    if reading.correction:
        return f"Was that a correction? Then for “{question}” the answer is “{shown_line(reading.correction, 120)}”."
    return f"Was that a {'👍' if reading.approves else '👎'} for my answer to “{question}”?"

"""Forms on all platforms: the names of their fields, the reasons to choose from, the events they make."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from bot.adapters.command_words import ParsedCommand
from bot.conversation.feedback.remarks import QUESTION_MARKS
from bot.model import PersonCorrection, PersonTeaching
from bot.model.events import WRONG_APPROACH
from memory.model import Audience, Role, Scope
from memory.model.saved_messages import FilledFrom

Filled = TypeVar("Filled")

PREFILL_WITHIN_S = 1.0
"""The longest wait for a prefilled text: a form has to open within three seconds."""

REASON, BETTER, AGAIN = "reason", "better", "again"
"""Fields of the form for a correction."""
QUESTION, ANSWER, AUDIENCE = "question", "answer", "audience"
"""Fields of the form for a lesson."""

OPENS_A_FORM = "teach"
"""The command of a button that opens a form for an answer, which is appended to its argument."""

REASONS = (
    "misunderstood me",
    "wrong facts",
    WRONG_APPROACH,
    "incomplete",
    "too long",
    "too short",
    "style or format",
    "other",
)

ENOUGH = ("too long", "too short", WRONG_APPROACH)
"""Reasons that need no text."""

NO_TEXT = "There was no text, so I saved no correction, and no reason. If you gave a 👎, it stays."
"""Tells who submitted the form for a correction that nothing was saved."""


def correction_event(
    entered: Mapping[str, str], *, event_id: str, scope: Scope, at: datetime, role: Role, message_id: str
) -> PersonCorrection | None:
    """The correction in a submitted form; None without a text or a reason that needs none."""
    text, reason = entered.get(BETTER, ""), entered.get(REASON, "")
    if not text and reason not in ENOUGH:
        return None
    return PersonCorrection(
        event_id=event_id,
        scope=scope,
        text=text,
        at=at,
        role=role,
        message_id=message_id,
        reason=reason,
    )


def is_question(text: str) -> bool:
    """Whether a message from which somebody teaches is the question, instead of the answer."""
    return text.rstrip()[-1:] in QUESTION_MARKS


async def prefilled(found: Awaitable[Filled], empty: Filled) -> Filled:
    """What a form is filled in with; `empty` if it is not there in time."""
    try:
        async with asyncio.timeout(PREFILL_WITHIN_S):
            return await found
    except TimeoutError:
        return empty


def answer_command(entered: Mapping[str, str], question: str) -> ParsedCommand:
    """The command `teach ID ANSWER` from a submitted form for an answer."""
    return ParsedCommand(OPENS_A_FORM, f"{question} {entered.get(ANSWER, '')}".strip())


def teaching_event(
    entered: Mapping[str, str],
    *,
    event_id: str,
    scope: Scope,
    at: datetime,
    role: Role,
    filled_from: Sequence[FilledFrom],
) -> PersonTeaching:
    """The lesson in a submitted form."""
    return PersonTeaching(
        event_id=event_id,
        scope=scope,
        question=entered.get(QUESTION, ""),
        answer=entered.get(ANSWER, ""),
        at=at,
        audience=Audience(entered.get(AUDIENCE, Audience.PERSONAL)),
        role=role,
        filled_from=tuple(each for each in filled_from if each.message_id),
    )

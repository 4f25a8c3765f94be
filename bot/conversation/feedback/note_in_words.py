"""Reads a message that tells the bot what to know: "remember that the alarm code is 4711". Pure.

A narrow rule for English and German: what is to be remembered has to be a statement that stands alone.
"""

import re
from typing import NamedTuple

from bot.conversation.feedback.preference_in_words import preference_in
from bot.conversation.feedback.remarks import QUESTION_MARKS
from bot.model import PersonTeaching
from bot.model.events import BaseEvent
from memory.model import Role

NOTE = re.compile(
    r"(?:please[\s,]+|bitte[\s,]+)?(?:"
    r"(?:remember|note|keep\s+in\s+mind|do\s+not\s+forget|don['’]?t\s+forget)(?:\s*,)?\s+that\s"
    r"|merke?\s+(?:dir|euch)(?:\s*,)?\s+(?:bitte\s+)?dass\s"
    r"|(?:remember|note|merke|notiz)\s*[:,]\s)"
    r"\s*(?P<statement>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_REFERS_BACK = re.compile(
    r"(?:this|that|it|its|these|those|he|she|they|you|your|the\s+(?:answer|last|above)|das|dies\w*|er|sie|es|du|deine?)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"(?:[.;:!\n][^\w.;:!\n]*+|\b(?:and|then|und|dann)\b\W*+)(?:please\s++|bitte\s++)?"
    r"(?:tell|show|give|explain|list|find|calculate|compute|convert|translate|summari[sz]e|remind|check|ask|what|who|"
    r"when|where|which|why|how|was|wer|wann|wo|welche\w*|warum|wie|sag|zeig|rechne|erinnere)\b",
    re.IGNORECASE,
)
"""A request after the statement, which is for the agent as a whole."""
_THING = re.compile(
    r"(?P<thing>(?:the|our|my)(?:\s++[^\s,;:.]++){1,6}?)\s+(?P<verb>is|are)\s+(?:now\s+)?\S", re.IGNORECASE
)
"""The thing that a statement tells something of: "the alarm code is 4711"."""
_FEWEST_WORDS = 3
_WORD = re.compile(r"\w+")


class Note(NamedTuple):
    """A statement to remember, and the question that it answers."""

    question: str
    """The statement itself if it does not say plainly what it is about: questions about it are similar to it."""
    statement: str

    def taught(self, event: BaseEvent, role: Role, *, of_event: str) -> PersonTeaching:
        """The event that teaches it, for the event of its message."""
        return PersonTeaching(
            event_id=lesson_event(of_event),
            scope=event.scope,
            question=self.question,
            answer=self.statement,
            at=event.at,
            role=role,
        )


def lesson_event(event_id: str) -> str:
    """The id of the event that teaches what the message of an event asks to remember."""
    return f"{event_id}/note"


def note_in(text: str) -> Note | None:
    """The statement that a message asks to remember; None for any other message.

    None, too, if it refers to something said before, has a question or request beside it, or is a wish about style.
    """
    found = NOTE.fullmatch(text.strip())
    if found is None:
        return None
    statement = found["statement"].strip()
    is_other = _REFERS_BACK.match(statement) or _REQUEST.search(statement) or preference_in(statement)
    if is_other or not QUESTION_MARKS.isdisjoint(statement) or len(_WORD.findall(statement)) < _FEWEST_WORDS:
        return None
    thing = _THING.match(statement)
    return Note(f"what {thing['verb']} {thing['thing']}?" if thing else statement, statement)

"""Reads a message that tells the bot what to know: "remember that the alarm code is 4711". Pure.

A narrow rule for English and German: what is to be remembered has to be a statement that stands alone.
"""

import re
from typing import NamedTuple

from bot.conversation.feedback.preference_in_words import preference_in
from bot.conversation.feedback.remarks import QUESTION_MARKS
from bot.model import PersonDeletion, PersonEdit, PersonMessage, PersonTeaching
from memory.model import Role
from memory.rules.quarantine import LESSON_CHARACTERS
from memory.rules.quotes import WORD

_PLAIN = (
    r"(?:(?!(?:to|who|which|that|what|where|when|why|how|if|whether|and|or|me|i|you|we|they|he|she|it|this|these|those"
    r"|there|here|every\w*|some\w*|nothing|all)\b)[^\s,;:.!]++\s+){1,7}(?:is|are)\s+\S"
)
"""A plain statement, which needs no "that" before it: "the alarm code is 4711"."""
NOTE = re.compile(
    r"(?:please[\s,]+|bitte[\s,]+)?(?:"
    r"(?:remember|note|keep\s+in\s+mind|do\s+not\s+forget|don['’]?t\s+forget)(?:\s*,)?\s+that\s"
    rf"|(?:remember|do\s+not\s+forget|don['’]?t\s+forget)\s+(?={_PLAIN})"
    r"|merke?\s+(?:dir|euch)(?:\s*,)?\s+(?:bitte\s+)?dass\s"
    r"|(?:remember|note|merke?(?:\s+(?:dir|euch))?|notiz)\s*(?:[:,]\s|：))"
    r"\s*(?P<statement>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_STANDS_NOT_ALONE = re.compile(
    r"(?:this|that|it|its|these|those|he|she|they|you|your|das|dies\w*|er|sie|es|du|deine?|i|ich|what|is|are|was|were"
    r"|the\s+(?:answer|last|above|previous|next|following|user)|\w+\s+of\s+(?:this|that|these|those|it|them)"
    r"|(?:time|day|night|one|guy|song|story|e?-?mail|message|meeting)\s+(?:we|i|you|he|she|they|from|about|when|where)"
    r"|down|for\s+me|next\s+time|(?:in|to|from|not)\s+(?:your|this|that|all\s+of)"
    r"|please|bitte|tell|show|explain|calculate|compute|convert|translate|summari[sz]e|answer|reply)\b",
    re.IGNORECASE,
)
"""It refers to something said before ("remember that time we met"), is about the speaker, or is a request."""
_PASSES = re.compile(r"\b(?:today|tonight|tomorrow|yesterday|heute|morgen|gestern)\b", re.IGNORECASE)
"""Said of a day, it would be false on the next."""
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
_FEWEST_WORDS, _FEWEST_CHARACTERS = 3, 5
"""How long a statement is at least, with spaces and without any, as in Japanese."""


class Note(NamedTuple):
    """A statement to remember, and the question that it answers."""

    question: str
    """The statement itself if it does not say plainly what it is about: questions about it are similar to it."""
    statement: str

    def taught(self, event: PersonMessage | PersonEdit, role: Role) -> PersonTeaching:
        """The event that teaches it, for that of its message."""
        return PersonTeaching(
            event_id=f"{event.event_id}/note",
            of_message=note_id(event),
            scope=event.scope,
            question=self.question,
            answer=self.statement,
            at=event.at,
            role=role,
        )


def note_id(event: PersonMessage | PersonEdit | PersonDeletion) -> str:
    """The id by which what a message teaches is taken back, whatever it was edited to."""
    return f"note/{event.scope.channel}/{event.message_id}"


def note_in(text: str) -> Note | None:
    """The statement that a message asks to remember; None for any other message.

    None, too, if it does not stand alone, holds for a day, is longer than a lesson may be, has a question or request
    beside it, or is a wish about style.
    """
    found = NOTE.fullmatch(text.strip())
    if found is None or len(text) > LESSON_CHARACTERS:
        return None
    statement = found["statement"].strip()
    is_other = _STANDS_NOT_ALONE.match(statement) or _PASSES.search(statement) or _REQUEST.search(statement)
    if (
        is_other
        or preference_in(statement)
        or not QUESTION_MARKS.isdisjoint(statement)
        or len(WORD.findall(statement)) < (_FEWEST_WORDS if " " in statement else _FEWEST_CHARACTERS)
    ):
        return None
    thing = _THING.match(statement)
    return Note(f"what {thing['verb']} {thing['thing']}?" if thing else statement, statement)

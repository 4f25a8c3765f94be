"""Decides whether a message without a mention is meant for the bot. Pure functions.

In doubt the bot stays quiet: people can always mention it.
"""

import re
from dataclasses import dataclass

from bot.conversation.feedback.feedback_in_words import feedback_in
from bot.conversation.feedback.preference_in_words import preference_in
from bot.conversation.feedback.remarks import QUESTION_MARKS, is_remark
from bot.model import ThreadSoFar
from memory.model import ListeningMode

_ASKING = re.compile(
    r"(?:(?:and|so|but|ok|okay|then|also|now|please|hey|hi|hello|actually|wait|no)\b[\s,:]*)*"
    r"(?:(?:who|whom|whose|what|when|where|which|why|how|can|could|would|will|is|are|was|were|do|does|did|should"
    r"|may|has|have)(?:['’]\w+)?\b"
    r"|(?:show|tell|give|explain|list|find|compare|translate|summari[sz]e|calculate|compute|convert|define|describe"
    r"|write|check|try|repeat)\b"
    r"|(?:of|in|on|at|for|with|without|about)\s+\S+\s*$)",
    re.IGNORECASE,
)
"""Begins a message that asks for something without a question mark; the last alternative is a continued question
("and of Spain")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFacts:
    """The facts by which a message without a mention is judged."""

    text: str
    author: str
    mode: ListeningMode
    is_muted: bool
    asker: str
    """The person whose question the bot answers or last answered in that thread; empty where it takes no part."""
    is_in_thread: bool
    replies_to_bot: bool = False
    """The platform marks it as a reply to a message of the bot's."""
    is_for_others: bool = False
    """It mentions somebody else, or replies to somebody else's message."""
    answers_question: bool = False
    """It chooses an answer to what the bot asked its author in private, which the thread does not show."""
    thread: ThreadSoFar | None = None
    """What was said in the thread before; None where it was not read."""


def is_for_bot(facts: MessageFacts) -> bool:
    """Whether the bot handles the message: it is clearly meant for the bot, and is more than a remark."""
    if facts.is_muted or facts.mode is ListeningMode.MENTION or facts.is_for_others:
        return False
    if facts.answers_question or gives_feedback(facts):
        return True
    thread = facts.thread
    has_asked = thread is not None and thread.is_last_ours and asks_something(thread.last_text)
    if is_remark(facts.text) and not has_asked:
        return False
    if facts.mode is ListeningMode.ALWAYS:
        return True
    if not facts.asker or facts.author != facts.asker:
        return False
    if thread is not None and thread.people <= {facts.asker}:
        return True
    follows = facts.replies_to_bot or (thread is not None and thread.is_last_ours)
    return follows and (asks_something(facts.text) or has_asked)


def gives_feedback(facts: MessageFacts) -> bool:
    """Whether it is the asker's feedback right after the bot's answer: right, wrong, or a wish about style."""
    thread = facts.thread
    follows = facts.replies_to_bot or (thread is not None and thread.is_last_ours)
    if not follows or facts.author != facts.asker or not facts.asker:
        return False
    answer = thread.last_text if thread is not None else ""
    return preference_in(facts.text) is not None or feedback_in(facts.text, answer=answer) is not None


def depends_on_thread(facts: MessageFacts) -> bool:
    """Whether the thread's earlier messages could show that it is meant for the bot, so that they must be read."""
    is_possible = not (facts.is_muted or facts.mode is ListeningMode.MENTION or facts.is_for_others)
    return is_possible and facts.is_in_thread and not is_for_bot(facts) and facts.asker == facts.author != ""


def asks_something(text: str) -> bool:
    """Whether a text asks for something."""
    return not QUESTION_MARKS.isdisjoint(text) or _ASKING.match(text.strip()) is not None

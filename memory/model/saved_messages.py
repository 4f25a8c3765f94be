"""Messages that became lessons: those that somebody saved, and those that a form for a lesson was filled in with."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """A person's message and the question that it answers, as they are on the platform now."""

    message_id: str
    answer: str
    author: str
    """Who wrote the answer, by id."""
    question: str
    asker: str = ""
    """Who asked, by id; empty if unknown."""
    link: str = ""
    """A link to the message; empty on platforms without links."""
    thread: str = ""
    """The thread of the message, by id; empty outside threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedMessage:
    """The lesson that a person's message became."""

    workspace: str
    channel: str
    message_id: str
    lesson_id: str
    link: str = ""
    saved_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledFrom:
    """A message that a form for a lesson was filled in with, before its sender changed what they wanted."""

    message_id: str = ""
    person: str = ""
    """Who wrote it, by id; empty for the bot."""
    text: str = ""
    """What was filled in; empty if that is not known any more."""
    is_answer: bool = False
    """Whether it was the answer; else the question."""

"""Messages of people that became lessons because somebody saved them."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """A person's message and the question that it answers, as the platform has both now."""

    message_id: str
    answer: str
    author: str
    """Who wrote the answer, by id."""
    question: str
    asker: str = ""
    """Who asked, by id; empty where nobody knows."""
    link: str = ""
    """Where the message can be read; empty where the platform has no links."""
    thread: str = ""
    """Of the message, by id; empty outside of threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedMessage:
    """The lesson that a person's message became."""

    workspace: str
    channel: str
    message_id: str
    lesson_id: str
    link: str = ""
    saved_at: datetime

"""Private replies to a person, sent through the click or command that is being handled.

Where the bot is no member, only the reply address of a slash command reaches the person. Slack's App Home shows replies
instead of posting them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from bot.model import Attachment, Choice


class PrivateReply(Protocol):
    """Sends a message to one person alone."""

    async def __call__(self, text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        """Send it; returns the message's id if it has one. Raises `MessengerError`."""


@dataclass(slots=True)
class _Open:
    """The private reply to a person while their act is handled; None afterwards."""

    person: str
    reply: PrivateReply | None


_current: ContextVar[_Open | None] = ContextVar("private_reply", default=None)
"""Each task has its own."""


@contextmanager
def replying_to(person: str, reply: PrivateReply) -> Iterator[None]:
    """Inside the block, send private messages to this person by this reply."""
    opened = _Open(person, reply)
    token = _current.set(opened)
    try:
        yield
    finally:
        opened.reply = None
        _current.reset(token)


def reply_to(person: str) -> PrivateReply | None:
    """The private reply to this person, if their act is being handled now."""
    opened = _current.get()
    return opened.reply if opened is not None and opened.person == person else None


async def no_reply(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
    """A private reply that sends nothing, for rate-limited authors, who may be programs."""
    return ""

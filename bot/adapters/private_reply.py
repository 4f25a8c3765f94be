"""Replies to one person alone: sent through the click or command that is being handled.

A slash command may be used where the bot is no member; only the command's own address reaches the person there. Slack's
App Home shows what commands answer instead of posting it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from bot.model import Attachment, Choice


class PrivateReply(Protocol):
    """A platform's way to say something to one person alone."""

    async def __call__(self, text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        """Say it; returns the message's id, where it has one. Raises `MessengerError`."""
        ...


@dataclass(slots=True)
class _Open:
    """A reply to a person while their act is handled. Work that was begun meanwhile outlives it."""

    person: str
    reply: PrivateReply | None


_current: ContextVar[_Open | None] = ContextVar("private_reply", default=None)
"""Each task has its own."""


@contextmanager
def replying_to(person: str, reply: PrivateReply) -> Iterator[None]:
    """Inside the block, send what is for this person alone this way."""
    opened = _Open(person, reply)
    token = _current.set(opened)
    try:
        yield
    finally:
        opened.reply = None
        _current.reset(token)


def reply_to(person: str) -> PrivateReply | None:
    """The private way to this person, if their act is being handled just now."""
    opened = _current.get()
    return opened.reply if opened is not None and opened.person == person else None


async def no_reply(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
    """A private reply that sends nothing: what writes like a program might answer it."""
    return ""

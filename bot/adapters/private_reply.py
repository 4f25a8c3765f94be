"""Replies to one person alone: sent through the click or command that is being handled.

A slash command may be used where the bot is no member; only the command's own address reaches the person there. Slack's
App Home shows what commands answer instead of posting it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

Reply = TypeVar("Reply")
"""A platform's way to say something to one person alone."""


class _Open(Generic[Reply]):
    """A reply to a person while their act is handled. Work that was begun meanwhile outlives it."""

    def __init__(self, person: str, reply: Reply) -> None:
        self.person = person
        self.reply: Reply | None = reply


class PrivateReplies(Generic[Reply]):
    """The private replies of one platform; each task has its own."""

    def __init__(self, platform: str) -> None:
        self._current: ContextVar[_Open[Reply] | None] = ContextVar(f"{platform}_private_reply", default=None)

    @contextmanager
    def by(self, person: str, reply: Reply) -> Iterator[None]:
        """Inside the block, send what is for this person alone this way."""
        opened = _Open(person, reply)
        token = self._current.set(opened)
        try:
            yield
        finally:
            opened.reply = None
            self._current.reset(token)

    def to(self, person: str) -> Reply | None:
        """The private way to this person, if their act is being handled just now."""
        opened = self._current.get()
        return opened.reply if opened is not None and opened.person == person else None

"""Where private words go while a person's act is being handled: back through what they used, seen by them alone."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from bot.model import Attachment, Choice


class PrivateReply(Protocol):
    """A way to one person."""

    async def tell(self, text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        """Say it to them alone; returns the message's id. Raises `MessengerError` kinds."""
        ...


class _Open:
    """An aside while the act is handled. Work that was begun meanwhile outlives it."""

    def __init__(self, person: str, aside: PrivateReply) -> None:
        self.person = person
        self.aside: PrivateReply | None = aside


_open: ContextVar[_Open | None] = ContextVar("discord_aside", default=None)


@contextmanager
def private_reply_for(person: str, aside: PrivateReply) -> Iterator[None]:
    """What is said to this person alone goes this way inside the block."""
    opened = _Open(person, aside)
    token = _open.set(opened)
    try:
        yield
    finally:
        opened.aside = None
        _open.reset(token)


def private_reply_to(person: str) -> PrivateReply | None:
    """The private way to this person, if their act is being handled just now."""
    opened = _open.get()
    return opened.aside if opened is not None and opened.person == person else None

"""Where private words go while a person's click or command is being handled: back through what they used.

A slash command may be used where the bot is no member; only the command's own address reaches the person there. App
Home shows what commands answer instead of posting it.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from bot.model import BotMessage

Tell = Callable[[BotMessage], Awaitable[None]]


class _Way:
    """A way to the person, open while their act is handled. Work that was begun meanwhile outlives it."""

    def __init__(self, person: str, tell: Tell) -> None:
        self.person = person
        self.tell = tell
        self.is_open = True


_way: ContextVar[_Way | None] = ContextVar("way_to_the_person", default=None)


@contextmanager
def answering_by(person: str, tell: Tell) -> Iterator[None]:
    """What is said to this person alone goes through `tell` inside the block."""
    way = _Way(person, tell)
    token = _way.set(way)
    try:
        yield
    finally:
        way.is_open = False
        _way.reset(token)


def way_to(person: str) -> Tell | None:
    """How to tell this person something just now, if there is a special way."""
    way = _way.get()
    return way.tell if way is not None and way.is_open and way.person == person else None

"""Streams a complete answer: one message, edited as often as Discord allows."""

import logging
from collections.abc import Awaitable, Callable

from bot.adapters.commonmark import split
from bot.adapters.discord.rest import UNKNOWN_MESSAGE, code_of
from bot.errors import MessengerError

log = logging.getLogger(__name__)

AT_ONCE = 600
"""Characters of the first step. A shorter answer is posted at once."""
_STEP = 600
PACE_S = 1.2
"""Seconds between two edits: a channel allows five in five seconds."""

ChangeMessage = Callable[[str, bool], Awaitable[object]]
"""Sets the message's text; the second argument says whether it is complete."""


def beginning(text: str) -> str:
    """The first text of a streamed message."""
    return _cut(text, AT_ONCE)


async def stream(text: str, change: ChangeMessage, sleep: Callable[[float], Awaitable[None]]) -> None:
    """Edit a message from its beginning to the whole text, step by step.

    Raises `MessengerError` if the last step fails; other failures are ignored. A message that was deleted meanwhile is
    left alone.
    """
    shown_length = len(beginning(text))
    for length in range(AT_ONCE + _STEP, len(text), _STEP):
        step = _cut(text, length)
        if len(step) <= shown_length:
            continue
        shown_length = len(step)
        await sleep(PACE_S)
        try:
            await change(step, False)
        except MessengerError as error:
            log.info("skipped an update of a streamed answer: %s", error)
    await sleep(PACE_S)
    try:
        await change(text, True)
    except MessengerError as error:
        if code_of(error) != UNKNOWN_MESSAGE:
            raise


def _cut(text: str, length: int) -> str:
    """A beginning of the text in which code blocks are closed, and no link or emoji is cut."""
    first = split(text, length)[0]
    is_beginning = bool(first) and text.startswith(first[: len(first) // 2])
    return first if is_beginning else text[:length]

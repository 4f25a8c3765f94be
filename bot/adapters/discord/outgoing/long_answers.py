"""Long answers: they are streamed, continue in a thread under their first message, or are sent as a file.

A stream is one message, edited as often as Discord allows.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal

import discord

from bot.adapters.commonmark import split
from bot.adapters.discord.directory import DIRECT_WORKSPACE, address
from bot.adapters.discord.rest import HAS_THREAD, UNKNOWN_MESSAGE, Rest, code_of
from bot.errors import MessengerError
from bot.model import Attachment, BotMessage

log = logging.getLogger(__name__)

MOST_MESSAGES = 2
"""An answer of more messages is a long one."""
LongAnswers = Literal["thread", "file", "messages"]
"""How long answers are sent: see the setting `discord.long_answers`."""
_THREAD_NAME = "The answer goes on here"


async def in_thread(client: discord.Client, rest: Rest, message: BotMessage) -> BotMessage:
    """A later part of a long answer, addressed to the thread under the first part.

    The message is unchanged if there are no threads, or the bot may not create one.
    """
    first = address(message.channel, message.first_message)
    is_in_channel = not message.thread and message.workspace != DIRECT_WORKSPACE
    if message.parts <= MOST_MESSAGES or message.part == 1 or first is None or not is_in_channel:
        return message
    channel, message_id = first
    guild = int(message.workspace.rpartition(":")[2])
    start = client.get_partial_messageable(channel, guild_id=guild).get_partial_message(message_id)
    try:
        await rest(f"beginning a thread under message {message_id}", lambda: start.create_thread(name=_THREAD_NAME))
    except MessengerError as error:
        if code_of(error) != HAS_THREAD:
            log.info("could not open a thread for a long answer: %s", error)
            return message
    # A thread has the id of the message it begins with.
    return replace(message, thread=str(message_id))


def as_document(message: BotMessage) -> Attachment:
    """A whole answer as a file."""
    return Attachment(name="answer.md", content=message.text.encode(), media_type="text/markdown")


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

"""Long answers: they continue in a thread under their first message, or are sent as a file."""

import logging
from dataclasses import replace
from typing import Literal

import discord

from bot.adapters.discord.directory import DIRECT_WORKSPACE, address
from bot.adapters.discord.rest import HAS_THREAD, Rest, code_of
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

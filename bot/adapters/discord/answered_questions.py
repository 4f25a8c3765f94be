"""Looks up a message and the question it answers, when somebody saves it."""

import discord

from bot.adapters.discord.context import HandlerContext
from bot.adapters.discord.directory import address
from bot.adapters.discord.message_facts import is_by_person
from bot.adapters.discord.missing_intent_hint import own_role_in
from bot.adapters.discord.plain_text import plain, without_mention
from bot.adapters.discord.reading_along import fetched
from memory.model import Scope
from memory.model.saved import AnsweredQuestion


async def answered_question(handlers: HandlerContext, scope: Scope, message_id: str) -> AnsweredQuestion | None:
    """A message with what it replies to, else with what began its thread; None for others, and for bots.

    Raises `MessengerError` kinds.
    """
    place = address(scope.channel, message_id)
    answer = await fetched(handlers, *place) if place else None
    if answer is None or not is_by_person(answer):
        return None
    asked = await _question(handlers, scope, answer)
    if asked is None or not is_by_person(asked):
        return None
    return AnsweredQuestion(
        message_id=message_id,
        answer=await _text(handlers, answer),
        author=str(answer.author.id),
        question=await _text(handlers, asked),
        asker=str(asked.author.id),
        link=answer.jump_url,
        thread=scope.thread,
    )


async def _question(handlers: HandlerContext, scope: Scope, answer: discord.Message) -> discord.Message | None:
    replied = answer.reference
    if replied is not None and replied.message_id is not None:
        return await fetched(handlers, replied.channel_id, replied.message_id)
    thread = answer.channel.id
    if str(thread) == scope.channel or answer.id == thread:
        return None
    # A thread has the id of the message it began with, which stands in its channel; in a forum, in the thread.
    return await fetched(handlers, int(scope.channel), thread) or await fetched(handlers, thread, thread)


async def _text(handlers: HandlerContext, message: discord.Message) -> str:
    text = without_mention(message.content, handlers.me, own_role_in(message))
    return plain(text, await handlers.mentions.names(text, message.author, message.mentions))

"""Looks up a message and the question it answers, when somebody saves it."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from bot.adapters.slack.events import Json, is_by_person, plain, without_mention
from bot.adapters.slack.threads import Threads
from bot.adapters.slack.web import Web
from memory.model.saved import AnsweredQuestion

Label: TypeAlias = Callable[[str, str], Awaitable[str]]
"""(text, channel) to the text with a label in every mention."""


async def answered_question(
    web: Web, threads: Threads, label: Label, me: str, channel: str, ts: str
) -> AnsweredQuestion | None:
    """A reply, with the message that began its thread; None for what begins one, and for bots.

    `me` is the bot, whose mentions are left out of both. Raises `MessengerError` kinds.
    """
    thread = await threads.of(channel, ts)
    if thread == ts:
        return None
    # The first message comes with every part of a thread.
    read = await web.call(
        web.client.conversations_replies, channel, channel=channel, ts=thread, oldest=ts, latest=ts, inclusive=True
    )
    found: dict[str, Json] = {str(each["ts"]): each for each in read.get("messages") or ()}
    asked, answer = found.get(thread), found.get(ts)
    if asked is None or answer is None or not is_by_person(asked) or not is_by_person(answer):
        return None

    async def text(message: Json) -> str:
        return plain(await label(without_mention(str(message.get("text") or ""), me), channel))

    link = await web.call(web.client.chat_getPermalink, channel, channel=channel, message_ts=ts)
    return AnsweredQuestion(
        message_id=ts,
        answer=await text(answer),
        author=str(answer["user"]),
        question=await text(asked),
        asker=str(asked["user"]),
        link=str(link.get("permalink") or ""),
        thread=thread,
    )

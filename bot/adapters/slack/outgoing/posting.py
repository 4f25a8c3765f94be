"""Posts each message once: before a retry it looks in Slack whether the message is there."""

import logging
from datetime import datetime

from bot.adapters.flow_control import TRIES, Sleep
from bot.adapters.slack.events import Json, time_of, timestamp_in
from bot.adapters.slack.outgoing.blocks import AnswerReference, Block, fallback_text, message_blocks, question_blocks
from bot.adapters.slack.threads import ANSWER_EVENT, Threads
from bot.adapters.slack.web import Web, code_of, may_have_happened
from bot.errors import MessengerError, MessengerUnavailable, RateLimited
from bot.model import BotMessage

log = logging.getLogger(__name__)

_NO_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})
_MAIN_TEXT_LIMIT = 39_000
"""Slack cuts `text` at 40,000 characters."""


class Poster:
    """Posts to everybody in a conversation or thread. `started_at` is when this process started."""

    def __init__(self, web: Web, threads: Threads, *, started_at: datetime, sleep: Sleep) -> None:
        self._web = web
        self._threads = threads
        self._started_at = started_at
        self._sleep = sleep
        self._doubtful: set[tuple[str, int]] = set()
        """Parts that may have been posted, by run and number, until a look-up tells."""

    async def post(self, message: BotMessage) -> str:
        """Post a message and return its time stamp. Raises `MessengerError`."""
        found = await self.posted_before(message)
        if found:
            return found
        for attempt in range(1, TRIES + 1):
            try:
                return await self._once(message)
            except MessengerUnavailable as error:
                if may_have_happened(error) and (found := await self._look_again(message)):
                    return found
                if attempt == TRIES:
                    raise
                await self._sleep(attempt)
        raise AssertionError("the last try returns or raises")

    def may_be_posted(self, message: BotMessage) -> bool:
        """Whether an earlier process may have posted the message, or begun to, without noting it."""
        stamp = timestamp_in(message.reply_to)
        if message.may_be_posted:
            return bool(message.run_id)
        return bool(message.run_id and stamp) and time_of(stamp) < self._started_at

    async def posted_before(self, message: BotMessage) -> str:
        """The time stamp of the message if an earlier process or try posted it, else empty.

        Raises `MessengerError` if Slack cannot tell now.
        """
        is_doubtful = (message.run_id, message.part) in self._doubtful
        found = await self._look_for(message) if is_doubtful or self.may_be_posted(message) else ""
        self._doubtful.discard((message.run_id, message.part))
        return found

    async def _look_again(self, message: BotMessage) -> str:
        """Look for a message right after a try whose outcome is not known."""
        if message.run_id:
            self._doubtful.add((message.run_id, message.part))
        found = await self._look_for(message)
        self._doubtful.discard((message.run_id, message.part))
        if found:
            log.info("the answer %s was posted although Slack did not say so", message.run_id)
        return found

    async def _once(self, message: BotMessage) -> str:
        try:
            answer = await self._send(message, fallback_text(message.text), message_blocks(message))
        except MessengerError as error:
            if code_of(error) not in _NO_BLOCKS:
                raise
            # An older or restricted workspace: post the text without formatting and buttons.
            log.warning("posting without blocks, for Slack refuses them: %s", error)
            plain = fallback_text(message.text, _MAIN_TEXT_LIMIT)
            answer = await self._send(message, plain, [])
        return str(answer["ts"])

    async def _send(self, message: BotMessage, text: str, blocks: list[Block]) -> Json:
        return await self._web.call_once(
            self._web.client.chat_postMessage,
            channel=message.channel,
            text=text,
            unfurl_links=False,
            unfurl_media=False,
            blocks=blocks or None,
            thread_ts=message.thread or None,
            metadata=metadata(message) if message.run_id else None,
        )

    async def _look_for(self, message: BotMessage) -> str:
        """The time stamp of the message, or empty. Raises retryable errors, as posting unseen could post it twice."""
        if not message.run_id:
            return ""
        try:
            return await self._threads.find_part(message.channel, message.thread, message.run_id, message.part)
        except (MessengerUnavailable, RateLimited):
            raise
        except MessengerError as error:
            log.warning("answer %s may appear twice, for what was posted cannot be read: %s", message.run_id, error)
            return ""


def metadata(message: BotMessage) -> Json:
    """Hidden message metadata by which the bot finds its own message again."""
    return {"event_type": ANSWER_EVENT, "event_payload": {"run_id": message.run_id, "part": message.part}}


async def ask_privately(web: Web, person: str, question: str, answer: AnswerReference) -> None:
    """Ask a person about an answer by a message that they alone see, with buttons. Raises `MessengerError`."""
    await _post_privately(web, person, question, answer, question_blocks(question, answer))


async def tell_privately(web: Web, person: str, text: str, answer: AnswerReference) -> None:
    """Tell a person about an answer by a message that they alone see. Raises `MessengerError`."""
    await _post_privately(web, person, text, answer)


async def _post_privately(
    web: Web, person: str, text: str, answer: AnswerReference, blocks: list[Block] | None = None
) -> None:
    await web.call_once(
        web.client.chat_postEphemeral,
        channel=answer.channel,
        user=person,
        text=fallback_text(text),
        blocks=blocks,
        thread_ts=answer.thread or None,
    )

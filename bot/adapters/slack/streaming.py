"""An answer as a native stream: it appears piece by piece, and ends as one message with its buttons.

Slack's rules (docs.slack.dev/reference/methods/chat.startStream): only in a thread, in a channel only for a named
person, 20 starts a minute for each workspace, about 12,000 characters and five minutes in all. A stream that cannot
begin is an ordinary message; one that breaks off is completed by an update. A text with a link is an ordinary message
too: only of those can Slack be told not to unfold what they link to.
"""

import html
import logging
import re
from collections.abc import Iterator

from bot.adapters.slack.blocks import fallback_text, message_blocks, under_answer
from bot.adapters.slack.mrkdwn import harmless
from bot.adapters.slack.posting import metadata
from bot.adapters.slack.web import Web, code_of, may_have_happened
from bot.adapters.splitting import size
from bot.errors import MessengerError
from bot.model import BotMessage

log = logging.getLogger(__name__)

_PIECE = 2500
_LIMIT = 11_000
_LINK = re.compile(r"https?://", re.IGNORECASE)
_LONG_REFERENCE = re.compile("&(?=#[0-9]{8})")
"""Before a number that is no character's. `html.unescape` reads it all the same, and fails on very long ones."""
_EMOJI_NAME = re.compile(r":[\w+'-]+:")
_AT_ONCE_S = 0.0
"""An ordinary message now is better than a stream later."""


class Streamer:
    """Streams answers to the person who asked."""

    def __init__(self, web: Web, *, team: str) -> None:
        self._web = web
        self._team = team

    async def stream(self, message: BotMessage, asker: str) -> str:
        """The time stamp of the streamed message, complete; nothing if it must be posted in the ordinary way.

        Raises `MessengerError` kinds when a message was begun and cannot be completed.
        """
        text = harmless(message.text)
        is_direct = message.channel.startswith("D")
        is_streamable = text.strip() and size(text) <= _LIMIT and not _LINK.search(text)
        if not message.thread or not is_streamable or not (asker or is_direct):
            return ""
        first, *others = _pieces(text)
        ts = await self._start(message, first, asker)
        if not ts:
            return ""
        try:
            await self._finish(message, ts, others)
        except MessengerError as error:
            if code_of(error) != "stopped_by_user":
                log.info("a stream in %s broke off, completing it by an update: %s", message.channel, error)
            await self._complete(message, ts)
        return ts

    async def _start(self, message: BotMessage, first: str, asker: str) -> str:
        recipient = {"recipient_user_id": asker, "recipient_team_id": self._team} if asker else {}
        try:
            answer = await self._web.once(
                self._web.client.chat_startStream,
                message.channel,
                patience_s=_AT_ONCE_S,
                channel=message.channel,
                thread_ts=message.thread,
                markdown_text=first,
                **recipient,
            )
        except MessengerError as error:
            log.info("no stream in %s, posting instead: %s", message.channel, error)
            return await self._begun(message, first) if may_have_happened(error) else ""
        return str(answer["ts"])

    async def take_up(self, message: BotMessage) -> str:
        """The time stamp of the stream that an earlier process began and did not end, completed now, or nothing."""
        text = harmless(message.text)
        ts = await self._begun(message, text) if message.thread and text.strip() else ""
        if ts:
            await self._complete(message, ts)
        return ts

    async def _begun(self, message: BotMessage, text: str) -> str:
        """The stream that began although Slack did not say so: the newest reply of ours that begins so and has no end.

        What ended carries metadata.
        """
        try:
            answer = await self._web.call(
                self._web.client.conversations_replies,
                message.channel,
                channel=message.channel,
                ts=message.thread,
                include_all_metadata=True,
                limit=200,
            )
        except MessengerError as error:
            log.warning("an answer in %s may appear twice: %s", message.channel, error)
            return ""
        ours = [m for m in answer.get("messages") or () if m.get("bot_id") and not m.get("metadata")]
        whole = _letters(text)
        return next(
            (
                str(m["ts"])
                for m in reversed(ours)
                if (posted := _letters(str(m.get("text") or ""))) and whole.startswith(posted)
            ),
            "",
        )

    async def _finish(self, message: BotMessage, ts: str, pieces: list[str]) -> None:
        client = self._web.client
        for piece in pieces:
            # Repeating an append would say the piece twice: the update after a failure repairs that.
            await self._web.once(
                client.chat_appendStream, message.channel, channel=message.channel, ts=ts, markdown_text=piece
            )
        await self._web.once(
            client.chat_stopStream,
            message.channel,
            channel=message.channel,
            ts=ts,
            blocks=under_answer(message),
            metadata=metadata(message),
        )

    async def _complete(self, message: BotMessage, ts: str) -> None:
        """Make a message that may still be streaming what it was to be."""
        client, channel = self._web.client, message.channel
        try:
            await self._web.call(client.chat_stopStream, channel, channel=channel, ts=ts)
        except MessengerError as error:
            log.debug("the stream had ended: %s", error)
        await self._web.call(
            client.chat_update,
            channel,
            channel=channel,
            ts=ts,
            text=fallback_text(message.text),
            blocks=message_blocks(message),
            metadata=metadata(message),
        )


def _letters(text: str) -> str:
    """What is left of a text in whichever dialect: Slack keeps its own of what it streamed, with emoji by name."""
    return "".join(filter(str.isalnum, _EMOJI_NAME.sub("", html.unescape(_LONG_REFERENCE.sub("", text)))))


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that join to it, cut between words where there are any."""
    rest = text
    while len(rest) > _PIECE:
        end = max(rest.rfind(mark, 0, _PIECE) for mark in ("\n", " ")) + 1
        yield rest[: end or _PIECE]
        rest = rest[end or _PIECE :]
    yield rest

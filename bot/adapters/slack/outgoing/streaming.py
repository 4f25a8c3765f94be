"""Streams answers natively: an answer appears piece by piece, and ends as one message with its buttons.

Slack's rules (docs.slack.dev/reference/methods/chat.startStream): only in a thread, in a channel only for a named
person, 20 starts a minute for each workspace, about 12,000 characters and five minutes in all. If a stream cannot
begin, the answer is posted as an ordinary message. A stream that breaks off is completed by an update, now or at a
later try; if Slack refuses that, it is deleted and posted as an ordinary message. Short answers, and answers with a
link, are ordinary messages too: only for these can Slack be told not to unfold links.
"""

import html
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from bot.adapters.commonmark import size
from bot.adapters.slack.events import timestamp_in
from bot.adapters.slack.outgoing.blocks import fallback_text, message_blocks, under_answer
from bot.adapters.slack.outgoing.mrkdwn import defuse_mentions
from bot.adapters.slack.outgoing.posting import metadata
from bot.adapters.slack.threads import Threads
from bot.adapters.slack.web import NO_WAIT_S, Web, code_of, may_have_happened
from bot.errors import MessengerError
from bot.model import BotMessage

log = logging.getLogger(__name__)

_PIECE = 2500
_LIMIT = 11_000
SHORTEST = _PIECE
"""Characters. A complete answer of one piece is posted in one call, without using up one of the starts."""
_LINK = re.compile(r"https?://", re.IGNORECASE)
_LONG_REFERENCE = re.compile("&(?=#[0-9]{8})")
"""A character reference with too many digits, on which `html.unescape` may fail."""
_EMOJI_NAME = re.compile(r":[\w+'-]+:")
PACE_S = 1.0
"""Seconds between two pieces of an answer that is being written: Slack takes a hundred a minute."""


class Streamer:
    """Streams answers to the person who asked, with at most one stream for each part."""

    def __init__(self, web: Web, threads: Threads) -> None:
        self._web = web
        self._threads = threads
        self._unended: dict[tuple[str, int], str] = {}
        """The time stamps of streams that may not have ended, by run and part; empty until it is found."""
        self._shown: dict[tuple[str, int], str] = {}
        """The shown text of streams that began before the answer was complete; empty if one cannot continue."""

    async def stream(self, message: BotMessage, team: str) -> str:
        """Stream a complete answer and return its time stamp; empty if it must be posted as an ordinary message.

        Raises `MessengerError` if a stream began, or may have, so that `complete` can end it later.
        """
        text = defuse_mentions(message.text)
        is_streamable = len(text) > SHORTEST and size(text) <= _LIMIT and not _LINK.search(text)
        recipient = self._recipient(message, team)
        if _part(message) in self._unended or not is_streamable or recipient is None:
            return ""
        first = next(_pieces(text))
        ts = await self._start(message, first, recipient)
        return await self._ended(message, ts, text[len(first) :]) if ts else ""

    async def _ended(self, message: BotMessage, ts: str, rest: str) -> str:
        """Append the rest to a stream and end it; returns its time stamp. Raises as `stream` does."""
        try:
            await self._finish(message, ts, list(_pieces(rest)) if rest else [])
        except MessengerError as error:
            if code_of(error) != "stopped_by_user":
                log.info("a stream in %s broke off, completing it by an update: %s", message.channel, error)
            return await self._completed(message, ts)
        return ts

    def _recipient(self, message: BotMessage, team: str) -> dict[str, str] | None:
        """The arguments that name a stream's recipient; None if a stream is not possible."""
        asker = self._threads.asker(message.channel, timestamp_in(message.reply_to))
        if not message.thread or not (asker or message.channel.startswith("D")):
            return None
        return {"recipient_user_id": asker, "recipient_team_id": team} if asker else {}

    async def stream_partial(self, message: BotMessage, team: str) -> None:
        """Begin a stream with a partial answer, or append what is new; `complete` ends it.

        If that is not possible, the answer appears when it is complete. Raises `MessengerError`.
        """
        part, text = _part(message), defuse_mentions(message.text)
        shown, recipient = self._shown.get(part), self._recipient(message, team)
        if shown is None and recipient is not None and not _LINK.search(text):
            self._shown[part] = ""
            ts = await self._start(message, text, recipient)
            if ts:
                self._unended[part], self._shown[part] = ts, text
        elif shown and text.startswith(shown) and size(text) <= _LIMIT and not _LINK.search(text):
            self._shown[part] = ""
            await self._append(message, self._unended[part], text[len(shown) :])
            self._shown[part] = text

    async def drop_partial(self, message: BotMessage) -> None:
        """Delete the stream of an answer that will not be completed."""
        self._shown.pop(_part(message), None)
        if ts := self._unended.pop(_part(message), ""):
            await self._withdraw(message.channel, ts)

    async def complete(self, message: BotMessage, *, may_be_begun: bool) -> str:
        """Complete a stream that an earlier try began and did not end; returns its time stamp, empty if there is none.

        With `may_be_begun` the try may have been an earlier process's. Raises `MessengerError` if the stream cannot be
        looked for or completed now.
        """
        text = defuse_mentions(message.text)
        known = self._unended.get(_part(message))
        if not message.thread or not text.strip() or (known is None and not may_be_begun):
            return ""
        ts = known or await self._begun(message, text)
        if not ts:
            return ""
        shown = self._shown.pop(_part(message), "")
        if known and _LINK.search(text):
            # Only for an ordinary message can Slack be told not to unfold links.
            await self._withdraw(message.channel, ts)
            return ""
        if known and shown and text.startswith(shown) and size(text) <= _LIMIT:
            return await self._ended(message, ts, text[len(shown) :])
        return await self._completed(message, ts)

    def posted(self, message: BotMessage) -> None:
        """Forget a part's stream, as the part is posted."""
        self._unended.pop(_part(message), None)
        self._shown.pop(_part(message), None)

    async def _start(self, message: BotMessage, first: str, recipient: Mapping[str, str]) -> str:
        try:
            answer = await self._web.call_once(
                self._web.client.chat_startStream,
                max_wait_s=NO_WAIT_S,  # an ordinary message now is better
                channel=message.channel,
                thread_ts=message.thread,
                markdown_text=first,
                **recipient,
            )
        except MessengerError as error:
            log.info("no stream in %s, posting instead: %s", message.channel, error)
            if not may_have_happened(error):
                return ""
            self._unended[_part(message)] = ""
            return await self._begun(message, first)
        return str(answer["ts"])

    async def _begun(self, message: BotMessage, text: str) -> str:
        """The stream that began although Slack did not confirm it: our newest reply that begins so and has not ended.

        A stream that ended has metadata. Raises `MessengerError` if Slack cannot tell now, as posting without a look
        could post it twice.
        """
        whole, found = _letters(text), ""
        try:
            async for reply in self._threads.messages(message.channel, message.thread):
                if not reply.get("bot_id") or reply.get("metadata"):
                    continue
                posted = _letters(str(reply.get("text") or ""))
                if posted and whole.startswith(posted):
                    found = str(reply["ts"])
        except MessengerError as error:
            if error.retryable:
                raise
            log.warning("an answer in %s may appear twice: %s", message.channel, error)
        return found

    async def _append(self, message: BotMessage, ts: str, piece: str) -> None:
        # Not retried, as that could append the piece twice: the update after a failure repairs it.
        append = self._web.client.chat_appendStream
        await self._web.call_once(append, channel=message.channel, ts=ts, markdown_text=piece)

    async def _finish(self, message: BotMessage, ts: str, pieces: list[str]) -> None:
        client = self._web.client
        for piece in pieces:
            await self._append(message, ts, piece)
        await self._web.call_once(
            client.chat_stopStream,
            channel=message.channel,
            ts=ts,
            blocks=under_answer(message),
            metadata=metadata(message),
        )

    async def _completed(self, message: BotMessage, ts: str) -> str:
        """Replace the text of a message that may still be streaming by the whole answer; returns its time stamp.

        If Slack refuses that for good, the message is deleted and the result is empty: it must be posted again.
        """
        self._unended[_part(message)] = ts
        client, channel, unstopped = self._web.client, message.channel, None
        try:
            await self._web.call(client.chat_stopStream, channel=channel, ts=ts)
        except MessengerError as error:
            log.debug("the stream had ended: %s", error)
            unstopped = error
        try:
            await self._web.call(
                client.chat_update,
                channel=channel,
                ts=ts,
                text=fallback_text(message.text),
                blocks=message_blocks(message),
                metadata=metadata(message),
            )
        except MessengerError as error:
            if error.retryable:
                raise
            if unstopped is not None and unstopped.retryable:
                raise unstopped from error
            log.warning("could not complete a streamed answer in %s, posting it again: %s", channel, error)
            await self._withdraw(channel, ts)
            return ""
        return ts

    async def _withdraw(self, channel: str, ts: str) -> None:
        client = self._web.client
        try:
            with suppress(MessengerError):  # it may have ended; what is open cannot be deleted
                await self._web.call(client.chat_stopStream, channel=channel, ts=ts)
            await self._web.call(client.chat_delete, channel=channel, ts=ts)
        except MessengerError as error:
            log.warning("could not remove an unfinished message in %s: %s", channel, error)


def _part(message: BotMessage) -> tuple[str, int]:
    return message.run_id, message.part


def _letters(text: str) -> str:
    """The letters and digits of a text, to compare texts in Markdown and in Slack's own dialect."""
    return "".join(filter(str.isalnum, _EMOJI_NAME.sub("", html.unescape(_LONG_REFERENCE.sub("", text)))))


def _pieces(text: str) -> Iterator[str]:
    """The text in consecutive pieces, cut between words if possible."""
    rest = text
    while len(rest) > _PIECE:
        end = max(rest.rfind(mark, 0, _PIECE) for mark in ("\n", " ")) + 1
        yield rest[: end or _PIECE]
        rest = rest[end or _PIECE :]
    yield rest

"""Threads in Slack: which thread a message is in, who asked there, and where the bot is working."""

import logging
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

from cachetools import TTLCache

from bot.adapters.slack.events import Json
from bot.adapters.slack.web import NO_WAIT_S, Identity, Method, Web, code_of, next_cursor
from bot.errors import ChannelNotFound, MessengerError
from bot.model import ThreadSoFar
from memory.ports import Clock

log = logging.getLogger(__name__)

ANSWER_EVENT = "goodbot_answer"
"""Name of the metadata on every part of an answer; its payload holds `run_id` and `part`."""

_TTL = timedelta(days=2)
_PAGES, _PAGE = 10, 200
_LOOK_S, _WHOLE_THREAD = 1.0, 500
"""How long reading a thread may wait for Slack, in seconds, and the most messages it reads."""
_MOST_ASKERS = 20
"""People remembered for each thread."""

_NOT_OFFERED = frozenset({"unknown_method", "missing_scope", "not_allowed_token_type", "feature_not_enabled"})
"""Refusals that hold for the whole app, so that the call is not tried again."""


class Threads:
    """Finds threads: the bot's own messages are cached for a while, Slack is asked about others."""

    def __init__(self, web: Web, clock: Clock) -> None:
        self._web = web
        self._thread_of: TTLCache[tuple[str, str], str, datetime] = TTLCache(20_000, _TTL, clock)
        self._asker_of: TTLCache[tuple[str, str], str, datetime] = TTLCache(5000, _TTL, clock)
        self._askers: TTLCache[tuple[str, str], tuple[str, ...], datetime] = TTLCache(5000, _TTL, clock)

    def answered(self, channel: str, thread: str, ts: str) -> None:
        """Note that the bot posted this message in a thread."""
        self._thread_of[channel, ts] = thread

    def asked(self, channel: str, thread: str, message: str, person: str) -> None:
        """Note that a person asked in a thread; `message` is their question, or the answer that they want again."""
        self._asker_of[channel, message] = person
        others = (each for each in self.askers(channel, thread) if each != person)
        self._askers[channel, thread] = (*others, person)[-_MOST_ASKERS:]

    def asker(self, channel: str, message: str) -> str:
        """Who asked a question, which is whom the answer is streamed to; empty if not known any more."""
        return self._asker_of.get((channel, message)) or ""

    def askers(self, channel: str, thread: str) -> tuple[str, ...]:
        """Who asked in a thread, the latest last; empty if not known any more."""
        return self._askers.get((channel, thread)) or ()

    def known(self, channel: str, ts: str) -> str:
        """The thread of a message without asking Slack; empty when unknown."""
        return self._thread_of.get((channel, ts)) or ""

    async def of(self, channel: str, ts: str) -> str:
        """The thread of a message; its own time stamp if it begins one, or if Slack cannot tell."""
        thread = self.known(channel, ts)
        if not thread:
            root = await self.root(channel, ts)
            thread = str(root.get("thread_ts") or root.get("ts") or ts)
            self._thread_of[channel, ts] = thread
        return thread

    async def root(self, channel: str, ts: str) -> Json:
        """The first message of a message's thread; empty if Slack cannot tell."""
        try:
            answer = await self._web.call(
                self._web.client.conversations_replies, max_wait_s=NO_WAIT_S, channel=channel, ts=ts, limit=1
            )
        except MessengerError as error:
            log.info("could not look up the thread of %s in %s: %s", ts, channel, error)
            return {}
        messages: list[Json] = answer.get("messages") or [{}]
        return messages[0]

    async def so_far(self, channel: str, thread: str, before: str, me: Identity) -> ThreadSoFar | None:
        """The thread before a message; None if Slack cannot tell, or it is very long."""
        try:
            answer = await self._web.call(
                self._web.client.conversations_replies,
                max_wait_s=_LOOK_S,
                channel=channel,
                ts=thread,
                limit=_WHOLE_THREAD,
            )
        except MessengerError as error:
            log.info("could not read thread %s of %s: %s", thread, channel, error)
            return None
        if answer.get("has_more"):
            return None
        earlier: list[Json] = [each for each in answer.get("messages") or () if float(each["ts"]) < float(before)]
        last = earlier[-1] if earlier else {}
        return ThreadSoFar(
            people=frozenset(str(each["user"]) for each in earlier if each.get("user") and not each.get("bot_id")),
            is_last_ours=bool(last) and (last.get("user") == me.user or last.get("bot_id") == me.bot),
            last_text=str(last.get("text") or ""),
        )

    async def find_part(self, channel: str, thread: str, run_id: str, part: int) -> str:
        """The time stamp of an answer's part that was posted before; empty if there is none.

        Raises `MessengerError` if Slack cannot tell.
        """
        async for message in self.messages(channel, thread):
            metadata: Any = message.get("metadata") or {}
            payload = metadata.get("event_payload") or {}
            is_answer = metadata.get("event_type") == ANSWER_EVENT
            if is_answer and (payload.get("run_id"), payload.get("part")) == (run_id, part):
                return str(message["ts"])
        return ""

    async def messages(
        self,
        channel: str,
        thread: str,
        *,
        until: str = "",
        pages: int = _PAGES,
        max_wait_s: float | None = None,
    ) -> AsyncIterator[Json]:
        """Messages of a thread, oldest first, or of a channel outside of threads, newest first; 200 a page.

        With `until` only those up to this time stamp. Raises `MessengerError` when Slack cannot say.
        """
        client, cursor = self._web.client, ""
        method: Method = client.conversations_replies if thread else client.conversations_history
        which = ({"ts": thread} if thread else {}) | ({"latest": until} if until else {})
        for _ in range(pages):
            answer = await self._web.call(
                method,
                max_wait_s=max_wait_s,
                channel=channel,
                include_all_metadata=True,
                limit=_PAGE,
                cursor=cursor or None,
                **which,
            )
            for message in answer.get("messages") or ():
                yield message
            cursor = next_cursor(answer)
            if not cursor:
                return


class Status:
    """Shows in which threads the bot is working, in the order it began."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._busy: dict[tuple[str, str], str] = {}
        self._has_sessions = True

    def is_busy(self, channel: str, thread: str) -> bool:
        """Whether the bot is working in a thread."""
        return (channel, thread) in self._busy

    def busy_threads(self, channel: str) -> list[str]:
        """The threads of a channel in which the bot is working, the latest last."""
        return [thread for at, thread in self._busy if at == channel]

    async def show(self, channel: str, thread: str, text: str) -> None:
        """Mark a thread as busy and show it. If showing raises `MessengerError`, the thread is still busy.

        Showing never waits for a rate limit. Ending it does, as Slack does not end it by itself.
        """
        before = self._busy.get((channel, thread))
        self._busy[channel, thread] = text
        if self._has_sessions and before is not None:
            return
        if self._has_sessions and await self._set_session(channel, thread, "processing", NO_WAIT_S):
            return
        await self._set_line(channel, thread, f"is {text}..." if text.endswith("ing") else text, NO_WAIT_S)

    async def clear(self, channel: str, thread: str) -> None:
        """Mark a thread as idle and remove its status. Raises `MessengerError`."""
        if self._busy.pop((channel, thread), None) is not None:
            await self.end(channel, thread)

    async def end(self, channel: str, thread: str) -> None:
        """Remove the status, also one that an earlier process set."""
        if not (self._has_sessions and await self._set_session(channel, thread, "active", None)):
            await self._set_line(channel, thread, "", None)

    async def tidy(self, channel: str, thread: str) -> None:
        """Remove the status of an idle thread, which an earlier process may have left. A failure is only logged."""
        try:
            await self.end(channel, thread)
        except MessengerError as error:
            log.info("could not clear the status of an idle thread: %s", error)

    async def _set_session(self, channel: str, thread: str, status: str, max_wait_s: float | None) -> bool:
        """Set the status of an agent session. False if Slack offers none to this app or in this thread."""
        try:
            await self._web.call(
                self._web.client.agents_sessions_setStatus,
                max_wait_s=max_wait_s,
                channel_id=channel,
                thread_ts=thread,
                status=status,
            )
        except MessengerError as error:
            if error.retryable or isinstance(error, ChannelNotFound):
                raise
            log.info("no agent session here (%s): showing a line of text instead", code_of(error))
            self._has_sessions = code_of(error) not in _NOT_OFFERED
            return False
        return True

    async def _set_line(self, channel: str, thread: str, text: str, max_wait_s: float | None) -> None:
        await self._web.call(
            self._web.client.assistant_threads_setStatus,
            max_wait_s=max_wait_s,
            channel_id=channel,
            thread_ts=thread,
            status=text,
        )

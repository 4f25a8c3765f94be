"""Finds the thread of a message, and the bot's last answer in it."""

import logging
from datetime import timedelta
from typing import Any

from bot.adapters.slack.web import Json, Web
from bot.adapters.ttl_cache import TtlCache
from bot.errors import MessengerError
from memory.ports import Clock

log = logging.getLogger(__name__)

ANSWER_EVENT = "goodbot_answer"
"""Name of the metadata on every part of an answer; its payload holds `run_id` and `part`."""

_KEEP = timedelta(days=2)
_PAGES = 10
_MOST_ASKERS = 20
"""People remembered for each thread."""


class Threads:
    """Remembers the bot's own messages for a while, and asks Slack about the others."""

    def __init__(self, web: Web, clock: Clock) -> None:
        self._web = web
        self._thread_of: TtlCache[tuple[str, str], str] = TtlCache(clock, size=20_000, keep=_KEEP)
        self._last_answer: TtlCache[tuple[str, str], str] = TtlCache(clock, size=5000, keep=_KEEP)
        self._asker_of: TtlCache[tuple[str, str], str] = TtlCache(clock, size=5000, keep=_KEEP)
        self._askers: TtlCache[tuple[str, str], tuple[str, ...]] = TtlCache(clock, size=5000, keep=_KEEP)

    def answered(self, channel: str, thread: str, ts: str) -> None:
        """The bot answered there."""
        self._thread_of.put((channel, ts), thread)
        self._last_answer.put((channel, thread), ts)

    def asked(self, channel: str, thread: str, message: str, person: str) -> None:
        """A person asked something there: the time stamp of what they said, or of the answer they want anew."""
        self._asker_of.put((channel, message), person)
        others = (each for each in self.askers(channel, thread) if each != person)
        self._askers.put((channel, thread), (*others, person)[-_MOST_ASKERS:])

    def asker(self, channel: str, message: str) -> str:
        """Whose question that was, and whom its stream is for; empty when that is forgotten."""
        return self._asker_of.get((channel, message)) or ""

    def askers(self, channel: str, thread: str) -> tuple[str, ...]:
        """Who asked in a thread, the last one last; empty when that is forgotten."""
        return self._askers.get((channel, thread)) or ()

    def last_answer(self, channel: str, thread: str) -> str:
        """The time stamp of the last answer in a thread; empty when that is forgotten."""
        return self._last_answer.get((channel, thread)) or ""

    def known(self, channel: str, ts: str) -> str:
        """The thread of a message without asking Slack; empty when unknown."""
        return self._thread_of.get((channel, ts)) or ""

    async def of(self, channel: str, ts: str) -> str:
        """The thread of a message; its own time stamp when it begins one, or when Slack cannot say."""
        thread = self.known(channel, ts)
        if not thread:
            root = await self.root(channel, ts)
            thread = str(root.get("thread_ts") or root.get("ts") or ts)
            self._thread_of.put((channel, ts), thread)
        return thread

    async def root(self, channel: str, ts: str) -> Json:
        """The first message of a message's thread; empty when Slack cannot say."""
        try:
            answer = await self._web.call(
                self._web.client.conversations_replies, channel, patience_s=0, channel=channel, ts=ts, limit=1
            )
        except MessengerError as error:
            log.info("the thread of %s in %s is not known: %s", ts, channel, error)
            return {}
        messages: list[Json] = answer.get("messages") or [{}]
        return messages[0]

    async def find_part(self, channel: str, thread: str, run_id: str, part: int) -> str:
        """The time stamp of a part of an answer that was posted already, or nothing.

        Raises `MessengerError` kinds when Slack cannot say.
        """
        cursor = ""
        for _ in range(_PAGES):
            answer = await self._page(channel, thread, cursor)
            for message in answer.get("messages") or ():
                metadata: Any = message.get("metadata") or {}
                payload = metadata.get("event_payload") or {}
                is_answer = metadata.get("event_type") == ANSWER_EVENT
                if is_answer and (payload.get("run_id"), payload.get("part")) == (run_id, part):
                    return str(message["ts"])
            cursor = str((answer.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                break
        return ""

    async def _page(self, channel: str, thread: str, cursor: str) -> Json:
        client = self._web.client
        if not thread:
            return await self._web.call(
                client.conversations_history,
                channel,
                channel=channel,
                include_all_metadata=True,
                limit=100,
                cursor=cursor or None,
            )
        return await self._web.call(
            client.conversations_replies,
            channel,
            channel=channel,
            ts=thread,
            include_all_metadata=True,
            limit=200,
            cursor=cursor or None,
        )

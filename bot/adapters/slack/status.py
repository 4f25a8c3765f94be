"""The status of a thread while the bot works in it: the agent's status with a stop button, or a line of text."""

import logging

from bot.adapters.slack.web import Web, code_of
from bot.errors import ChannelNotFound, MessengerError

log = logging.getLogger(__name__)

_NOT_OFFERED = frozenset({"unknown_method", "missing_scope", "not_allowed_token_type", "feature_not_enabled"})
"""Refusals that hold for the whole app, so that it is not asked for again."""
_HURRY_S = 0.0
"""Showing progress is never worth waiting for; ending it is, for Slack does not do it by itself."""


class Status:
    """Shows and remembers which threads are being worked in, in the order they began."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._busy: dict[tuple[str, str], str] = {}
        self._has_sessions = True

    def is_busy(self, channel: str, thread: str) -> bool:
        """Whether work goes on in a thread."""
        return (channel, thread) in self._busy

    def busy_threads(self, channel: str) -> list[str]:
        """The threads of a channel that are being worked in, the latest last."""
        return [thread for at, thread in self._busy if at == channel]

    async def show(self, channel: str, thread: str, text: str) -> None:
        """Work goes on there. Raises `MessengerError` kinds; the thread counts as busy all the same."""
        before = self._busy.get((channel, thread))
        self._busy[channel, thread] = text
        if self._has_sessions and before is not None:
            return
        if self._has_sessions and await self._set_session(channel, thread, "processing", _HURRY_S):
            return
        await self._set_line(channel, thread, f"is {text}..." if text.endswith("ing") else text, _HURRY_S)

    async def clear(self, channel: str, thread: str) -> None:
        """Work ended there, or never began. Raises `MessengerError` kinds."""
        if self._busy.pop((channel, thread), None) is not None:
            await self.end(channel, thread)

    async def end(self, channel: str, thread: str) -> None:
        """Take the status away, also one that an earlier process set."""
        if not (self._has_sessions and await self._set_session(channel, thread, "active", None)):
            await self._set_line(channel, thread, "", None)

    async def _set_session(self, channel: str, thread: str, status: str, patience_s: float | None) -> bool:
        """False where Slack does not offer agent sessions: to this app, or for a reason of its own in this thread."""
        try:
            await self._web.call(
                self._web.client.agents_sessions_setStatus,
                channel,
                patience_s=patience_s,
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

    async def _set_line(self, channel: str, thread: str, text: str, patience_s: float | None) -> None:
        await self._web.call(
            self._web.client.assistant_threads_setStatus,
            channel,
            patience_s=patience_s,
            channel_id=channel,
            thread_ts=thread,
            status=text,
        )

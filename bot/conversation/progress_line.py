"""The line that shows what the agent is doing while an answer is worked out."""

import asyncio
import logging
from collections import Counter

from bot.errors import MessengerError
from bot.ports import Messenger
from memory.model import Scope

log = logging.getLogger(__name__)


class ProgressLine:
    """Shows in order what the agent is doing, without making it wait. Failing to show it never fails the answer.

    `lines` counts those that show something in the same place: the last one to end takes it away.
    """

    def __init__(self, messenger: Messenger, scope: Scope, lines: Counter[tuple[str, ...]]) -> None:
        self._messenger = messenger
        self._scope = scope
        self._lines = lines
        self._place = scope.conversation[:3]
        self._lines[self._place] += 1
        self._texts: asyncio.Queue[str | None] = asyncio.Queue()
        self._is_ending = False
        self._task = asyncio.create_task(self._run())

    def show(self, text: str) -> None:
        """Show a text."""
        self._texts.put_nowait(text)

    def end(self) -> None:
        """Remove the line without waiting: a slow platform must not hold up the answer."""
        if not self._is_ending:
            self._is_ending = True
            self._lines[self._place] -= 1
            if not self._lines[self._place]:
                del self._lines[self._place]
                self._texts.put_nowait("")
            self._texts.put_nowait(None)

    async def ended(self) -> None:
        """Wait until it is removed."""
        await asyncio.wait({self._task})
        if not self._task.cancelled() and (error := self._task.exception()) is not None:
            log.error("progress can not be shown: %s", error, exc_info=error)

    async def _run(self) -> None:
        scope = self._scope
        while (text := await self._texts.get()) is not None:
            try:
                await self._messenger.progress(scope.workspace, scope.channel, scope.thread, text)
            except MessengerError as error:
                log.info("progress not shown: %s", error)

"""Shows a running answer: a progress line, and the partial answer while the model writes it.

Each partial text is treated like a posted one, as a whole: secrets are removed here, mentions by the messenger. So that
neither is shown in pieces, a partial text ends after a whole word and before a character that may begin a mention. A
text that no longer begins with the shown one is not shown until the answer is complete.
"""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from bot.conversation.executor import Executor
from bot.errors import MessengerError
from bot.model import BotMessage
from bot.ports import Messenger, StreamsAnswers
from memory.model import Incoming, Scope
from memory.services import Memory

log = logging.getLogger(__name__)


FIRST_CHARACTERS = 24
"""The shortest partial answer that is shown."""

_OPEN = re.compile(r"<|&(?:lt\b|#0*60\b|#x0*3c\b);?|\]\(", re.IGNORECASE)
_CLOSED = re.compile(r">|&(?:gt\b|#0*62\b|#x0*3e\b);?|\)|\n", re.IGNORECASE)


def complete_beginning(text: str) -> str:
    """The beginning of an unfinished text in which every word, mention and link is complete."""
    end = max((match.end() for match in re.finditer(r"\s", text)), default=0)
    line = text.rfind("\n", 0, end) + 1
    for found in _OPEN.finditer(text, line, end):
        if not _CLOSED.search(text, found.end(), end):
            return text[: found.start()]
    return text[:end]


class LiveAnswer:
    """One answer, shown while it is written."""

    def __init__(self, messenger: StreamsAnswers, message: BotMessage, clean: Callable[[str], Awaitable[str]]) -> None:
        self._messenger, self._message, self._clean = messenger, message, clean
        self._latest, self._shown = "", ""
        self._is_new = asyncio.Event()
        self._showing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.is_kept = False
        """Whether the complete answer will be posted."""

    def update(self, text: str) -> None:
        """Show this partial answer soon."""
        self._latest = text
        self._is_new.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    async def end(self) -> None:
        """Show no more, and remove the partial answer unless the complete one will be posted."""
        if self._task is not None:
            async with self._showing:  # lets a running call finish
                self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        if self._shown and not self.is_kept:
            self._shown = ""
            try:
                await self._messenger.drop_partial(self._message)
            except MessengerError as error:
                log.info("could not remove the partial answer %s: %s", self._message.run_id, error)

    async def _run(self) -> None:
        while True:
            await self._is_new.wait()
            self._is_new.clear()
            text = (await self._clean(complete_beginning(self._latest))).rstrip()
            if len(text) < FIRST_CHARACTERS or len(text) <= len(self._shown) or not text.startswith(self._shown):
                continue
            # Noted before the call, which may have its effect even if it fails.
            self._shown = text
            try:
                async with self._showing:
                    await self._messenger.stream_partial(replace(self._message, text=text))
            except MessengerError as error:
                log.info("answer %s is not streamed: %s", self._message.run_id, error)
                return
            await asyncio.sleep(self._messenger.pace_s)


class LiveAnswers:
    """Shows answers while they are written, on the platforms that can."""

    def __init__(self, memory: Memory, executor: Executor) -> None:
        self._memory, self._executor = memory, executor

    @asynccontextmanager
    async def of(self, messenger: Messenger, incoming: Incoming, run_id: str) -> AsyncIterator[LiveAnswer | None]:
        """The live answer to a message; None if the platform cannot show one.

        It is removed at the end of the block unless it is kept.
        """
        if not isinstance(messenger, StreamsAnswers):
            yield None
            return
        scope = incoming.scope
        message = BotMessage(
            workspace=scope.workspace,
            channel=scope.channel,
            thread=scope.thread,
            text="",
            is_answer=True,
            run_id=run_id,
            part=1,
            reply_to=incoming.message_id,
        )
        redacted = self._executor.as_async(self._memory.core.redactor.text)
        live_answer = LiveAnswer(messenger, message, redacted)
        try:
            yield live_answer
        finally:
            await live_answer.end()


class ProgressLine:
    """Shows what the agent is doing, in order, without making it wait. A failure does not fail the answer.

    `lines` counts the progress lines of each place; the last one to end removes it.
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

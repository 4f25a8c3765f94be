"""Finishes what earlier processes left: messages without an answer, and answers that the platform refused."""

import asyncio
import logging

from bot.conversation.answers.answering import Answering
from bot.conversation.answers.conversations import Conversations
from bot.conversation.executor import Executor
from bot.ports import Messenger
from memory.model import Incoming, Progress
from memory.services import Memory

log = logging.getLogger(__name__)


class Recovery:
    """Hands unfinished messages to their conversations."""

    def __init__(self, memory: Memory, executor: Executor, conversations: Conversations, answering: Answering) -> None:
        self._memory = memory
        self._executor = executor
        self._conversations = conversations
        self._answering = answering

    async def answer_suspects(self, *messengers: Messenger) -> None:
        """Answer the messages that may have crashed an earlier process, one at a time, before anything else.

        So another crash has one known cause. To be called before the platforms connect: answers are committed here, and
        posted by `resume`.
        """
        for messenger, incoming in await self._unfinished(*messengers):
            if incoming.is_suspect and incoming.progress is Progress.ACCEPTED and not self._answering.is_shutting_down:
                await self._conversations.run(messenger, incoming, self._answer_unseen)

    async def resume(self, *messengers: Messenger) -> int:
        """Finish an earlier process's work: answer accepted messages, post committed answers. Returns how many."""
        left = await self._unfinished(*messengers)
        for messenger, incoming in left:
            enqueue = self._conversations.enqueue_suspect if incoming.is_suspect else self._conversations.enqueue
            enqueue(messenger, incoming)
        return len(left)

    async def redeliver(self, messenger: Messenger) -> int:
        """Retry answers that the platform refused. Returns how many have parts left to post."""
        left = [
            incoming
            for _, incoming in await self._unfinished(messenger)
            if incoming.progress is not Progress.ACCEPTED and self._conversations.may_offer(incoming)
        ]
        for incoming in left:
            self._conversations.enqueue(messenger, incoming)
        return len(left)

    async def _unfinished(self, *messengers: Messenger) -> list[tuple[Messenger, Incoming]]:
        """Unfinished messages of these platforms, oldest first."""
        by_platform = {messenger.platform: messenger for messenger in messengers}
        unfinished = [unsent.incoming for unsent in await self._executor(self._memory.recording.unfinished)]
        return [
            (by_platform[incoming.scope.platform], incoming)
            for incoming in unfinished
            if incoming.scope.platform in by_platform
        ]

    async def _answer_unseen(self, messenger: Messenger, incoming: Incoming, cancel: asyncio.Event, _: bool) -> None:
        try:
            if await self._answering.answer_unseen(messenger, incoming, cancel):
                await self._executor(self._memory.recovering.clear, incoming)
        except Exception as error:
            # The error boundary. Once connected it is retried, and its asker told.
            log.error("message %s was not answered: %s", incoming.event_id, error, exc_info=error)

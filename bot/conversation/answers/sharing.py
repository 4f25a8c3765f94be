"""Shares platforms among processes: decides which process answers which message, with one turn per conversation.

A message gets its turn when it is accepted, or waits for it. Each process regularly looks in the database for waiting
messages and those of dead processes, and takes them. A process that could not poll for too long posts nothing, because
others may have taken its messages.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace

from bot.conversation.answers.conversations import Conversations, Turns
from bot.conversation.executor import Executor
from bot.errors import MessengerUnavailable
from bot.model import BotMessage, MessageRef
from bot.ports import AnswersEverywhere, KnowsWorkspaces, Messenger
from memory.errors import MemoryFault
from memory.model import Incoming, Scope, Turn
from memory.ports import LeasedMessage
from memory.services import Memory
from memory.services.upkeep.leases import FREE, PROCESS_FOR, WAITING

log = logging.getLogger(__name__)

_FRESH_S = PROCESS_FOR.total_seconds() - 1.0
"""How long after a poll this process certainly still holds its messages."""
_AWAITED_S = 2.0
"""How long after another process said that it waits the end of each turn is announced."""


class Sharing(Turns):
    """One process, named `process`, among those that answer on the same `platforms`."""

    def __init__(
        self,
        memory: Memory,
        executor: Executor,
        conversations: Conversations,
        *,
        process: str,
        platforms: frozenset[str],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._memory = memory
        self._executor = executor
        self._conversations = conversations
        self._monotonic = monotonic
        self.process, self.platforms = process, platforms
        self.messengers: dict[str, Messenger] = {}
        """The messengers of the platforms that this process answers on now."""
        self.taken_over: set[str] = set()
        """Event ids of messages taken from another process, which may have posted some of the answer."""
        self.on_inherited: Callable[[], None] = lambda: None
        """Called, in a thread, before a dead process's messages are answered."""
        self.awake = asyncio.Event()
        """Set when there is a reason to poll at once."""
        self._polled_at = self._awaited_until = float("-inf")
        self._news: set[str] = set()
        self._idle: frozenset[tuple[str, str]] = frozenset()

    def holder(self, platform: str) -> str:
        """The name of this process if it shares the platform; else empty."""
        return self.process if platform in self.platforms else ""

    def is_ours(self, message: Incoming) -> bool:
        """Whether this process may answer a message now. If not, the process that may is woken."""
        if message.scope.platform not in self.platforms:
            return True
        if message.held_by == self.process and message.turn is not Turn.WAITS and not self._conversations.is_draining:
            return True
        self._tell(WAITING)
        return False

    def ended(self, event_id: str) -> None:
        """Note that the work on a message has ended."""
        self.taken_over.discard(event_id)
        if self._monotonic() < self._awaited_until:
            self._tell(FREE)

    async def running_in(self, scope: Scope) -> Incoming | None:
        """The message that another process is answering in this conversation."""
        if scope.platform not in self.platforms:
            return None
        return await self._executor(self._memory.conversation_leases.running_in, scope)

    async def stop(self, message: Incoming) -> bool:
        """Ask the other process to finish with what it has. False if nothing is running."""
        return await self._executor(self._memory.conversation_leases.stop, message)

    async def post(self, messenger: Messenger, incoming: Incoming, message: BotMessage) -> MessageRef:
        """Post a part of an answer, unless another process may have taken it over. Raises `MessengerError`."""
        if not self._holds(incoming):
            raise MessengerUnavailable("the database did not say in time whose turn it is")
        return await messenger.post(replace(message, may_be_posted=incoming.event_id in self.taken_over))

    def _holds(self, message: Incoming) -> bool:
        return message.scope.platform not in self.platforms or self._monotonic() - self._polled_at < _FRESH_S

    def is_elsewhere(self, message: Incoming) -> bool:
        """Whether another process has to retry the message's answer."""
        return message.scope.platform in self.platforms and message.held_by != self.process

    def _tell(self, news: str) -> None:
        self._news.add(news)
        self.awake.set()

    # Looking ----------------------------------------------------------------------------------------------------

    async def poll(self, polling: Executor, news: frozenset[str] = frozenset()) -> None:
        """Renew this process's lease, and take free messages. Never raises.

        `polling` has a thread of its own, so that a poll is never late.
        """
        began, working = self._monotonic(), self._conversations.taken
        if WAITING in news:
            self._awaited_until = began + _AWAITED_S
        self.awake.clear()
        turns, left = self._memory.conversation_leases, self._idle - working
        workspaces, platforms = self._where()
        try:
            found = await polling(turns.renew_and_take, self.process, workspaces, left, platforms)
            self._polled_at = began
            await self._take(found.taken, polling)
            while self._news:
                await polling(turns.announce, self._news.pop())
        except Exception as error:
            # An error boundary: the next poll is a new try.
            is_fault = isinstance(error, MemoryFault)
            log.error("what is to be answered cannot be looked for: %s", error, exc_info=None if is_fault else error)
            return
        for each in found.unfinished:
            if each.is_stopped:
                self._conversations.stop_event(each.key)
        # A message accepted just now is not running yet: only what is idle in two looks is given up.
        self._idle = frozenset(each.key for each in found.unfinished) - self._conversations.taken

    def _where(self) -> tuple[list[str], list[str]]:
        """The workspaces whose messages this process may take, and the platforms of which it may take all."""
        if self._conversations.is_draining:
            return [], []
        messengers = self.messengers.values()
        known = (each.workspaces for each in messengers if isinstance(each, KnowsWorkspaces))
        everywhere = [each for each in messengers if isinstance(each, AnswersEverywhere) and each.answers_everywhere]
        return sorted(frozenset().union(*known)), [each.platform for each in everywhere]

    async def _take(self, taken: tuple[LeasedMessage, ...], polling: Executor) -> None:
        if not taken:
            return
        inherited = {each.event_id: each.holder_before for each in taken if each.holder_before}
        if inherited:
            log.info("took over %d messages from %s", len(inherited), ", ".join(sorted(set(inherited.values()))))
            self.taken_over |= inherited.keys()
            await polling(self.on_inherited)
        for message in await polling(self._memory.conversation_leases.read, taken):
            messenger = self.messengers[message.scope.platform]
            enqueue = self._conversations.enqueue_suspect if message.is_suspect else self._conversations.enqueue
            enqueue(messenger, message)

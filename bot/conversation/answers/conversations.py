"""Queues of accepted messages, one for each conversation, with their workers, and the messages' texts."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from bot.conversation.executor import after_earlier_work
from bot.model import ImageFile, PersonEdit, PersonMessage
from bot.ports import Messenger
from memory.model import Incoming, Scope

Conversation = tuple[str, str, str, str]
"""Workspace, channel, thread, and the person if each has a conversation of their own (`Scope.conversation`)."""

AnswerMessage = Callable[[Messenger, Incoming, asyncio.Event, bool], Awaitable[None]]
"""Answers one message. The event asks it to stop; the bool says whether the message is up to date. Must not raise."""


class Turns:
    """Decides which process answers which message: this one all of them, as there is no other."""

    def holder(self, platform: str) -> str:
        """The process that a newly accepted message is assigned to; empty if no other process answers there."""
        return ""

    def is_ours(self, message: Incoming) -> bool:
        """Whether this process may answer a message now. If not, the process that may is woken."""
        return True

    def is_elsewhere(self, message: Incoming) -> bool:
        """Whether another process has to retry the message's answer."""
        return False

    def ended(self, event_id: str) -> None:
        """Note that the work on a message has ended."""

    async def running_in(self, scope: Scope) -> Incoming | None:
        """The message that another process is answering in this conversation."""
        return None

    async def stop(self, message: Incoming) -> bool:
        """Ask the other process to finish with what it has. False if nothing is running."""
        return False


class Conversations:
    """Answers messages with one worker for each conversation; a worker ends when its queue is empty."""

    def __init__(self, answer: AnswerMessage) -> None:
        self._answer = answer
        self._queues: dict[Conversation, asyncio.Queue[tuple[Messenger, Incoming, bool]]] = {}
        self._workers: dict[Conversation, asyncio.Task[None]] = {}
        self._running: dict[Conversation, tuple[Incoming, asyncio.Event]] = {}
        self._suspects: deque[tuple[Messenger, Incoming]] = deque()
        self._suspect_worker: asyncio.Task[None] | None = None
        self.is_draining = False
        """Whether no more answers are started."""
        self.taken: set[tuple[str, str]] = set()
        """Waiting and running messages, by workspace and event id."""
        self.turns = Turns()

    def enqueue(self, messenger: Messenger, incoming: Incoming, *, is_current: bool = False) -> None:
        """Queue a message in its conversation.

        `is_current`: it was read just now, so it need not be read again unless it waits. A message that another process
        has to answer, or that has to wait for one, is not queued.
        """
        if not self.turns.is_ours(incoming):
            return
        self.taken.add(_id(incoming))
        key = incoming.scope.conversation
        is_next = key not in self._workers
        self._queues.setdefault(key, asyncio.Queue()).put_nowait((messenger, incoming, is_current and is_next))
        if is_next:
            self._workers[key] = asyncio.create_task(self._work(key))

    def enqueue_suspect(self, messenger: Messenger, incoming: Incoming) -> None:
        """Queue a message that is answered before all that have not started yet, one such message at a time."""
        self.taken.add(_id(incoming))
        self._suspects.append((messenger, incoming))
        if self._suspect_worker is None or self._suspect_worker.done():
            self._suspect_worker = asyncio.create_task(self._work_suspects())

    async def run(
        self, messenger: Messenger, incoming: Incoming, answer: AnswerMessage, *, is_current: bool = False
    ) -> None:
        """Answer a message now, with this function, so that it can be stopped like any other."""
        key, cancel = incoming.scope.conversation, asyncio.Event()
        self._running[key] = (incoming, cancel)
        try:
            with after_earlier_work():
                await answer(messenger, incoming, cancel, is_current)
        finally:
            self._running.pop(key, None)
            self._ended(_id(incoming))

    @contextmanager
    def working_on(self, message: tuple[str, str]) -> Iterator[None]:
        """Work inside on the message with this workspace and event id, which is not offered again meanwhile."""
        is_twice = message in self.taken  # its event came again
        self.taken.add(message)
        try:
            yield
        finally:
            if not is_twice:
                self._ended(message)

    def _ended(self, message: tuple[str, str]) -> None:
        self.taken.discard(message)
        self.turns.ended(message[1])

    async def _work_suspects(self) -> None:
        while self._suspects and not self.is_draining:
            messenger, incoming = self._suspects.popleft()
            await self.run(messenger, incoming, self._answer)

    async def _work(self, key: Conversation) -> None:
        queue, waited = self._queues[key], False
        try:
            while not queue.empty() and not self.is_draining:
                if self._suspect_worker is not None and not self._suspect_worker.done():
                    await asyncio.wait({self._suspect_worker})
                    waited = True
                    continue
                messenger, incoming, is_current = queue.get_nowait()
                await self.run(messenger, incoming, self._answer, is_current=is_current and not waited)
        finally:
            self._workers.pop(key, None)
            if queue.empty():
                self._queues.pop(key, None)
            elif not self.is_draining:
                # The answer raised although it must not: continue with the rest of the queue.
                self._workers[key] = asyncio.create_task(self._work(key))

    @property
    def waiting(self) -> int:
        """How many messages are queued."""
        return sum(queue.qsize() for queue in self._queues.values()) + len(self._suspects)

    def running(self, key: Conversation) -> Incoming | None:
        """The message of a conversation that is being answered now."""
        current = self._running.get(key)
        return current[0] if current else None

    def running_in(self, scope: Scope) -> Incoming | None:
        """The message that is being answered in this channel and thread: the person's own, else the latest."""
        here = [each for each, _ in self._running.values() if each.scope.conversation[:3] == scope.conversation[:3]]
        own = [each for each in here if each.scope.person == scope.person]
        return next(reversed(own or here), None)

    def holder(self, platform: str) -> str:
        """The process that a newly accepted message is assigned to; empty if no other process answers there."""
        return "" if self.is_draining else self.turns.holder(platform)

    def may_offer(self, message: Incoming) -> bool:
        """Whether an answer may be retried now: it and its conversation are idle, and no other process has it."""
        is_free = _id(message) not in self.taken and self.running(message.scope.conversation) is None
        return is_free and not self.turns.is_elsewhere(message)

    async def running_anywhere(self, scope: Scope) -> Incoming | None:
        """The message that this or another process is answering in this channel and thread (`running_in`)."""
        return self.running_in(scope) or await self.turns.running_in(scope)

    async def stop_anywhere(self, message: Incoming) -> bool:
        """Stop a message that `running_anywhere` found."""
        return self.stop(message.scope.conversation) or await self.turns.stop(message)

    def stop(self, key: Conversation) -> bool:
        """Ask a running answer to finish with what it has. False if nothing is running."""
        current = self._running.get(key)
        if current is None or current[1].is_set():
            return False
        current[1].set()
        return True

    def stop_message(self, scope: Scope, message_id: str) -> None:
        """Stop the answer to this message, if it is running, whoever asked."""
        for key, (incoming, _) in list(self._running.items()):
            if key[:2] == scope.conversation[:2] and incoming.message_id == message_id:
                self.stop(key)

    def stop_event(self, message: tuple[str, str]) -> None:
        """Stop the answer to the message with this workspace and event id, if it is running."""
        for key, (incoming, _) in list(self._running.items()):
            if _id(incoming) == message:
                self.stop(key)

    def stop_all(self) -> bool:
        """Stop all running answers. False if nothing was running."""
        stopped = [self.stop(key) for key in list(self._running)]
        return any(stopped)

    def start_draining(self) -> None:
        """Start no more answers: new messages are stored, and answered after the next start."""
        self.is_draining = True

    def shut_down(self) -> None:
        """Start no more answers and stop running ones."""
        self.start_draining()
        self.stop_all()

    async def cancel_all(self, within_s: float) -> None:
        """Cancel answers that do not stop. The next start finishes them."""
        workers = self._tasks()
        for worker in workers:
            worker.cancel()
        if workers:
            await asyncio.wait(workers, timeout=within_s)
        self._workers.clear()

    async def idle(self) -> None:
        """Wait until all queues are empty."""
        while tasks := self._tasks():
            await asyncio.wait(tasks)

    def _tasks(self) -> "list[asyncio.Task[None]]":
        worker = self._suspect_worker
        return [*self._workers.values(), *([worker] if worker is not None and not worker.done() else [])]


def _id(incoming: Incoming) -> tuple[str, str]:
    return incoming.scope.workspace, incoming.event_id


def image_line(image: ImageFile) -> str:
    """A line of text in place of a picture."""
    return f"Attached picture {image.name} ({image.media_type}, {len(image.content)} bytes)"


def full_text(event: PersonMessage | PersonEdit) -> str:
    """The text of a message with its attachments, as the agent reads it; may be empty."""
    words = [event.text] if event.text.strip() else []
    files = [f"Attached file {file.name}:\n{file.text}" for file in event.files]
    return "\n\n".join([*words, *files, *map(image_line, event.images)])

"""The bot: takes every event of a person, whatever the platform, and does what follows from it.

A message is safe once the sink has returned: it is stored before it is worked on. Messages of one conversation are
answered in order, conversations run side by side. This is the event boundary: an unexpected failure is logged with a
short id and the person is told so; the bot goes on.
"""

import asyncio
import logging

from bot.conversation import wording
from bot.conversation.answering import Answering
from bot.conversation.commands import Commands, find_run
from bot.conversation.off_loop import OffLoop
from bot.errors import MessengerError
from bot.model import (
    BotMessage,
    MessageRef,
    PersonCommand,
    PersonCorrection,
    PersonEvent,
    PersonMessage,
    PersonReaction,
)
from bot.ports import EventSink, Messenger
from memory.emoji import EmojiMap
from memory.errors import InvalidInput, MemoryFault, NotFound
from memory.model import Incoming, Progress, Reaction, Role
from memory.ports import NewId
from memory.service import Memory, Taught

log = logging.getLogger(__name__)

LESSON_MARK = "🧠"

Conversation = tuple[str, str, str]


class Goodbot:
    """The use cases behind every messenger's event sink."""

    def __init__(
        self, *, memory: Memory, off_loop: OffLoop, answering: Answering, emoji: EmojiMap, new_id: NewId
    ) -> None:
        self._memory = memory
        self._off_loop = off_loop
        self._answering = answering
        self._emoji = emoji
        self._new_id = new_id
        self._queues: dict[Conversation, asyncio.Queue[tuple[Messenger, Incoming]]] = {}
        self._workers: dict[Conversation, asyncio.Task[None]] = {}
        self._cancels: dict[Conversation, asyncio.Event] = {}
        self._commands = Commands(memory, off_loop, self._stop)

    def sink(self, messenger: Messenger) -> EventSink:
        """The function a messenger calls with each event."""

        async def take(event: PersonEvent) -> None:
            try:
                await self._take(messenger, event)
            except InvalidInput as error:
                await self._tell(messenger, event, str(error))
            except Exception as error:  # noqa: BLE001 - the event boundary
                await self._apologise(messenger, event, error)

        return take

    async def _take(self, messenger: Messenger, event: PersonEvent) -> None:
        if event.role is Role.BOT:
            return
        match event:
            case PersonMessage():
                await self._on_message(messenger, event)
            case PersonReaction():
                await self._on_reaction(messenger, event)
            case PersonCorrection():
                await self._on_correction(messenger, event)
            case PersonCommand():
                await self._on_command(messenger, event)

    async def _apologise(self, messenger: Messenger, event: PersonEvent, error: Exception) -> None:
        short_id = self._new_id()[-8:]
        known = isinstance(error, MemoryFault)
        log.error("event %s failed [%s]: %s", event.event_id, short_id, error, exc_info=None if known else error)
        await self._tell(messenger, event, wording.apology(short_id))

    async def _tell(self, messenger: Messenger, event: PersonEvent, text: str) -> None:
        """Say why something was not done, if the platform lets us."""
        try:
            await self._say(messenger, event, text)
        except MessengerError as failure:
            log.error("and the person could not be told about event %s: %s", event.event_id, failure)

    async def _say(self, messenger: Messenger, event: PersonEvent, text: str) -> None:
        scope = event.scope
        await messenger.post(
            BotMessage(
                workspace=scope.workspace,
                channel=scope.channel,
                thread=scope.thread,
                text=text,
                private_to=scope.person,
            )
        )

    # Messages -------------------------------------------------------------------------------------------------

    async def _on_message(self, messenger: Messenger, event: PersonMessage) -> None:
        if not event.text.strip():
            return
        incoming = Incoming(
            scope=event.scope, event_id=event.event_id, message_id=event.message_id, text=event.text, at=event.at
        )
        if await self._off_loop(self._memory.recording.accept, incoming):
            self._enqueue(messenger, incoming)

    def _enqueue(self, messenger: Messenger, incoming: Incoming) -> None:
        key = incoming.scope.conversation
        self._queues.setdefault(key, asyncio.Queue()).put_nowait((messenger, incoming))
        if key not in self._workers:
            self._workers[key] = asyncio.create_task(self._work(key))

    async def _work(self, key: Conversation) -> None:
        """Answer what one conversation has waiting, one after the other, then go away."""
        queue = self._queues[key]
        try:
            while not queue.empty() and not self._answering.is_leaving:
                messenger, incoming = queue.get_nowait()
                await self._answer(messenger, incoming, key)
        finally:
            self._workers.pop(key, None)
            if queue.empty():
                self._queues.pop(key, None)

    async def _answer(self, messenger: Messenger, incoming: Incoming, key: Conversation) -> None:
        cancel = self._cancels[key] = asyncio.Event()
        try:
            if incoming.progress is Progress.ACCEPTED:
                overtaken = await self._answering.answer(messenger, incoming, cancel)
            else:
                overtaken = await self._answering.deliver(messenger, incoming)
            if overtaken:
                await self._refresh_mark(messenger, incoming.scope.workspace, overtaken)
        except Exception as error:  # noqa: BLE001 - the event boundary
            message = PersonMessage(
                event_id=incoming.event_id,
                scope=incoming.scope,
                message_id=incoming.message_id,
                text=incoming.text,
                at=incoming.at,
            )
            await self._apologise(messenger, message, error)
        finally:
            self._cancels.pop(key, None)

    def _stop(self, command: PersonCommand) -> bool:
        cancel = self._cancels.get(command.scope.conversation)
        if cancel is None or cancel.is_set():
            return False
        cancel.set()
        return True

    def stop_all(self) -> bool:
        """Cancel every running answer; each ends with what it has. False if nothing was running."""
        running = [cancel for cancel in self._cancels.values() if not cancel.is_set()]
        for cancel in running:
            cancel.set()
        return bool(running)

    def leave(self) -> None:
        """Begin nothing more and give up what runs: what is not answered by now is, after the next start."""
        self._answering.is_leaving = True
        self.stop_all()

    async def recover(self, messenger: Messenger) -> int:
        """Finish what an earlier process left: answer accepted messages, post committed answers. Returns how many."""
        left = [
            unsent.incoming
            for unsent in await self._off_loop(self._memory.recording.unfinished)
            if unsent.incoming.scope.platform == messenger.platform
        ]
        for incoming in left:
            self._enqueue(messenger, incoming)
        return len(left)

    async def idle(self) -> None:
        """Wait until no conversation is being worked on."""
        while self._workers:
            await asyncio.wait(self._workers.values())

    # Teaching -------------------------------------------------------------------------------------------------

    def teaches(self, emoji: str) -> bool:
        """Whether an emoji on an answer means anything."""
        return self._emoji.value(emoji) is not None

    async def _on_reaction(self, messenger: Messenger, event: PersonReaction) -> None:
        value = self._emoji.value(event.emoji)
        if value is None:
            return
        reaction = Reaction(
            workspace=event.scope.workspace,
            channel=event.scope.channel,
            message_id=event.message_id,
            actor=event.scope.person,
            source=f"emoji:{event.emoji}",
            value=value,
            at=event.at,
            role=event.role,
            is_active=event.added,
        )
        taught = await self._off_loop(
            self._memory.teaching.react, reaction, event_id=event.event_id, on_own_message=event.on_own_message
        )
        await self._show_mark(messenger, taught)
        if taught.is_new_opinion and event.added and value < 0 and event.role is not Role.GUEST:
            await self._say(messenger, event, wording.ask_correction(messenger.spell))

    async def _show_mark(self, messenger: Messenger, taught: Taught) -> None:
        """🧠 comes when the answer became a lesson and goes when it stopped being one."""
        if taught.root is not None and taught.is_lesson != taught.was_lesson:
            await self._mark(messenger, taught.root.workspace, taught.root.run_id, taught.is_lesson)

    async def _mark(self, messenger: Messenger, workspace: str, run_id: str, present: bool) -> None:
        sent = await self._off_loop(self._posted_parts, workspace, run_id)
        if not sent:
            return
        try:
            await messenger.mark(sent[-1], LESSON_MARK, present)
        except MessengerError as error:
            log.info("the mark on %s was not shown: %s", run_id, error)

    def _posted_parts(self, workspace: str, run_id: str) -> list[MessageRef]:
        with self._memory.store.read() as tx:
            return [
                MessageRef(workspace=workspace, channel=entry.channel, message_id=entry.message_id)
                for entry in tx.teaching.ledger_of_run(workspace, run_id)
            ]

    async def _on_correction(self, messenger: Messenger, event: PersonCorrection) -> None:
        about = PersonCommand(
            event_id=event.event_id,
            scope=event.scope,
            name="correct",
            argument="",
            at=event.at,
            message_id=event.message_id,
        )
        run_id = await self._off_loop(find_run, self._memory, about)
        if run_id is None:
            await self._say(messenger, event, wording.NO_SUCH_ANSWER if event.message_id else wording.NO_ANSWER_YET)
            return
        try:
            outcome = await self._off_loop(
                self._memory.teaching.correct,
                event.scope,
                run_id,
                event.text,
                role=event.role,
                at=event.at,
                event_id=event.event_id,
            )
        except NotFound:
            await self._say(messenger, event, wording.NO_SUCH_ANSWER)
            return
        if outcome is not None:
            is_lesson = outcome.failed.verdict.is_validated
            await self._mark(messenger, outcome.failed.workspace, outcome.failed.run_id, is_lesson)
            await self._say(messenger, event, wording.corrected(outcome, messenger.spell))

    # Commands -------------------------------------------------------------------------------------------------

    async def _on_command(self, messenger: Messenger, event: PersonCommand) -> None:
        reply = await self._commands.run(event, messenger.spell)
        scope = event.scope
        message = BotMessage(
            workspace=scope.workspace,
            channel=scope.channel,
            thread=scope.thread,
            text=reply.text,
            private_to=scope.person,
        )
        if reply.attachment is not None:
            await messenger.hand_over(message, reply.attachment)
        else:
            await messenger.post(message)
        for run_id in reply.changed_runs:
            await self._refresh_mark(messenger, scope.workspace, run_id)

    async def _refresh_mark(self, messenger: Messenger, workspace: str, run_id: str) -> None:
        try:
            view = await self._off_loop(self._memory.audit.run, workspace, run_id)
        except NotFound:
            return
        await self._mark(messenger, workspace, run_id, view.root.verdict.is_validated)

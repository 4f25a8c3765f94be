"""Posts committed answers part by part, notes each part, and decides what follows if the platform refuses one."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TypeAlias

from bot.conversation import messages
from bot.conversation.answers.choice_messages import option_choices
from bot.conversation.answers.unknown_answers import UnknownAnswers
from bot.conversation.executor import Executor
from bot.conversation.feedback.feedback_question import FeedbackQuestions
from bot.conversation.notifications import try_to_notify
from bot.errors import ChannelNotFound, MessengerError, NotPermitted, TooLong
from bot.model import BotMessage, MessageRef, PersonCorrection, PersonVote
from bot.ports import Messenger
from memory.model import Incoming, Outgoing
from memory.model.episode import authors_of
from memory.rules.audience import may_be_repeated
from memory.services import Answer, Memory

log = logging.getLogger(__name__)

RETRY_PERIOD = timedelta(hours=24)
"""How long after a question its answer is retried if the platform refuses it."""
_NEVER = (ChannelNotFound, TooLong)
"""Errors that no retry can change."""
_PRESSED_SOON_S = 2.0
"""How long what is pressed waits until the answers that are being posted there are stored. Platforms wait 3 s."""

Post: TypeAlias = Callable[[Messenger, Incoming, BotMessage], Awaitable[MessageRef]]


class Delivery:
    """Delivers answers, or a notice if the channel got other readers or the bot may not write there."""

    def __init__(
        self, memory: Memory, executor: Executor, questions: FeedbackQuestions, unknown_answers: UnknownAnswers
    ) -> None:
        self._memory = memory
        self._executor = executor
        self._questions = questions
        self._unknown_answers = unknown_answers
        self.post: Post = lambda messenger, _, message: messenger.post(message)
        """Posts a part of an answer to a message."""
        self.late: set[str] = set()
        """Event ids of unanswered messages that were written while the bot was away."""
        self._refused: set[str] = set()
        """Runs with a refused part, so that it is logged as an error once."""
        self._posting = WorkInProgress()
        """Posting a part and storing its message's id, by workspace and channel."""

    async def deliver(self, messenger: Messenger, incoming: Incoming, answer: Answer) -> str:
        """Post the unsent parts of a committed answer in order, and note each one.

        A refused part stays unsent and is retried later, until `RETRY_PERIOD` is over, its channel is gone, or the
        channel got other readers. Returns the run whose lesson mark may have changed, else an empty text.
        """
        run_to_mark = incoming.run_id if incoming.tap else ""  # a chosen option has its vote already
        workspace, run_id, parts = incoming.scope.workspace, incoming.run_id, answer.parts
        if any(not may_be_repeated(incoming.scope.visibility, part.channel_visibility) for part in parts):
            await self.withhold(messenger, incoming)
            return ""
        if not answer.total:
            await self._unknown_answers.show(messenger, incoming)
        first = answer.first_message
        for part in parts:
            message = replace(self._message(incoming, answer, part), first_message=first)
            if incoming.understood:
                message = await self._questions.shown(message, incoming)
            with self._posting.begun((workspace, part.channel)):
                try:
                    ref = await self.post(messenger, incoming, message)
                except MessengerError as error:
                    await self._refuse(incoming, part, error)
                    if isinstance(error, (ChannelNotFound, NotPermitted)):
                        await self._tell_asker(messenger, incoming)
                    return run_to_mark
                first = first or ref.message_id
                sent, is_answer = self._memory.recording.sent, message.is_answer
                if await self._executor(sent, workspace, run_id, part.part, ref.message_id, is_answer=is_answer):
                    run_to_mark = run_id
            if not is_answer:
                run_to_mark = await self._questions.judged_run(incoming)
        self._refused.discard(run_id)
        self.late.discard(incoming.event_id)
        return run_to_mark

    def _message(self, incoming: Incoming, answer: Answer, part: Outgoing) -> BotMessage:
        """A part of an answer as a message. The last one has the lessons and options below it."""
        message = BotMessage(
            workspace=incoming.scope.workspace,
            channel=part.channel,
            thread=part.thread,
            text=part.text,
            is_answer=True,
            run_id=incoming.run_id,
            part=part.part,
            parts=answer.total,
            is_last=part is answer.parts[-1],
            reply_to=incoming.reply_to if incoming.is_retry else incoming.message_id,
        )
        if not message.is_last:
            return message
        used, known = answer.lessons, answer.is_from_people
        return replace(
            message,
            note=messages.LATE if incoming.event_id in self.late else "",
            lessons=messages.lesson_lines(used, incoming.scope, is_known=known) if used else (),
            choices=option_choices(incoming.run_id, answer.options) if answer.options else (),
            people=authors_of([lesson.episode for lesson in used]),
        )

    async def _refuse(self, incoming: Incoming, part: Outgoing, error: MessengerError) -> None:
        """Handle a refused part: leave it for a retry, or give up the rest of the answer."""
        run_id = part.run_id
        is_late = self._memory.clock() - incoming.at > RETRY_PERIOD
        if isinstance(error, _NEVER) or is_late:
            log.error("answer %s is given up from part %d on, it can not be posted: %s", run_id, part.part, error)
            self._refused.discard(run_id)
            self.late.discard(incoming.event_id)
            await self._executor(self._memory.recording.give_up, part.workspace, run_id)
        else:
            level = logging.INFO if run_id in self._refused else logging.ERROR
            log.log(level, "part %d of answer %s was not posted and is offered again: %s", part.part, run_id, error)
            self._refused.add(run_id)

    async def _tell_asker(self, messenger: Messenger, incoming: Incoming) -> None:
        """Tell the asker privately, and once, that the answer could not be posted."""
        scope, claim_occasion = incoming.scope, self._memory.recording.claim_occasion
        if await self._executor(claim_occasion, scope.workspace, f"refused/{incoming.run_id}"):
            await try_to_notify(messenger, incoming, messages.may_not_post(scope.place))

    async def withhold(self, messenger: Messenger, incoming: Incoming) -> None:
        """Drop the answer because the channel got other readers, and tell the asker privately."""
        await self._executor(self._memory.recording.withhold_answer, incoming)
        await try_to_notify(messenger, incoming, messages.answer_withheld(incoming.scope.place))

    async def wait_for_posting(self, event: PersonVote | PersonCorrection) -> None:
        """Wait a little if what was pressed may be under an answer that is being posted: one that is not known yet."""
        scope = event.scope
        place = scope.workspace, scope.channel
        if not event.message_id or not self._posting.is_going_on(place):
            return
        if await self._executor(self._memory.answers.of_message, scope, event.message_id, event.at) is None:
            await self._posting.ended(place, _PRESSED_SOON_S)


class WorkInProgress:
    """Work that others may wait for, by key."""

    def __init__(self) -> None:
        self._ended: dict[Hashable, list[asyncio.Event]] = {}

    @contextmanager
    def begun(self, key: Hashable) -> Iterator[None]:
        """The work with this key goes on inside."""
        ended = asyncio.Event()
        self._ended.setdefault(key, []).append(ended)
        try:
            yield
        finally:
            ended.set()
            self._ended[key].remove(ended)
            if not self._ended[key]:
                del self._ended[key]

    async def ended(self, key: Hashable, within_s: float) -> None:
        """Wait until all work with this key that has begun is over, at most so many seconds."""
        waits = [asyncio.ensure_future(each.wait()) for each in self._ended.get(key, ())]
        try:
            if waits:
                await asyncio.wait(waits, timeout=within_s)
        finally:
            for each in waits:
                each.cancel()

    def is_going_on(self, key: Hashable) -> bool:
        """Whether there is work with this key."""
        return key in self._ended

"""Edits and deletions of messages that judged, corrected or taught something: only what they say last counts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from bot.conversation.executor import Executor
from bot.conversation.feedback.feedback_in_words import feedback_in, may_be_answer
from bot.conversation.feedback.feedback_record import reworded
from bot.conversation.feedback.handler import FeedbackHandler
from bot.conversation.feedback.in_words_handler import InWordsHandler
from bot.conversation.feedback.note_in_words import note_id, note_in
from bot.conversation.notifications import notify
from bot.model import UNADDRESSED, PersonDeletion, PersonEdit
from bot.ports import Messenger
from memory.services import Memory
from memory.services.teaching.correct import CorrectionResult

FORGOTTEN = "Forgotten: what your message asked me to remember before you edited it."
FORGOTTEN_CORRECTION = "Forgotten: what your message corrected before you edited it."

_CORRECTS = re.compile(r"correct\s*[:：]\s*(?P<text>.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class EditedFeedback:
    """Handles edits and deletions of feedback."""

    _memory: Memory
    _executor: Executor
    _in_words: InWordsHandler
    _feedback: FeedbackHandler

    async def corrects(self, messenger: Messenger, event: PersonEdit) -> bool:
        """Correct again, in the new words of a message that corrects, or may do so. False for any other message."""
        if not event.of_event:
            return False
        corrects = _CORRECTS.fullmatch(event.text.strip())
        made = await self._executor(self._memory.teaching.correction_by, event.scope, event.of_event)
        text = corrects["text"] if corrects is not None else await self._correction_in(event.text, made)
        if not text:
            if made is not None and await self._take_back(messenger, event, [event.of_event]):
                await notify(messenger, event, FORGOTTEN_CORRECTION)
            return False
        role = await self._in_words.roles.of_author(event)
        if role is None:
            return False
        outcome = await self._executor(
            self._memory.teaching.reword,
            event.scope,
            event.of_event,
            text,
            role=role,
            at=event.at,
            event_id=f"{event.event_id}/correction",
        )
        means = partial(reworded, correction=text)
        is_kept = await self._executor(self._memory.in_words.reword, event.scope, event.of_event, event.text, means)
        if outcome is None:
            return is_kept
        await self._feedback.refresh_mark(messenger, event.scope.workspace, outcome.failed.run_id)
        await self._feedback.say_saved(messenger, event, outcome.lesson)
        return True

    async def _correction_in(self, text: str, made: CorrectionResult | None) -> str:
        """What a message says to be right; `made` is the correction that it made before its edit, if any."""
        if made is None:
            reading = feedback_in(text)
        else:
            reading = await self._in_words.reader(text, made.failed.goal, made.failed.output)
        if reading is not None:
            return reading.correction
        return text.strip() if may_be_answer(text) else ""

    async def teaches(self, messenger: Messenger, event: PersonEdit) -> bool:
        """Teach what a message asks to remember now, if anything, instead of what it taught before its edit."""
        taught = await self._feedback.note_of(event)
        if taught is not None and event.address in UNADDRESSED and not await self._was_taken_in(event):
            return False
        if taught is not None:
            await self._feedback.on_teaching(messenger, taught)
        elif note_in(event.text) is None and await self._take_back(messenger, event, [note_id(event)]):
            await notify(messenger, event, FORGOTTEN)
        return taught is not None

    async def _was_taken_in(self, event: PersonEdit) -> bool:
        """Whether the message before its edit was taken for one to the bot, which taught something or asked it."""
        scope = event.scope
        if await self._executor(self._memory.in_words.counts, scope.workspace, note_id(event)):
            return True
        return event.message_id in await self._executor(self._memory.exchanges.asked, scope, [event.message_id])

    async def on_deletion(self, messenger: Messenger, event: PersonDeletion) -> None:
        """Take back what a deleted message judged, corrected or taught."""
        await self._take_back(messenger, event, [event.of_event, note_id(event)])

    async def _take_back(
        self, messenger: Messenger, event: PersonEdit | PersonDeletion, of_events: Sequence[str]
    ) -> bool:
        workspace = event.scope.workspace
        changed = await self._executor(
            self._memory.in_words.take_back,
            workspace,
            of_events,
            at=event.at,
            event_id=f"{event.event_id}/taken back",
            is_edit=isinstance(event, PersonEdit),
        )
        for run_id in changed:
            await self._feedback.refresh_mark(messenger, workspace, run_id)
        return bool(changed)

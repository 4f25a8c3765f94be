"""Edits of messages that corrected or taught something: the new words count instead of the old ones."""

import re
from dataclasses import dataclass
from functools import partial

from bot.conversation.executor import Executor
from bot.conversation.feedback.feedback_in_words import may_be_answer, read
from bot.conversation.feedback.handler import FeedbackHandler
from bot.conversation.feedback.in_words_handler import InWordsHandler
from bot.conversation.feedback.note_in_words import note_id
from bot.conversation.feedback.understood import reworded
from bot.conversation.notifications import notify
from bot.model import PersonEdit
from bot.ports import Messenger
from memory.services import Memory

FORGOTTEN = "Forgotten: what your message asked me to remember before you edited it."

_CORRECTS = re.compile(r"correct\s*[:：]\s*(?P<text>.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class EditedFeedback:
    """Handles edits of feedback."""

    _memory: Memory
    _executor: Executor
    _in_words: InWordsHandler
    _feedback: FeedbackHandler

    async def corrects(self, messenger: Messenger, event: PersonEdit) -> bool:
        """Correct again, in the new words of a message that corrects, or may do so. False for any other message."""
        corrects = _CORRECTS.fullmatch(event.text.strip())
        reading = read(event.text) if corrects is None else None
        statement = event.text.strip() if may_be_answer(event.text) else ""
        text = corrects["text"] if corrects is not None else reading.correction if reading is not None else statement
        if not text or not event.of_event:
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

    async def teaches(self, messenger: Messenger, event: PersonEdit) -> bool:
        """Take back what a message taught before its edit, and teach what it asks to remember now, if anything."""
        scope = event.scope
        before = await self._executor(
            self._memory.teaching.undo,
            scope.workspace,
            scope.person,
            at=event.at,
            event_id=f"{event.event_id}/undo",
            of_event=note_id(event),
        )
        taught = await self._feedback.note_of(event)
        if taught is not None:
            await self._feedback.on_teaching(messenger, taught)
        elif before is not None:
            await notify(messenger, event, FORGOTTEN)
        return taught is not None

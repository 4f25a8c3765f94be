"""Edits of messages that corrected or taught something: the new words count instead of the old ones."""

import re
from dataclasses import dataclass

from bot.conversation.executor import Executor
from bot.conversation.feedback.feedback_in_words import read
from bot.conversation.feedback.handler import FeedbackHandler
from bot.conversation.feedback.in_words_handler import InWordsHandler
from bot.conversation.feedback.note_in_words import Note, lesson_event, note_in
from bot.conversation.feedback.understood import reworded
from bot.model import PersonEdit
from bot.ports import Messenger
from memory.services import Memory

_CORRECTS = re.compile(r"correct\s*[:：]\s*(?P<text>.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class EditedFeedback:
    """Handles edits of feedback."""

    _memory: Memory
    _executor: Executor
    _in_words: InWordsHandler
    _feedback: FeedbackHandler

    async def on_edit(self, messenger: Messenger, event: PersonEdit) -> bool:
        """Correct or teach again, in the new words of a message that did so. False for any other message."""
        if note := note_in(event.text):
            return await self._note_again(messenger, event, note)
        corrects = _CORRECTS.fullmatch(event.text.strip())
        reading = read(event.text) if corrects is None else None
        text = corrects["text"] if corrects is not None else reading.correction if reading is not None else ""
        if not text or not event.of_event:
            return False
        role = await self._in_words.role_now(event)
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
        if outcome is None:
            reword = self._memory.in_words.reword
            return await self._executor(reword, event.scope, event.of_event, text, reworded)
        await self._feedback.refresh_mark(messenger, event.scope.workspace, outcome.failed.run_id)
        await self._feedback.say_saved(messenger, event, outcome.lesson)
        return True

    async def _note_again(self, messenger: Messenger, event: PersonEdit, note: Note) -> bool:
        """Teach what an edited message tells now, and take back what it taught before."""
        role, scope = await self._in_words.role_now(event), event.scope
        if role is None or not event.of_event:
            return False
        await self._feedback.on_teaching(messenger, note.taught(event, role, of_event=event.event_id))
        await self._executor(
            self._memory.teaching.undo,
            scope.workspace,
            scope.person,
            at=event.at,
            event_id=f"{event.event_id}/undo",
            of_event=lesson_event(event.of_event),
        )
        return True

"""A colleague's answer becomes a lesson: somebody saves it with an emoji, or by `remember this`.

The platform is asked for the message and its question at that moment, never before.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace

from bot.conversation import saving_messages
from bot.conversation.executor import Executor
from bot.conversation.notifications import notice
from bot.errors import MessengerError
from bot.model import Choice, PersonCommand, PersonDeletion, PersonEdit, PersonSave
from bot.ports import Messenger, ReadsAlong, ReadsAnswers
from memory.model import Episode, Scope
from memory.model.saved import AnsweredQuestion
from memory.rules.emoji import normalise, spellings
from memory.services import Memory

log = logging.getLogger(__name__)

REMEMBER = "remember"
SAVE_EMOJI = ("📚", "books")
_KEEP, _CANCEL = "keep", "cancel"
_LOOK_BACK = 20
"""How many messages before `remember this` are looked at for the one that is meant."""


class SaveHandler:
    """Handles saves, and what people do later to messages that were saved. `emoji` are the ones that save."""

    def __init__(self, memory: Memory, executor: Executor, emoji: Sequence[str]) -> None:
        self._memory = memory
        self._executor = executor
        self._emoji = frozenset(map(normalise, emoji))
        self._shown_emoji = next(iter(emoji), "")

    def saves(self, emoji: str) -> bool:
        """Whether an emoji on a person's message saves it."""
        return not self._emoji.isdisjoint(spellings(emoji))

    async def on_save(self, messenger: Messenger, event: PersonSave) -> None:
        """Handle the emoji on a person's message, or that it was taken off."""
        if event.added:
            await self._save(messenger, event, event.message_id, self._shown_emoji)
            return
        unsave = self._memory.saving.unsave
        lesson = await self._executor(unsave, event.scope, event.message_id, at=event.at, event_id=event.event_id)
        if lesson is not None:
            await self._say(messenger, event.scope, saving_messages.taken_back(lesson), lesson)

    async def remember(self, messenger: Messenger, command: PersonCommand) -> None:
        """`remember this` shows what would be kept; its buttons keep it or do not."""
        answer, _, message_id = command.argument.partition(" ")
        if answer == _KEEP and message_id:
            await self._save(messenger, command, message_id, "")
            return
        if answer == _CANCEL:
            await self._say(messenger, command.scope, saving_messages.CANCELLED)
            return
        found = await self._meant(messenger, command)
        if found is None:
            await self._say(messenger, command.scope, saving_messages.ANSWERS_NOTHING)
            return
        choices = (
            Choice(label="Keep it", command=REMEMBER, argument=f"{_KEEP} {found.message_id}"),
            Choice(label="Cancel", command=REMEMBER, argument=_CANCEL),
        )
        text = saving_messages.proposal(found, messenger.spell)
        shown = replace(notice(_in_thread(command.scope, found), text), choices=choices, people=(found.author,))
        await messenger.post(shown)

    async def on_edit(self, messenger: Messenger, event: PersonEdit) -> None:
        """A message was edited: the lesson that it is says what it says now, and its author is told."""
        changed = await self._executor(
            self._memory.saving.edited,
            event.scope,
            event.message_id,
            event.text,
            at=event.at,
            event_id=f"{event.event_id}/lesson",
        )
        if changed is not None:
            await self._say(messenger, event.scope, saving_messages.edited(changed), changed.lesson)

    async def on_deletion(self, event: PersonDeletion) -> None:
        """A message was deleted: the lesson that it was is retired."""
        await self._executor(self._memory.saving.deleted, event.scope, event.message_id, event_id=event.event_id)

    async def _save(self, messenger: Messenger, event: PersonSave | PersonCommand, message_id: str, emoji: str) -> None:
        found = await self._read(messenger, event.scope, message_id)
        if found is None or not (found.answer.strip() and found.question.strip()):
            text = saving_messages.NO_WORDS if found else saving_messages.ANSWERS_NOTHING
            occasion = f"answers nothing/{event.scope.person}/{event.at:%Y-%m}"
            is_first = await self._executor(self._memory.recording.first_time, event.scope.workspace, occasion)
            if is_first or isinstance(event, PersonCommand):
                await self._say(messenger, event.scope, text)
            return
        kept = await self._executor(
            self._memory.saving.save, event.scope, found, role=event.role, at=event.at, event_id=event.event_id
        )
        if kept is not None:
            text = saving_messages.saved(kept.lesson, emoji)
            await self._say(messenger, _in_thread(event.scope, found), text, kept.lesson)

    async def _meant(self, messenger: Messenger, command: PersonCommand) -> AnsweredQuestion | None:
        """What `this` is: the message replied to, else the last one before it, of somebody else if there is one."""
        if command.reply_to:
            return await self._read(messenger, command.scope, command.reply_to)
        if not command.typed_in or not isinstance(messenger, ReadsAlong):
            return None
        remarks = await messenger.remarks(command.scope, command.typed_in, (), _LOOK_BACK)
        others = [each for each in remarks if each.person != command.scope.person]
        meant = (others or remarks)[-1:]
        return await self._read(messenger, command.scope, meant[0].message_id) if meant else None

    async def _read(self, messenger: Messenger, scope: Scope, message_id: str) -> AnsweredQuestion | None:
        if not isinstance(messenger, ReadsAnswers):
            return None
        return await messenger.answered_question(scope, message_id)

    async def _say(self, messenger: Messenger, scope: Scope, text: str, lesson: Episode | None = None) -> None:
        """To the person alone, with the author's name. What happened stays when it cannot be told."""
        people = (lesson.author,) if lesson is not None else ()
        try:
            await messenger.post(replace(notice(scope, text), people=people))
        except MessengerError as error:
            log.info("could not tell %s about a saved message: %s", scope.person, error)


def _in_thread(scope: Scope, found: AnsweredQuestion) -> Scope:
    return replace(scope, thread=found.thread or scope.thread)

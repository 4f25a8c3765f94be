"""Saving a colleague's answer as a lesson, with an emoji or by `remember this`.

The message and the question it answers are read from the platform only then, never before.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace

from bot.conversation.executor import Executor
from bot.conversation.messages import HowToType, held_back
from bot.conversation.notifications import notice
from bot.errors import MessengerError
from bot.model import Choice, PersonCommand, PersonDeletion, PersonEdit, PersonSave
from bot.ports import Messenger, ReadsAlong, ReadsAnswers
from memory.model import Episode, Scope
from memory.model.saved_messages import AnsweredQuestion
from memory.model.teaching import emoji_spellings, normalised_emoji
from memory.rules.retrieval.prompt import shown_line
from memory.services import Memory, SavedLesson

log = logging.getLogger(__name__)


REMEMBER = "remember"
SAVE_EMOJI = ("📚", "books")
_KEEP, _CANCEL = "keep", "cancel"
_LOOK_BACK = 20
"""How many messages before `remember this` are searched for the one that is meant."""

ANSWERS_NOTHING = (
    "That message answers no question that I can see, so there is nothing to save: "
    "save a reply, or a message in a thread that began with a question."
)
NO_WORDS = (
    "I see no words in that message, or in what it answers, so there is nothing to save. Where I am shown only what "
    "mentions me, whoever runs me can let me read more."
)
CANCELLED = "Then I keep nothing of it."


def _about(lesson: Episode) -> str:
    return f"what {lesson.author} answered to “{shown_line(lesson.goal, 80)}”"


def saved_message(lesson: Episode, emoji: str) -> str:
    """The confirmation: for whom the lesson counts now, and how to take it back."""
    about = _about(lesson)
    if lesson.quarantine:
        return f"I keep {about}. {held_back(lesson)}"
    back = f"Take {emoji} off again and I forget it." if emoji else ""
    place = lesson.place or "this channel"
    if lesson.verdicts.workspace.is_validated:
        return f"Saved {about}, for the whole workspace. {back}".rstrip()
    if lesson.verdicts.channel.is_validated:
        return f"Saved {about}, for everybody in {place}. {back}".rstrip()
    return f"I keep {about}. It counts for {place} when a teacher approves it. {back}".rstrip()


def proposal_message(found: AnsweredQuestion, how_to_type: HowToType) -> str:
    """The question of `remember this`, with the answer that would be kept."""
    return (
        f"I would keep this answer of {found.author}:\n\n"
        f"> **{shown_line(found.question, 200)}**\n> {shown_line(found.answer, 600)}\n\n"
        f"Shall I? Nothing is kept before you say so. `{how_to_type('undo')}` takes it back later."
    )


def taken_back(lesson: Episode) -> str:
    """The message that a save was taken back, and whether the lesson stays."""
    if lesson.archived_at is None:
        return f"Your save is taken back; others stand by {_about(lesson)}, so it stays."
    return f"Forgotten: {_about(lesson)}."


def edited_message(changed: SavedLesson) -> str:
    """The message to an author who edited a message that is a lesson."""
    about = f"the lesson about “{shown_line(changed.lesson.goal, 80)}”"
    if changed.is_reopened:
        return (
            f"Your message is saved as {about}. The lesson has your new text now, and waits for a teacher's approval."
        )
    return f"Your message was proposed as {about}, which has your new text now."


class SaveHandler:
    """Handles saves, and edits and deletions of saved messages. A reaction with one of `emoji` saves."""

    def __init__(self, memory: Memory, executor: Executor, emoji: Sequence[str]) -> None:
        self._memory = memory
        self._executor = executor
        self._emoji = frozenset(map(normalised_emoji, emoji))
        self._shown_emoji = next(iter(emoji), "")

    def saves(self, emoji: str) -> bool:
        """Whether an emoji on a person's message saves it."""
        return not self._emoji.isdisjoint(emoji_spellings(emoji))

    async def on_save(self, messenger: Messenger, event: PersonSave) -> None:
        """Handle a save emoji that was added to a person's message or removed from it."""
        if event.added:
            await self._save(messenger, event, event.message_id, self._shown_emoji)
            return
        unsave = self._memory.saving.unsave
        lesson = await self._executor(unsave, event.scope, event.message_id, at=event.at, event_id=event.event_id)
        if lesson is not None:
            await self._say(messenger, event.scope, taken_back(lesson), lesson)

    async def remember(self, messenger: Messenger, command: PersonCommand) -> None:
        """Handle `remember this`, which shows what would be kept, and its buttons, which keep or cancel."""
        answer, _, message_id = command.argument.partition(" ")
        if answer == _KEEP and message_id:
            await self._save(messenger, command, message_id, "")
            return
        if answer == _CANCEL:
            await self._say(messenger, command.scope, CANCELLED)
            return
        found = await self._meant(messenger, command)
        if found is None:
            await self._say(messenger, command.scope, ANSWERS_NOTHING)
            return
        choices = (
            Choice(label="Keep it", command=REMEMBER, argument=f"{_KEEP} {found.message_id}"),
            Choice(label="Cancel", command=REMEMBER, argument=_CANCEL),
        )
        text = proposal_message(found, messenger.how_to_type)
        shown = replace(notice(_in_thread(command.scope, found), text), choices=choices, people=(found.author,))
        await messenger.post(shown)

    async def on_edit(self, messenger: Messenger, event: PersonEdit) -> None:
        """Update the lesson that was saved from an edited message, and tell the author."""
        changed = await self._executor(
            self._memory.saving.edited,
            event.scope,
            event.message_id,
            event.text,
            at=event.at,
            event_id=f"{event.event_id}/lesson",
        )
        if changed is not None:
            await self._say(messenger, event.scope, edited_message(changed), changed.lesson)

    async def on_deletion(self, event: PersonDeletion) -> None:
        """Retire the lesson that was saved from a deleted message."""
        await self._executor(self._memory.saving.deleted, event.scope, event.message_id, event_id=event.event_id)

    async def _save(self, messenger: Messenger, event: PersonSave | PersonCommand, message_id: str, emoji: str) -> None:
        found = await self._read(messenger, event.scope, message_id)
        if found is None or not (found.answer.strip() and found.question.strip()):
            text = NO_WORDS if found else ANSWERS_NOTHING
            occasion = f"answers nothing/{event.scope.person}/{event.at:%Y-%m}"
            is_first = await self._executor(self._memory.recording.claim_occasion, event.scope.workspace, occasion)
            if is_first or isinstance(event, PersonCommand):
                await self._say(messenger, event.scope, text)
            return
        kept = await self._executor(
            self._memory.saving.save, event.scope, found, role=event.role, at=event.at, event_id=event.event_id
        )
        if kept is not None:
            text = saved_message(kept.lesson, emoji)
            await self._say(messenger, _in_thread(event.scope, found), text, kept.lesson)

    async def _meant(self, messenger: Messenger, command: PersonCommand) -> AnsweredQuestion | None:
        """The message that `this` means: the one replied to, else the last of somebody else's, else the last one."""
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
        """Notify the person privately, naming the author. A failure to post undoes nothing."""
        people = (lesson.author,) if lesson is not None else ()
        try:
            await messenger.post(replace(notice(scope, text), people=people))
        except MessengerError as error:
            log.info("could not tell %s about a saved message: %s", scope.person, error)


def _in_thread(scope: Scope, found: AnsweredQuestion) -> Scope:
    return replace(scope, thread=found.thread or scope.thread)

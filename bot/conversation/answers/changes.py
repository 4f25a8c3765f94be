"""Handles changes of sent messages: edits, deletions, and questions that are asked again."""

from dataclasses import dataclass

from bot.conversation import messages
from bot.conversation.answers.answering import Answering
from bot.conversation.answers.choice_handler import ChoiceHandler
from bot.conversation.answers.conversations import Conversations, full_text
from bot.conversation.executor import Executor
from bot.conversation.feedback.edited_feedback import EditedFeedback
from bot.conversation.feedback.saving import SaveHandler
from bot.conversation.notifications import notify
from bot.model import PersonDeletion, PersonEdit, PersonRetry
from bot.ports import Messenger
from memory.errors import NotFound
from memory.services import Memory


@dataclass(frozen=True, slots=True)
class ChangeHandler:
    """Handles changes of questions, and of messages that were saved as lessons."""

    _memory: Memory
    _executor: Executor
    _conversations: Conversations
    _answering: Answering
    _saver: SaveHandler
    _choices: ChoiceHandler
    _edited: EditedFeedback

    async def on_edit(self, messenger: Messenger, event: PersonEdit) -> None:
        """Answer the edited text of a question; if it is too late, tell the person so. What taught teaches anew."""
        await self._saver.on_edit(messenger, event)
        if not event.is_addressed:
            return
        if await self._edited.corrects(messenger, event):
            return
        text, scope = full_text(event), event.scope
        if not await self._edited.teaches(messenger, event) and await self._ask_anew(messenger, event, text):
            return
        place = scope.workspace, scope.channel, event.message_id
        is_taken = await self._executor(self._memory.changes.reword, *place, text, scope.visibility)
        current = self._conversations.running(scope.conversation)
        question = current.reply_to if current is not None and current.is_edit else current and current.message_id
        if current is None or question != event.message_id or text in ("", current.text):
            return
        if not (is_taken and self._answering.restart(current.event_id)):
            await notify(messenger, event, messages.EDITED_TOO_LATE)

    async def _ask_anew(self, messenger: Messenger, event: PersonEdit, text: str) -> bool:
        """Answer the new text of a question whose answer was not known. False for any other message."""
        again = await self._executor(
            self._memory.changes.ask_anew,
            event.scope,
            event.message_id,
            text,
            role=event.role,
            event_id=event.event_id,
            at=event.at,
        )
        if again is None:
            return False
        await self._answering.unknown_answers.show(messenger, again, is_unknown=False)
        self._conversations.enqueue(messenger, again)
        return True

    async def on_deletion(self, messenger: Messenger, event: PersonDeletion) -> None:
        """Stop answering a deleted question, which can no longer become a lesson; take back what a message did."""
        await self._executor(
            self._memory.changes.retract,
            event.scope.workspace,
            event.scope.channel,
            event.message_id,
            actor=event.scope.person,
        )
        # After the retraction: a stopped run commits what it has, which must not answer a question that counts.
        self._conversations.stop_message(event.scope, event.message_id)
        await self._saver.on_deletion(event)
        await self._edited.on_deletion(messenger, event)
        await self._choices.take_back(messenger, event)

    async def on_retry(self, messenger: Messenger, event: PersonRetry) -> None:
        """Ask the same question again, as a message of its own."""
        accept = self._memory.recording.accept_again
        try:
            again = await self._executor(accept, event.scope, event.message_id, event_id=event.event_id, at=event.at)
        except NotFound:
            await notify(messenger, event, messages.NO_SUCH_ANSWER)
            return
        if again is not None:
            self._conversations.enqueue(messenger, again)

"""Listening to messages without a mention, and muting threads."""

from dataclasses import dataclass, replace

from bot.conversation.answers.choice_words import read_choice
from bot.conversation.answers.conversations import Conversations
from bot.conversation.executor import Executor
from bot.conversation.feedback.feedback_record import recorded_feedback
from bot.conversation.feedback.handler import dismisses_bot
from bot.conversation.listening.follow_up import MessageFacts, depends_on_thread, is_for_bot
from bot.model import Address, PersonReaction, Unaddressed
from memory.model import ListeningMode, Scope, Visibility
from memory.services import Memory

MUTE_EMOJI = ("🤐", "zipper_mouth_face")
"""The emoji that, on a message of the bot's, mute it in that thread."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Decides which messages without a mention are for the bot, and mutes threads."""

    _memory: Memory
    _executor: Executor
    _conversations: Conversations
    _default: ListeningMode
    """The mode of channels for which none was chosen."""

    async def is_for_bot(self, message: Unaddressed) -> bool:
        """Whether to answer a message without a mention. "Not you" mutes the thread and is not answered."""
        scope = message.scope
        state = await self._executor(self._memory.listening.state, scope, message.replied_to)
        is_follow_up = message.address is Address.FOLLOW_UP
        running = await self._conversations.running_anywhere(scope) if is_follow_up else None
        asker = running.scope.person if running is not None else state.asker
        mode = state.mode or self._default
        if dismisses_bot(message.text):
            if asker or mode is ListeningMode.ALWAYS:
                await self.mute(scope)
            return False
        facts = MessageFacts(
            text=message.text,
            author=scope.person,
            mode=mode,
            is_muted=state.is_muted,
            asker=asker,
            is_in_thread=is_follow_up,
            replies_to_bot=bool(message.replied_to),
            is_for_others=message.is_for_others,
            answers_question=is_follow_up and await self._answers_question(message),
        )
        if depends_on_thread(facts):
            facts = replace(facts, thread=await message.read_thread())
        return is_for_bot(facts)

    async def _answers_question(self, message: Unaddressed) -> bool:
        """Whether a message says yes, no or a number where its author was asked if their last one was feedback."""
        choice = read_choice(message.text)
        if choice is None or choice.consents:
            return False
        latest = await self._executor(self._memory.exchanges.messages_of, message.scope, 1)
        reading = recorded_feedback(latest[0].understood) if latest else None
        if reading is None or reading.is_sure or latest[0].scope.thread != message.scope.thread:
            return False
        scope, event_id = message.scope, latest[0].event_id
        return not await self._executor(self._memory.in_words.counts, scope.workspace, event_id)

    async def on_reaction(self, event: PersonReaction) -> None:
        """Mute or unmute a thread by a mute emoji on a message of the bot's. Direct messages cannot be muted."""
        if event.scope.visibility is Visibility.DIRECT:
            return
        if not event.added:
            is_own, unmute = event.on_own_message, self._memory.listening.unmute
            await self._executor(unmute, event.scope, event.message_id, is_own=is_own)
        elif event.on_own_message:
            await self.mute(event.scope, event.message_id)

    async def mute(self, scope: Scope, message_id: str = "") -> None:
        """Mute a thread until the bot is mentioned there, and stop what it is answering there for this person."""
        await self._executor(self._memory.listening.mute, scope, message_id)
        current = await self._conversations.running_anywhere(scope)
        if current is not None and current.scope.person == scope.person and scope.thread:
            await self._executor(self._memory.recording.withdraw, scope.workspace, current.event_id)
            await self._conversations.stop_anywhere(current)

"""The bot: handles every event of a person, on any platform.

A message is stored before the sink returns, and answered afterwards. Messages of one conversation are answered in
order, different conversations concurrently. This is the error boundary for events: an unexpected error is logged with a
short id, the person is told the id, and the bot continues.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from bot.conversation import messages
from bot.conversation.answers.answering import Answering
from bot.conversation.answers.changes import ChangeHandler
from bot.conversation.answers.choice_handler import ChoiceHandler
from bot.conversation.answers.choices_in_words import LONGEST, ChoicesInWords
from bot.conversation.answers.conversations import Conversations, full_text
from bot.conversation.answers.recovery import Recovery
from bot.conversation.commands.forget_messages import need_questions
from bot.conversation.commands.restate_command import RestateNotices
from bot.conversation.commands.runner import Commands
from bot.conversation.commands.settings_command import SettingsFile
from bot.conversation.executor import Executor
from bot.conversation.feedback.edited_feedback import EditedFeedback
from bot.conversation.feedback.handler import FeedbackHandler, dismisses_bot
from bot.conversation.feedback.remarks import is_greeting
from bot.conversation.feedback.saving import SAVE_EMOJI, SaveHandler
from bot.conversation.listening.admission import Admitter, rate_limited
from bot.conversation.listening.listener import MUTE_EMOJI, Listener
from bot.conversation.notices.decision_notices import DecisionNotifier
from bot.conversation.notices.digest import Digest
from bot.conversation.notices.welcome import Welcomer
from bot.conversation.notifications import notice, notify, try_to_notify
from bot.conversation.reply import CHOOSE, short_id
from bot.errors import MessengerError
from bot.model import (
    Address,
    BotInvited,
    ChannelChanged,
    PersonArrived,
    PersonCommand,
    PersonCorrection,
    PersonDeletion,
    PersonEdit,
    PersonEvent,
    PersonMessage,
    PersonRateLimited,
    PersonReaction,
    PersonRetry,
    PersonSave,
    PersonTeaching,
    PersonVote,
    ReactionsCleared,
)
from bot.ports import ConversationQueries, EventSink, Messenger
from memory.errors import InvalidInput, MemoryFault, StoreUnavailable
from memory.model import Incoming, ListeningMode, Progress, Role, Scope, Visibility
from memory.model.teaching import EmojiMap, emoji_spellings, normalised_emoji
from memory.ports import NewId
from memory.rules.chat_settings import DIRECT
from memory.services import Memory

log = logging.getLogger(__name__)

_CHECKED_BY_MEMORY = (PersonMessage, PersonReaction, PersonVote, ReactionsCleared)
"""Events with which memory itself stores the channel's visibility and checks who may use the bot."""
_NOT_BY_A_PERSON = (BotInvited, ChannelChanged, PersonArrived)
"""Events that are no request of a person, so that nobody is told of a failure."""


class Goodbot:
    """The use cases behind every messenger's event sink."""

    def __init__(
        self,
        *,
        memory: Memory,
        executor: Executor,
        answering: Answering,
        emoji: EmojiMap,
        new_id: NewId,
        mode: ListeningMode = ListeningMode.THREADS,
        mute_emoji: Sequence[str] = MUTE_EMOJI,
        welcomes: bool = True,
        save_emoji: Sequence[str] = SAVE_EMOJI,
        digest_to: str = DIRECT,
        settings_file: SettingsFile | None = None,
    ) -> None:
        self._memory = memory
        self._executor = executor
        self._answering = answering
        self._new_id = new_id
        self.conversations = Conversations(self._answer)
        self.recovery = Recovery(memory, executor, self.conversations, answering)
        self._choices_in_words = ChoicesInWords(memory, executor, answering.in_words)
        self._feedback = FeedbackHandler(memory, executor, emoji, answering.actions, answering.in_words)
        self._choices = ChoiceHandler(memory, executor, self.conversations, answering.questions, self._feedback)
        self._mute_emoji = frozenset(map(normalised_emoji, mute_emoji))
        self._listener = Listener(memory, executor, self.conversations, mode)
        self._commands = Commands(
            memory,
            executor,
            self._stop,
            actions=answering.actions,
            default_mode=mode,
            settings_file=settings_file or SettingsFile(),
        )
        self._admitter = Admitter(memory, executor)
        self._restate_notices = RestateNotices(memory, executor)
        self._decisions = DecisionNotifier(memory, executor)
        self.digest = Digest(memory, executor, digest_to)
        self._saver = SaveHandler(memory, executor, save_emoji)
        edited = EditedFeedback(memory, executor, answering.in_words, self._feedback)
        self._changes = ChangeHandler(
            memory, executor, self.conversations, answering, self._saver, self._choices, edited
        )
        self._welcomer = Welcomer(memory, executor, is_on=welcomes)

    def sink(self, messenger: Messenger) -> EventSink:
        """The function to call with each event. Raises only if nothing was stored and nobody was told."""

        async def handle(event: PersonEvent) -> None:
            lost: StoreUnavailable | None = None
            try:
                await self._handle(messenger, event)
            except InvalidInput as error:
                await try_to_notify(messenger, event, messages.sentence(error))
            except Exception as error:  # noqa: BLE001 - the event boundary
                is_notified = await self._apologise(messenger, event, error)
                if not is_notified and isinstance(error, StoreUnavailable):
                    lost = error
            if lost is not None:
                # So that a platform that repeats unacknowledged events sends it again.
                raise lost

        return handle

    async def _handle(self, messenger: Messenger, event: PersonEvent) -> None:
        if event.role is Role.BOT or (isinstance(event, PersonReaction) and not self.has_meaning(event.emoji)):
            return
        if not event.scope.is_visibility_known:
            event = replace(event, scope=await self._scope_of(event))
        is_checked = isinstance(event, _CHECKED_BY_MEMORY)
        admitted = event if is_checked else await self._admitter.admitted(messenger, event)
        if admitted is not None:
            await self._dispatch(messenger, admitted)

    async def _dispatch(self, messenger: Messenger, event: PersonEvent) -> None:  # noqa: C901 - one case for each event
        if isinstance(event, (PersonVote, PersonCorrection)):
            await self._answering.delivery.wait_for_posting(event)
        if isinstance(event, (PersonCorrection, PersonTeaching)) and self._answering.warm_up is not None:
            await asyncio.wait({self._answering.warm_up})  # so that no thread of the pool has to wait
        match event:
            case ChannelChanged():
                await self._executor(self._memory.channels.rename, event.scope)
            case BotInvited():
                await self._welcomer.to_place(messenger, event)
            case PersonArrived():
                await self._welcomer.to_person(messenger, event.scope, event.teachers)
            case PersonMessage():
                await self._on_message(messenger, event)
            case PersonEdit():
                await self._changes.on_edit(messenger, event)
            case PersonDeletion():
                await self._changes.on_deletion(messenger, event)
            case PersonRetry():
                await self._changes.on_retry(messenger, event)
            case PersonReaction() if self._mutes(event.emoji):
                await self._listener.on_reaction(event)
            case PersonReaction():
                await self._on_vote(messenger, event)
            case PersonVote():
                await self._feedback.on_vote(messenger, event)
            case ReactionsCleared():
                await self._feedback.on_cleared(messenger, event)
            case PersonCorrection():
                await self._on_correction(messenger, event)
            case PersonTeaching():
                await self._feedback.on_teaching(messenger, event)
                await self._tell_news(messenger, event)
            case PersonSave():
                await self._saver.on_save(messenger, event)
            case PersonCommand(name="remember"):
                await self._saver.remember(messenger, event)
            case PersonCommand(name=name):
                await (self._choices.choose if name == CHOOSE else self._on_command)(messenger, event)
            case PersonRateLimited():
                await notify(messenger, event, rate_limited(event.rest))

    async def _scope_of(self, event: PersonEvent) -> Scope:
        """The scope of an event whose platform could not say who reads the channel."""
        if isinstance(event, ChannelChanged):
            # The known visibility is outdated, so the guess counts until the platform can be asked.
            return replace(event.scope, is_visibility_known=True)
        return await self._executor(self._memory.channels.last_known, event.scope)

    async def _apologise(self, messenger: Messenger, event: PersonEvent | Incoming, error: Exception) -> bool:
        """Log an error and tell the person, if the event is a person's. False if nobody was told."""
        error_id = short_id(self._new_id())
        known = isinstance(error, (MemoryFault, MessengerError))
        log.error("event %s failed [%s]: %s", event.event_id, error_id, error, exc_info=None if known else error)
        if isinstance(event, _NOT_BY_A_PERSON):
            return False
        return await try_to_notify(messenger, event, messages.apology(error_id, error))

    def queries(self) -> ConversationQueries:
        """The functions by which messengers query the conversation."""
        return ConversationQueries(
            has_meaning=self.has_meaning,
            saves=self._saver.saves,
            is_for_bot=self._listener.is_for_bot,
            set_in_chat=self._admitter.set_in_chat,
            form_for=self._commands.form_for,
        )

    def is_vote(self, emoji: str) -> bool:
        """Whether an emoji on an answer is a vote."""
        return self._feedback.is_vote(emoji)

    def has_meaning(self, emoji: str) -> bool:
        """Whether an emoji on an answer has a meaning: it votes, or mutes."""
        return self.is_vote(emoji) or self._mutes(emoji)

    def _mutes(self, emoji: str) -> bool:
        return not self._mute_emoji.isdisjoint(emoji_spellings(emoji))

    # Messages -------------------------------------------------------------------------------------------------

    async def _on_message(self, messenger: Messenger, event: PersonMessage) -> None:
        text = full_text(event)
        if not text:
            return
        if event.address is Address.MENTION and dismisses_bot(text):
            await self._listener.mute(event.scope)
            return
        if await self._feedback.explain_feedback(messenger, event) or await self._on_note(messenger, event):
            return
        is_short = len(text) <= LONGEST and "?" not in text
        if is_short and (choice := await self._choices_in_words.read(event, text, messenger.how_to_type)):
            if isinstance(choice, str):
                await notify(messenger, event, choice)
            else:
                await self._choices.choose(messenger, choice)
            return
        await self._accept(messenger, event, text)

    async def _accept(self, messenger: Messenger, event: PersonMessage, text: str) -> None:
        """Store a message that is to be answered, and queue it in its conversation."""
        scope, is_mention = event.scope, event.address is Address.MENTION
        incoming = Incoming(
            scope=scope,
            event_id=event.event_id,
            message_id=event.message_id,
            text=text,
            at=event.at,
            reply_to=event.reply_to,
            held_by=self.conversations.holder(scope.platform),
        )
        accepted = await self._executor(self._memory.recording.accept, incoming, wakes=is_mention, role=event.role)
        if accepted is not None and not await self._is_only_welcomed(messenger, event, accepted):
            if event.images:
                self._answering.images[event.event_id] = event.images
            self._answering.roles.events[event.event_id] = event
            if event.is_late:
                self._answering.delivery.late.add(event.event_id)
            self.conversations.enqueue(messenger, accepted, is_current=True)
            if accepted.has_notes:
                await self._tell_news(messenger, event)

    async def _is_only_welcomed(self, messenger: Messenger, event: PersonMessage, accepted: Incoming) -> bool:
        """Welcome who writes for the first time. Returns whether that answers the message, which only greets."""
        scope = event.scope
        if accepted.is_noted or scope.visibility is not Visibility.DIRECT:
            return False
        is_welcomed = await self._welcomer.to_person(messenger, scope)
        if not is_welcomed or event.images or not is_greeting(accepted.text):
            return False
        await self._executor(self._memory.recording.withdraw, scope.workspace, event.event_id)
        return True

    async def _on_note(self, messenger: Messenger, event: PersonMessage) -> bool:
        """Teach what a message asks to remember; people say such things to each other, too, where none is mentioned.

        Returns whether that is all: a language model answers it, too, as it belongs to their conversation.
        """
        taught = await self._feedback.note_of(event) if event.address is not Address.OPEN else None
        if taught is None:
            return False
        await self._handle(messenger, taught)
        return not self._answering.in_words.follows_style

    async def _on_correction(self, messenger: Messenger, event: PersonCorrection) -> None:
        """Handle a correction. Without a mention it counts only in a thread that the bot takes part in."""
        if event.address is not Address.FOLLOW_UP or await self._takes_part_in(event.scope):
            if not event.message_id and await self._awaits_answer(event.scope):
                await notify(messenger, event, messages.NOT_ANSWERED_YET)
                return
            holder = self.conversations.turns.holder(event.scope.platform)
            with self.conversations.working_on((event.scope.workspace, event.event_id)):
                if asked := await self._feedback.on_correction(messenger, event, holder):
                    await self._answering.deliver(messenger, asked)
            await self._tell_news(messenger, event)

    async def _awaits_answer(self, scope: Scope) -> bool:
        """Whether the person's own question there is still being worked on."""
        running = self.conversations.running_in(scope)
        if running is None or running.scope.person != scope.person:
            return False
        current = await self._executor(self._memory.recording.current, running)
        return current is not None and current.progress is Progress.ACCEPTED

    async def _takes_part_in(self, scope: Scope) -> bool:
        """Whether the bot has answered in this thread, or is about to."""
        if await self.conversations.running_anywhere(scope) is not None:
            return True
        has_answered = self._memory.exchanges.has_answered_in
        return await self._executor(has_answered, scope.workspace, scope.channel, scope.thread)

    async def _answer(self, messenger: Messenger, incoming: Incoming, cancel: asyncio.Event, is_current: bool) -> None:
        try:
            read = self._memory.recording.current
            current = incoming if is_current else await self._executor(read, incoming)
            if current is None:
                self._answering.images.pop(incoming.event_id, None)
                return
            if current.progress is Progress.ACCEPTED:
                run_to_mark = await self._answering.answer(messenger, current, cancel)
            else:
                run_to_mark = await self._answering.deliver(messenger, current)
            if run_to_mark:
                await self._feedback.refresh_mark(messenger, incoming.scope.workspace, run_to_mark)
            if current.is_suspect and current.progress is not Progress.SET_ASIDE:
                await self._executor(self._memory.recovering.clear, current)
        except Exception as error:  # noqa: BLE001 - the event boundary
            await self._apologise(messenger, incoming, error)

    async def _stop(self, command: PersonCommand) -> str:
        """Stop the running answer of a conversation, for its asker or a teacher."""
        current = await self.conversations.running_anywhere(command.scope)
        if current is None:
            return messages.NOTHING_RUNNING
        if command.scope.person != current.scope.person and not command.role.may_promote:
            return messages.NOT_YOURS_TO_STOP
        return messages.STOPPED if await self.conversations.stop_anywhere(current) else messages.NOTHING_RUNNING

    def shut_down(self) -> None:
        """Start no more answers and stop running ones; the next start answers what is left."""
        self._answering.is_shutting_down = True
        self.conversations.shut_down()

    async def idle(self) -> None:
        """Wait until no conversation is being worked on."""
        await self.conversations.idle()

    # Commands -------------------------------------------------------------------------------------------------

    async def _on_command(self, messenger: Messenger, event: PersonCommand) -> None:
        reply = await self._commands.run(event, messenger.how_to_type)
        self._answering.in_words.after_command(event, is_asked=any(choice.is_danger for choice in reply.choices))
        async with self._restate_notices.news(event.scope) as lessons:
            news = f"\n\n{need_questions(len(lessons), messenger.how_to_type('restate'))}" if lessons else ""
            message = replace(notice(event.scope, reply.text + news), choices=reply.choices, people=reply.people)
            if reply.attachment is not None:
                await messenger.hand_over(message, reply.attachment)
            else:
                await messenger.post(message)
        for run_id in reply.changed_runs:
            await self._feedback.refresh_mark(messenger, event.scope.workspace, run_id)
        await self._decisions.tell(messenger, event.scope.workspace, reply.decided_for)

    async def _on_vote(self, messenger: Messenger, event: PersonReaction) -> None:
        result = await self._feedback.on_reaction(messenger, event)
        if result is not None:
            await self._choices.on_thumb(messenger, event, result)

    async def _tell_news(self, messenger: Messenger, event: PersonEvent) -> None:
        """Tell a person once that lessons of theirs need a new question."""
        try:
            async with self._restate_notices.news(event.scope) as lessons:
                if lessons:
                    await notify(messenger, event, need_questions(len(lessons), messenger.how_to_type("restate")))
        except MessengerError as error:
            log.info("an author is told later that lessons need a question: %s", error)

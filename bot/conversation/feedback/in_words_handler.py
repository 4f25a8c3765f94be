"""Feedback in words: reads a message as an opinion of an answer or a wish about style, and commits it."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.conversation.executor import Executor
from bot.conversation.feedback import feedback_messages
from bot.conversation.feedback.asker_roles import AskerRoles
from bot.conversation.feedback.feedback_in_words import (
    FeedbackReading,
    answer_after_refusal_in,
    feedback_in,
    supplied_answer_in,
)
from bot.conversation.feedback.feedback_question import FeedbackQuestions, opinion_of, run_with_text, which_part
from bot.conversation.feedback.feedback_reader import FeedbackReader
from bot.conversation.feedback.feedback_record import feedback_record, is_feedback
from bot.conversation.feedback.judged_exchange import is_judged, judged_exchange, last_exchange
from bot.conversation.feedback.preference_in_words import (
    StylePreference,
    as_understood as as_preference,
    preference_in,
    preference_noted,
    preference_of,
)
from bot.conversation.feedback.remarks import is_remark
from bot.conversation.notifications import try_to_notify
from bot.model import UNADDRESSED, PersonCommand
from bot.ports import Messenger
from memory.errors import InvalidInput, NotFound
from memory.model import Episode, Exchange, Incoming, Scope, found_nothing
from memory.model.delivery import offers_of
from memory.services import Answer, FinishedRun, Memory, Opinion
from memory.services.teaching.correct import corrected_node, missing_parts, open_parts

log = logging.getLogger(__name__)

_LATEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedOpinion:
    """Feedback in words, ready to be committed together with its reply."""

    message: Incoming
    opinion: Opinion
    run_id: str
    understood: str
    reply: Callable[[Episode], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedPreference:
    """A wish about style, ready to be committed together with its reply."""

    message: Incoming
    style: StylePreference
    run_id: str
    reply: str

    @property
    def understood(self) -> str:
        """The text to store with the message."""
        return as_preference(self.style)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judgement:
    """How a message judges the answer of an exchange."""

    reading: FeedbackReading
    about: Exchange
    nodes: Sequence[Episode]
    is_supplied: bool
    """Whether it is the answer to what the bot did not know, without a word that says so."""

    @property
    def may_be_of_part(self) -> bool:
        """Whether it corrects an answer of which several parts are open, so that it may be about any of them."""
        return bool(self.reading.correction and open_parts(self.nodes))

    @property
    def is_of_missing_part(self) -> bool:
        """Whether it corrects an answer that knows only a part: "No, ..." may be about what it knows, too."""
        is_partial = bool(missing_parts(self.nodes)) and not found_nothing(self.nodes)
        return bool(self.reading.correction) and is_partial

    @property
    def is_sure(self) -> bool:
        """Whether its author need not be asked whether, and of what, it is feedback."""
        return self.reading.is_sure and not (self.is_of_missing_part or self.may_be_of_part)

    @property
    def question(self) -> str:
        """The question to its author, if it is not sure."""
        if self.may_be_of_part:
            return which_part(self.reading.correction, is_certain=False)
        goal = corrected_node(self.nodes).goal if self.is_of_missing_part else self.about.goal
        return feedback_messages.doubt_question(self.reading, goal, is_supplied=self.is_supplied)

    def asked(self, message: Incoming, run_id: str) -> FinishedRun:
        """A run that asks the author of the message."""
        understood = feedback_record(replace(self.reading, is_sure=False), self.about.run_id)
        return run_with_text(message, run_id, self.question, understood)


@dataclass(frozen=True, slots=True)
class InWordsHandler:
    """Decides whether a message judges an answer, and commits what it says."""

    _memory: Memory
    _executor: Executor
    reader: FeedbackReader
    questions: FeedbackQuestions
    roles: AskerRoles
    follows_style: bool
    """Whether the model keeps to a person's wishes about style."""
    _to_confirm: dict[tuple[str, str, str], datetime] = field(default_factory=dict, init=False)
    """When a person was last asked to confirm a command, by workspace, channel and person."""
    _refused: set[str] = field(default_factory=set[str], init=False)
    """Messages that memory refused as feedback, by event id."""

    async def note(
        self, messenger: Messenger, message: Incoming, exchanges: Sequence[Exchange], run_id: str
    ) -> NotedOpinion | NotedPreference | FinishedRun | None:
        """Read a message as feedback: what to commit, or a finished run if it is answered otherwise.

        None for an ordinary message, which is to be answered.
        """
        if message.is_retry or message.tap is not None or message.asked_by or message.event_id in self._refused:
            return None
        if self._declines(message, judged_exchange(message, exchanges, self.questions.pause)):
            await try_to_notify(messenger, message, feedback_messages.NOT_DONE)
            return await self._withdrawn(message, run_id)
        exchanges = await self._with_marked(message, exchanges)
        about = judged_exchange(message, exchanges, self.questions.pause)
        if about is None and (of_another := await self._judgement_of_another(message, exchanges)):
            return of_another.asked(message, run_id)
        if about is None or not await self.is_next(message, about):
            return await self._overheard(message, run_id)
        if style := preference_in(message.text):
            reply = preference_noted(style, messenger.how_to_type, follows_style=self.follows_style)
            noted = NotedPreference(message=message, style=style, run_id=run_id, reply=reply)
            return noted if about.answer else await self._overheard(message, run_id)
        judgement = await self._judgement(message, about, is_judged=is_judged(about, exchanges))
        if judgement is None:
            return await self._overheard(message, run_id)
        role, reading = await self.roles.of(message), judgement.reading
        if role is None or not judgement.is_sure:
            return judgement.asked(message, run_id)
        return NotedOpinion(
            message=message,
            opinion=opinion_of(reading, about.run_id, role),
            run_id=run_id,
            understood=feedback_record(reading, about.run_id),
            reply=self.questions.confirmation(reading, messenger.how_to_type),
        )

    async def _with_marked(self, message: Incoming, exchanges: Sequence[Exchange]) -> list[Exchange]:
        """The exchanges, with those since the last answer that were only marked as not known, to the same people."""
        last = last_exchange(message, exchanges)
        since = last.at if last is not None else message.at - self.questions.pause
        people = {message.scope.person} | ({last.person} if last is not None else set())
        marked = await self._executor(self._memory.exchanges.marked, message, since, people)
        return sorted([*exchanges, *marked], key=lambda each: each.at)

    async def _judgement(self, message: Incoming, about: Exchange, *, is_judged: bool) -> _Judgement | None:
        """How a message judges the answer to its author; None if it is no feedback on it.

        An answer that `is_judged` already, or a question without one, can only be corrected.
        """
        reading, was_refused = await self.reader(message.text, about.goal, about.answer), False
        is_supplied = reading is None
        if reading is None:
            supplied = supplied_answer_in(message.text, about.goal)
            if instead := supplied or answer_after_refusal_in(message.text):
                was_refused = await self._executor(self._memory.in_words.was_refused, message.scope, about.run_id)
            reading = instead if was_refused else None if is_judged else supplied
        if reading is None or ((is_judged or not about.answer) and not reading.correction):
            return None
        return await self._judged(message, about, reading, is_supplied=is_supplied, was_refused=was_refused)

    async def _judgement_of_another(self, message: Incoming, exchanges: Sequence[Exchange]) -> _Judgement | None:
        """The answer to what the bot did not know when somebody else asked it, or the author long ago; never sure."""
        about = last_exchange(message, exchanges)
        own = [each for each in exchanges if each.person == message.scope.person]
        if about is None or is_judged(about, own):
            return None
        reading = supplied_answer_in(message.text, about.goal)
        return await self._judged(message, about, reading, is_supplied=True) if reading is not None else None

    async def _judged(
        self,
        message: Incoming,
        about: Exchange,
        reading: FeedbackReading,
        *,
        is_supplied: bool,
        was_refused: bool = False,
    ) -> _Judgement | None:
        """The judgement that a message read like this is; None if it is an ordinary message after such an answer."""
        nodes = await self._executor(self._memory.audit.nodes, message.scope.workspace, about.run_id)
        # "👍" to "I don't know that." approves nothing, and a statement after an answer is ordinary.
        is_statement = is_supplied and not (was_refused or _offers_lessons(nodes))
        if reading.approves if found_nothing(nodes) else is_statement:
            return None
        return _Judgement(reading=reading, about=about, nodes=nodes, is_supplied=is_supplied)

    async def is_next(self, message: Incoming, about: Exchange) -> bool:
        """Whether the asker sent nothing but remarks there since, which may have no answer yet or need none."""
        if message.reply_to:
            return True
        latest = await self._executor(self._memory.exchanges.messages_of, message.scope, _LATEST)
        thread = message.scope.thread if message.scope.thread != message.message_id else ""
        return not any(
            about.at < each.at <= message.at and not is_feedback(each.understood) and not is_remark(each.text)
            for each in latest
            if each.event_id != message.event_id and (not thread or each.scope.thread == thread)
        )

    async def _overheard(self, message: Incoming, run_id: str) -> FinishedRun | None:
        """Withdraw a message without a mention that was taken in only because it sounds like feedback."""
        event = self.roles.events.get(message.event_id)
        sounds_like_it = feedback_in(message.text) is not None or preference_in(message.text) is not None
        if event is None or event.address not in UNADDRESSED or not sounds_like_it:
            return None
        return await self._withdrawn(message, run_id)

    async def _withdrawn(self, message: Incoming, run_id: str) -> FinishedRun:
        await self._executor(self._memory.recording.withdraw, message.scope.workspace, message.event_id)
        return run_with_text(message, run_id, "", "")

    async def commit(self, noted: NotedOpinion | NotedPreference) -> Answer | None:
        """Commit it with its reply. None if it was withdrawn, or if memory refused it, which makes it ordinary."""
        try:
            if isinstance(noted, NotedPreference):
                return await self._executor(
                    self._memory.preferences.answer,
                    noted.message,
                    preference_of(noted.style, noted.message.event_id),
                    run_id=noted.run_id,
                    understood=noted.understood,
                    reply=noted.reply,
                )
            return await self._executor(
                self._memory.in_words.answer,
                noted.message,
                noted.opinion,
                run_id=noted.run_id,
                understood=noted.understood,
                reply=noted.reply,
            )
        except (NotFound, InvalidInput) as error:
            log.info("message %s is no feedback in words: %s", noted.message.event_id, error)
            self._refused.add(noted.message.event_id)
            return None

    # Commands that wait for a confirmation ----------------------------------------------------------------------------

    def after_command(self, command: PersonCommand, *, is_asked: bool) -> None:
        """Note whether a command asked for confirmation: a bare "no" then declines it, and judges no answer."""
        self._to_confirm.pop(_person_in_channel(command.scope), None)
        if is_asked:
            self._to_confirm[_person_in_channel(command.scope)] = command.at

    def awaits_confirmation(self, scope: Scope, since: datetime) -> bool:
        """Whether a command of this person's asked for confirmation there since then, and is not answered."""
        asked_at = self._to_confirm.get(_person_in_channel(scope))
        return asked_at is not None and asked_at >= since

    def _declines(self, message: Incoming, about: Exchange | None) -> bool:
        """Whether a message declines a confirmation that was asked for after the answer that it may be about."""
        asked_at = self._to_confirm.pop(_person_in_channel(message.scope), None)
        if asked_at is None or (about is not None and about.answered_at is not None and about.answered_at > asked_at):
            return False
        reading = feedback_in(message.text)
        return reading is not None and reading.only_refuses


def _offers_lessons(nodes: Sequence[Episode]) -> bool:
    """Whether an answer only asks which of several lessons was meant, so that it may be none of them."""
    return any(offer.option.lessons for offer in offers_of(nodes))


def _person_in_channel(scope: Scope) -> tuple[str, str, str]:
    return scope.workspace, scope.channel, scope.person

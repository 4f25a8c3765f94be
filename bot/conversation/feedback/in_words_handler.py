"""Feedback in words: finds the answer that a message judges, stores the opinion, shows it with an undo button."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise

from bot.conversation.executor import Executor
from bot.conversation.feedback import feedback_messages
from bot.conversation.feedback.corrected_part import Question, as_message, is_usable, which_part
from bot.conversation.feedback.feedback_in_words import Reading, read, supplied
from bot.conversation.feedback.feedback_reader import FeedbackReader
from bot.conversation.feedback.preference_in_words import (
    StylePreference,
    as_understood as as_preference,
    preference_in,
    preference_noted,
    preference_of,
)
from bot.conversation.feedback.remarks import is_remark
from bot.conversation.feedback.understood import as_understood, is_feedback, reading_in, reason_in, run_in
from bot.conversation.messages import HowToType
from bot.conversation.notifications import try_to_notify
from bot.conversation.reply import CHOICE, CHOOSE
from bot.errors import MessengerError
from bot.model import UNADDRESSED, BotMessage, Choice, PersonCommand, PersonCorrection, PersonEdit, PersonMessage
from bot.ports import Messenger
from memory.errors import InvalidInput, NotFound
from memory.model import Episode, Exchange, Incoming, Role, Scope, found_nothing
from memory.model.delivery import CORRECTING, RETRY
from memory.rules.audience import stays
from memory.rules.evidence.named_action import named_action
from memory.services import Answer, FinishedRun, Memory, Opinion
from memory.services.teaching.correct import corrected_node, missing_parts, open_parts

log = logging.getLogger(__name__)

UNDO = "undo"
_SKEW = timedelta(seconds=2)
"""How far the platform's clock may be behind the bot's."""
_LATEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
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


@dataclass(frozen=True, slots=True)
class InWordsHandler:
    """Decides whether a message judges an answer, and commits what it says."""

    _memory: Memory
    _executor: Executor
    _read: FeedbackReader
    _actions: Sequence[str]
    pause: timedelta
    """How long a person may be silent until a conversation without a thread is over."""
    follows_style: bool
    """Whether the model keeps to a person's wishes about style."""
    events: dict[str, PersonMessage] = field(default_factory=dict[str, PersonMessage], init=False)
    """The events not answered yet, by event id, to look up their asker's role. Lost on a restart."""
    _to_confirm: dict[tuple[str, str, str], datetime] = field(default_factory=dict, init=False)
    """When a person was last asked to confirm a command, by workspace, channel and person."""
    _refused: set[str] = field(default_factory=set[str], init=False)
    """Messages that memory refused as feedback, by event id."""

    async def note(
        self, messenger: Messenger, message: Incoming, exchanges: Sequence[Exchange], run_id: str
    ) -> "Noted | NotedPreference | FinishedRun | None":
        """Read a message as feedback: what to commit, or a finished run if it is answered otherwise.

        None for an ordinary message, which is to be answered.
        """
        if message.is_retry or message.tap is not None or message.asked_by or message.event_id in self._refused:
            return None
        if self._declines(message, self._about(message, exchanges)):
            await try_to_notify(messenger, message, feedback_messages.NOT_DONE)
            return await self._withdrawn(message, run_id)
        answered = [each.at for each in exchanges if not is_feedback(each.understood)]
        since = max(answered, default=message.at - self.pause)
        marked = await self._executor(self._memory.exchanges.marked, message, since)
        exchanges = sorted([*exchanges, *marked], key=lambda each: each.at)
        about = self._about(message, exchanges)
        if about is not None and not await self.is_next(message, about):
            about = None
        style = preference_in(message.text)
        if style is not None:
            return (
                NotedPreference(
                    message=message,
                    style=style,
                    run_id=run_id,
                    reply=self.preference_noted(style, messenger.how_to_type),
                )
                if about is not None and about.answer
                else await self._overheard(message, run_id)
            )
        reading = await self._read(message.text, about.goal, about.answer) if about is not None else None
        is_judged, is_supplied = about is not None and _is_judged(about, exchanges), reading is None
        reading = reading or (supplied(message.text, about.goal) if about is not None and not is_judged else None)
        if about is None or reading is None or ((is_judged or not about.answer) and not reading.correction):
            return await self._overheard(message, run_id)
        nodes = await self._executor(self._memory.audit.nodes, message.scope.workspace, about.run_id)
        # "👍" to "I don't know that." approves nothing, and a statement after an answer is ordinary.
        if reading.approves if found_nothing(nodes) else is_supplied:
            return await self._overheard(message, run_id)
        role = await self.role_of(message)
        # "No, ..." to an answer that knows only a part may be about either part.
        is_of_part = bool(reading.correction and missing_parts(nodes)) and not found_nothing(nodes)
        is_of_one = bool(reading.correction and open_parts(nodes))
        reading = replace(reading, is_sure=reading.is_sure and role is not None and not (is_of_part or is_of_one))
        if not reading.is_sure or role is None:
            goal = corrected_node(nodes).goal if is_of_part else about.goal
            question = feedback_messages.doubt(reading, goal, is_supplied=is_supplied)
            question = which_part(reading.correction, is_certain=False) if is_of_one else question
            return _asking(message, run_id, question, as_understood(reading, "" if about.answer else about.run_id))
        return Noted(
            message=message,
            opinion=_opinion(reading, about.run_id, role),
            run_id=run_id,
            understood=as_understood(reading),
            reply=self._reply(reading, messenger.how_to_type),
        )

    async def _overheard(self, message: Incoming, run_id: str) -> FinishedRun | None:
        """Withdraw a message without a mention that was taken in only because it sounds like feedback."""
        event = self.events.get(message.event_id)
        is_heard = read(message.text) is not None or preference_in(message.text) is not None
        if event is None or event.address not in UNADDRESSED or not is_heard:
            return None
        return await self._withdrawn(message, run_id)

    async def _withdrawn(self, message: Incoming, run_id: str) -> FinishedRun:
        await self._executor(self._memory.recording.withdraw, message.scope.workspace, message.event_id)
        return _asking(message, run_id, "", "")

    def after_command(self, command: PersonCommand, *, is_asked: bool) -> None:
        """Note whether a command asked for confirmation: a bare "no" then declines it, and judges no answer."""
        self._to_confirm.pop(_person_in_channel(command.scope), None)
        if is_asked:
            self._to_confirm[_person_in_channel(command.scope)] = command.at

    def _declines(self, message: Incoming, about: Exchange | None) -> bool:
        """Whether a message declines a confirmation that was asked for after the answer that it may be about."""
        asked_at = self._to_confirm.pop(_person_in_channel(message.scope), None)
        if asked_at is None or (about is not None and about.answered_at is not None and about.answered_at > asked_at):
            return False
        reading = read(message.text)
        return reading is not None and reading.only_refuses

    def awaits_confirmation(self, scope: Scope, since: datetime) -> bool:
        """Whether a command of this person's asked for confirmation there since then, and is not answered."""
        asked_at = self._to_confirm.get(_person_in_channel(scope))
        return asked_at is not None and asked_at >= since

    async def commit(self, noted: "Noted | NotedPreference") -> Answer | None:
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

    def preference_noted(self, style: StylePreference, how_to_type: HowToType) -> str:
        """The confirmation of a wish about style, and whether the model keeps to it."""
        return preference_noted(style, how_to_type, follows_style=self.follows_style)

    def _reply(self, reading: Reading, how_to_type: HowToType) -> Callable[[Episode], str]:
        def reply(judged: Episode) -> str:
            named = named_action(judged.output, self._actions) if reading.correction else ""
            return feedback_messages.noted(reading, judged, how_to_type, named)

        return reply

    def _about(self, message: Incoming, exchanges: Sequence[Exchange]) -> Exchange | None:
        """The asker's own exchange that a message judges: the one it replies to, else the last one, if recent.

        Earlier feedback, and remarks such as "thanks", are skipped, because they are about the same answer.
        """
        replied = [each for each in exchanges if each.is_replied_to] if message.reply_to else exchanges
        for before, each in reversed([*pairwise([None, *replied])]):
            if each is None or each.person != message.scope.person or each.answered_at is None:
                return None
            is_aside = is_remark(each.text) and (before is None or "?" not in before.answer)
            if not is_aside and not is_feedback(each.understood):
                is_seen = each.answered_at <= message.at + _SKEW
                is_young = message.reply_to or message.at - each.answered_at <= self.pause
                return each if is_seen and is_young else None
        return None

    async def is_next(self, message: Incoming, about: Exchange) -> bool:
        """Whether the asker sent nothing but remarks there since, which may have no answer yet or need none."""
        if message.reply_to:
            return True
        latest = await self._executor(self._memory.recording.messages_of, message.scope, _LATEST)
        thread = message.scope.thread if message.scope.thread != message.message_id else ""
        return not any(
            about.at < each.at <= message.at and not is_feedback(each.understood) and not is_remark(each.text)
            for each in latest
            if each.event_id != message.event_id and (not thread or each.scope.thread == thread)
        )

    async def role_of(self, message: Incoming) -> Role | None:
        """The role of the message's asker; None where it cannot be determined now."""
        if message.tap is not None:
            role = await self._executor(self._memory.asking.askers_role, message.scope, message.tap)
            if role is not None:
                return role
        event = self.events.get(message.event_id)
        return await self.role_now(event) if event is not None else None

    async def role_now(self, event: PersonMessage | PersonEdit) -> Role | None:
        """The role of a message's author; None if it cannot be determined now, or they may not use the bot there."""
        try:
            role = event.role if event.find_role is None else await event.find_role()
        except MessengerError:
            return None
        admission = await self._executor(self._memory.chat_settings.admission, event.scope, role)
        return admission.role if admission.is_admitted else None

    # Showing and taking back ----------------------------------------------------------------------------------------

    async def may_be_of_parts(self, event: PersonCorrection, run_id: str) -> bool:
        """Whether a correction may be about any of several parts of an answer, which may be named where it is."""
        nodes = await self._executor(self._memory.audit.nodes, event.scope.workspace, run_id)
        parts = open_parts(nodes) if is_usable(event) else []
        return bool(parts) and all(stays(each.visibility, event.scope.visibility) for each in parts)

    async def ask_part(self, event: PersonCorrection, run_id: str, held_by: str) -> Incoming | None:
        """Keep such a correction as a message, whose answer, to be delivered, is the question which part it is about.

        `held_by` is the process that delivers it. None if the event was handled before.
        """
        reading, message = Reading(correction=event.text.strip(), is_sure=False), as_message(event, held_by)
        question = which_part(reading.correction, is_certain=True)
        understood = as_understood(reading, run_id, event.reason)
        asking = _asking(message, self._memory.new_id(), question, understood)
        return await self._executor(self._memory.recording.accept_answered, message, asking)

    async def question(self, message: Incoming, reading: Reading) -> Question:
        """The question that the bot asked about a message."""
        run_id = await self.judged_run(message)
        nodes = await self._executor(self._memory.audit.nodes, message.scope.workspace, run_id) if run_id else []
        is_certain = message.message_id.startswith(CORRECTING)
        corrects = bool(reading.correction) and not reading.is_sure
        return Question.about(nodes, corrects=corrects, is_certain=is_certain)

    async def answers(self, scope: Scope, run_id: str) -> list[str]:
        """The answers to the bot's question about a person's message, as they are on its buttons."""
        message = await self._message(scope, run_id)
        reading = reading_in(message.understood) if message is not None else None
        return (await self.question(message, reading)).answers if message is not None and reading is not None else []

    async def shown(self, message: BotMessage, incoming: Incoming) -> BotMessage:
        """A reply as posted: the reply to feedback is a private notice with buttons, any other is unchanged."""
        if not is_feedback(incoming.understood):
            return message
        reading, run = reading_in(incoming.understood), incoming.run_id
        choices = [Choice(label="Undo", command=UNDO, argument=run)]
        if reading is not None and not reading.is_sure:
            answers = (await self.question(incoming, reading)).answers
            choices = [Choice(label=each, command=CHOOSE, argument=f"{run} {n}") for n, each in enumerate(answers, 1)]
        return replace(message, is_answer=False, private_to=incoming.scope.person, lessons=(), choices=tuple(choices))

    async def judged_run(self, message: Incoming) -> str:
        """The run whose answer a message judges; empty if it no longer exists."""
        if run_id := run_in(message.understood):
            return run_id
        exchanges = await self._executor(self._memory.exchanges.before, message, pause=self.pause)
        about = self._about(message, exchanges)
        return about.run_id if about is not None else ""

    async def choose(self, event: PersonCommand, how_to_type: HowToType) -> "FeedbackDecision | None":
        """Apply the author's answer to "was this feedback?". None if the message is not theirs or was not asked."""
        found = CHOICE.fullmatch(event.argument.strip())
        if found is None or not found["run"]:
            return None
        message = await self._message(event.scope, found["run"].lower())
        reading = reading_in(message.understood) if message is not None else None
        if message is None or reading is None:
            return None
        question = await self.question(message, reading)
        number = question.number(found["which"])
        if not number:
            return None
        if number == question.no:
            again = Incoming(
                scope=message.scope,
                event_id=f"{message.event_id}/ordinary",
                message_id=f"{RETRY}{message.message_id}",
                text=message.text,
                at=event.at,
            )
            return FeedbackDecision(message=await self._executor(self._memory.recording.accept, again))
        judged_run = await self.judged_run(message)
        if not judged_run:
            return None
        opinion = _opinion(reading, judged_run, event.role)
        opinion = replace(opinion, node_id=question.node_id(number), reason=reason_in(message.understood))
        try:
            judged = await self._executor(self._memory.in_words.confirm, message, opinion, event.at)
        except (NotFound, InvalidInput):
            return None
        if judged is None:
            return FeedbackDecision(text=feedback_messages.DONE_BEFORE)
        undo = Choice(label="Undo", command=UNDO, argument=found["run"])
        return FeedbackDecision(text=self._reply(reading, how_to_type)(judged), choices=(undo,), changed_run=judged_run)

    async def _message(self, scope: Scope, run_id: str) -> Incoming | None:
        """The person's own message there, which its readers of now may read; with these readers."""
        try:
            message = await self._executor(self._memory.in_words.message, scope.workspace, run_id)
        except NotFound:
            return None
        is_own = (message.scope.person, message.scope.channel) == (scope.person, scope.channel)
        if not is_own or not stays(message.scope.visibility, scope.visibility):
            return None
        return replace(message, scope=replace(message.scope, visibility=scope.visibility))


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackDecision:
    """The result of a person's answer to "was this feedback?"."""

    text: str = ""
    """The reply to the author."""
    choices: tuple[Choice, ...] = ()
    message: Incoming | None = None
    """The message, if it was an ordinary one, accepted to be answered."""
    changed_run: str = ""


def _asking(message: Incoming, run_id: str, question: str, understood: str) -> FinishedRun:
    """A finished run without an answer, which only asks whether the message was feedback."""
    return FinishedRun(
        workspace=message.scope.workspace,
        run_id=run_id,
        event_id=message.event_id,
        question=message.text,
        nodes=(),
        recalls=(),
        parts=(question,),
        channel=message.scope.channel,
        thread=message.scope.thread,
        understood=understood,
    )


def _person_in_channel(scope: Scope) -> tuple[str, str, str]:
    return scope.workspace, scope.channel, scope.person


def _is_judged(about: Exchange, exchanges: Sequence[Exchange]) -> bool:
    """Whether the asker already judged it in words: a "thanks" is then for the reply to that."""
    return any(each.at > about.at and reading_in(each.understood) for each in exchanges)


def _opinion(reading: Reading, run_id: str, role: Role) -> Opinion:
    value = 1 if reading.approves else -1
    return Opinion(run_id=run_id, value=value, role=role, correction=reading.correction)

"""The question whether a message was feedback, and about which part of an answer: asked with buttons, and answered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from bot.conversation.executor import Executor
from bot.conversation.feedback import feedback_messages
from bot.conversation.feedback.feedback_in_words import FeedbackReading
from bot.conversation.feedback.feedback_record import feedback_record, is_feedback, reason_in, recorded_feedback, run_in
from bot.conversation.feedback.judged_exchange import judged_exchange
from bot.conversation.messages import HowToType
from bot.conversation.reply import CHOICE, CHOOSE, NO
from bot.model import BotMessage, Choice, PersonCommand, PersonCorrection
from memory.errors import InvalidInput, NotFound
from memory.model import Episode, Incoming, Role, Scope, Turn
from memory.model.delivery import CORRECTING, RETRY
from memory.rules.audience import may_be_repeated
from memory.rules.retrieval.prompt import shown_line
from memory.services import FinishedRun, Memory, Opinion
from memory.services.teaching.correct import CORRECTION_CHARACTERS, missing_parts, open_parts

UNDO = "undo"
WHOLE = "All of it"
YES_LABEL, NO_LABEL = "Yes", "No"
_MOST = 6
"""The most parts that have a button, those without an answer first."""


@dataclass(frozen=True, slots=True)
class FeedbackQuestion:
    """The question whether a message was feedback, or of what: the answers to it, in order."""

    parts: tuple[Episode, ...]
    """The parts that a correction may be about; empty if it is only asked whether it is one."""
    is_certain: bool = False
    """It is a correction, so that "No" is no answer."""

    @classmethod
    def about(cls, nodes: Sequence[Episode], *, corrects: bool, is_certain: bool) -> "FeedbackQuestion":
        """The question about a message that corrects an answer, or approves or refuses it."""
        parts = open_parts(nodes) if corrects else []
        missing = missing_parts(parts)
        most_wanted = sorted(parts, key=lambda each: each not in missing)[:_MOST]
        return cls(tuple(each for each in parts if each in most_wanted), is_certain)

    @property
    def answers(self) -> list[str]:
        """The labels of the answers."""
        yes = [*(shown_line(each.goal, 60) for each in self.parts), WHOLE] if self.parts else [YES_LABEL]
        return [*yes, *([] if self.is_certain else [NO_LABEL])]

    @property
    def no(self) -> int:
        """The number of the answer "No", from 1; 0 if it is none."""
        return 0 if self.is_certain else len(self.answers)

    def number(self, which: str) -> int:
        """The number of the answer that a choice names, by its number or as `no`; 0 if it is none."""
        number = int(which) if which.isdecimal() else self.no if which.lower() == NO else 0
        return number if number <= len(self.answers) else 0

    def node_id(self, number: int) -> str:
        """The id of the part that the answer with this number, from 1, names; empty for the whole."""
        return self.parts[number - 1].id if number <= len(self.parts) else ""


def which_part(correction: str, *, is_certain: bool) -> str:
    """The question. It names no part: the parts may be in the words of others, and are on the buttons only."""
    answer = f"Which part of the question is “{shown_line(correction, 120)}” the answer to?"
    return answer if is_certain else f"Was that a correction? {answer}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackDecision:
    """The result of a person's answer to "was this feedback?"."""

    text: str = ""
    """The reply to the author."""
    choices: tuple[Choice, ...] = ()
    message: Incoming | None = None
    """The message, if it was an ordinary one, accepted to be answered."""
    changed_run: str = ""


@dataclass(frozen=True, slots=True)
class FeedbackQuestions:
    """Asks about messages that may be feedback, and stores the answers."""

    _memory: Memory
    _executor: Executor
    _actions: Sequence[str]
    pause: timedelta
    """How long a person may be silent until a conversation without a thread is over."""

    async def shown(self, message: BotMessage, incoming: Incoming) -> BotMessage:
        """A reply as posted: the reply to feedback is a private notice with buttons, any other is unchanged."""
        if not is_feedback(incoming.understood):
            return message
        reading, run = recorded_feedback(incoming.understood), incoming.run_id
        choices = [Choice(label="Undo", command=UNDO, argument=run)]
        if reading is not None and not reading.is_sure:
            answers = (await self._question(incoming, reading)).answers
            choices = [Choice(label=each, command=CHOOSE, argument=f"{run} {n}") for n, each in enumerate(answers, 1)]
        return replace(message, is_answer=False, private_to=incoming.scope.person, lessons=(), choices=tuple(choices))

    async def answers(self, scope: Scope, run_id: str) -> list[str]:
        """The answers to the bot's question about a person's message, as they are on its buttons."""
        message = await self._message(scope, run_id)
        reading = recorded_feedback(message.understood) if message is not None else None
        return (await self._question(message, reading)).answers if message is not None and reading is not None else []

    async def _question(self, message: Incoming, reading: FeedbackReading) -> FeedbackQuestion:
        """The question that the bot asked about a message."""
        run_id = await self.judged_run(message)
        nodes = await self._executor(self._memory.audit.nodes, message.scope.workspace, run_id) if run_id else []
        is_certain = message.message_id.startswith(CORRECTING)
        corrects = bool(reading.correction) and not reading.is_sure
        return FeedbackQuestion.about(nodes, corrects=corrects, is_certain=is_certain)

    async def choose(self, event: PersonCommand, how_to_type: HowToType) -> FeedbackDecision | None:
        """Apply the author's answer to "was this feedback?". None if the message is not theirs or was not asked."""
        found = CHOICE.fullmatch(event.argument.strip())
        if found is None or not found["run"]:
            return None
        message = await self._message(event.scope, found["run"].lower())
        reading = recorded_feedback(message.understood) if message is not None else None
        if message is None or reading is None:
            return None
        question = await self._question(message, reading)
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
            taken = partial(self._memory.in_words.take_back, at=event.at, event_id=event.event_id)
            was_taken = await self._executor(taken, event.scope.workspace, [message.event_id])
            judged_run = await self.judged_run(message) if was_taken else ""
            accepted = await self._executor(self._memory.recording.accept, again)
            return FeedbackDecision(message=accepted, changed_run=judged_run)
        judged_run = await self.judged_run(message)
        if not judged_run:
            return None
        opinion = opinion_of(reading, judged_run, event.role)
        opinion = replace(opinion, node_id=question.node_id(number), reason=reason_in(message.understood))
        try:
            judged = await self._executor(self._memory.in_words.confirm, message, opinion, event.at)
        except (NotFound, InvalidInput):
            return None
        if judged is None:
            return FeedbackDecision(text=feedback_messages.DONE_BEFORE)
        undo = Choice(label="Undo", command=UNDO, argument=found["run"])
        text = self.confirmation(reading, how_to_type)(judged)
        return FeedbackDecision(text=text, choices=(undo,), changed_run=judged_run)

    async def judged_run(self, message: Incoming) -> str:
        """The run whose answer a message judges; empty if it no longer exists."""
        if run_id := run_in(message.understood):
            return run_id
        exchanges = await self._executor(self._memory.exchanges.before, message, pause=self.pause)
        about = judged_exchange(message, exchanges, self.pause)
        return about.run_id if about is not None else ""

    def confirmation(self, reading: FeedbackReading, how_to_type: HowToType) -> Callable[[Episode], str]:
        """Makes the confirmation of feedback, given the answer that it judges or the lesson that corrects it."""
        return partial(feedback_messages.noted_message, reading, how_to_type, self._actions)

    async def may_be_of_parts(self, event: PersonCorrection, run_id: str) -> bool:
        """Whether a correction may be about any of several parts of an answer, which may be named where it is."""
        nodes = await self._executor(self._memory.audit.nodes, event.scope.workspace, run_id)
        parts = open_parts(nodes) if _is_usable(event) else []
        return bool(parts) and all(may_be_repeated(each.visibility, event.scope.visibility) for each in parts)

    async def ask_part(self, event: PersonCorrection, run_id: str, held_by: str) -> Incoming | None:
        """Keep such a correction as a message, whose answer, to be delivered, is the question which part it is about.

        `held_by` is the process that delivers it. None if the event was handled before.
        """
        reading, message = FeedbackReading(correction=event.text.strip(), is_sure=False), _as_message(event, held_by)
        question = which_part(reading.correction, is_certain=True)
        understood = feedback_record(reading, run_id, event.reason)
        run = run_with_text(message, self._memory.new_id(), question, understood)
        return await self._executor(self._memory.recording.accept_answered, message, run)

    async def _message(self, scope: Scope, run_id: str) -> Incoming | None:
        """The person's own message there, if its present readers may read it; with the present visibility."""
        try:
            message = await self._executor(self._memory.in_words.message, scope.workspace, run_id)
        except NotFound:
            return None
        is_own = (message.scope.person, message.scope.channel) == (scope.person, scope.channel)
        if not is_own or not may_be_repeated(message.scope.visibility, scope.visibility):
            return None
        return replace(message, scope=replace(message.scope, visibility=scope.visibility))


def run_with_text(message: Incoming, run_id: str, text: str, understood: str) -> FinishedRun:
    """A finished run in which no agent worked: its text only asks whether the message was feedback, or is empty."""
    return FinishedRun(
        workspace=message.scope.workspace,
        run_id=run_id,
        event_id=message.event_id,
        question=message.text,
        parts=(text,),
        channel=message.scope.channel,
        thread=message.scope.thread,
        understood=understood,
    )


def _as_message(event: PersonCorrection, held_by: str) -> Incoming:
    """A correction as a message, to be kept until it is known what it corrects."""
    return Incoming(
        scope=event.scope,
        event_id=event.event_id,
        message_id=f"{CORRECTING}{event.event_id}",
        text=event.text,
        at=event.at,
        held_by=held_by,
        turn=Turn.HAS,
    )


def _is_usable(event: PersonCorrection) -> bool:
    """Whether its text can be a lesson."""
    return 0 < len(event.text.strip()) <= CORRECTION_CHARACTERS


def opinion_of(reading: FeedbackReading, run_id: str, role: Role) -> Opinion:
    """Feedback in words as a vote, or as a correction, of the answer of that run."""
    value = 1 if reading.approves else -1
    return Opinion(run_id=run_id, value=value, role=role, correction=reading.correction)

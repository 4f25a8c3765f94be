"""Finds what a message in words chooses ("2", "none of these", "yes"), in the question of the bot that it answers."""

import re
from collections.abc import Sequence

from bot.conversation.answers.choice_handler import choice_event
from bot.conversation.answers.choice_messages import NEEDS_TAP, NOTHING_TO_CHOOSE
from bot.conversation.answers.choice_words import ChoiceInWords, number_of, read_choice
from bot.conversation.executor import Executor
from bot.conversation.feedback.feedback_question import NO_LABEL, YES_LABEL
from bot.conversation.feedback.feedback_record import is_feedback, recorded_feedback
from bot.conversation.feedback.in_words_handler import InWordsHandler
from bot.conversation.messages import HowToType
from bot.conversation.reply import CHOOSE, NO, NONE
from bot.model import UNADDRESSED, PersonCommand, PersonMessage
from memory.model import Exchange, Incoming, Option, offers_of
from memory.model.delivery import asks_in_words
from memory.services import Memory

LONGEST = 40
"""The most characters of a choice in words."""
NEEDS_CONFIRMATION = "Not by words alone: press the button under my question, or write the command that it names."
_UNCLEAR, _TAP = "unclear", "tap"
_LIST = re.compile(r"^\s{0,9}(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)
"""An item of a list in an answer, which a number may be about."""


class ChoicesInWords:
    """Reads messages as choices."""

    def __init__(self, memory: Memory, executor: Executor, in_words: InWordsHandler) -> None:
        self._memory = memory
        self._executor = executor
        self._in_words = in_words

    async def read(self, event: PersonMessage, text: str, how_to_type: HowToType) -> PersonCommand | str | None:
        """The choice that a message makes, as the command that its button is; or what to tell its author instead.

        None for an ordinary message: the last answer to its author there, or the one it replies to, offers nothing
        like that. A tool with effects is allowed by its button or a command only.
        """
        read = read_choice(text)
        if read is None:
            return None
        message = _as_incoming(event, text)
        asked = await self._asked(message)
        since, recently = asked.answered_at if asked is not None else None, event.at - self._in_words.questions.pause
        awaits = self._in_words.awaits_confirmation
        if awaits(event.scope, since or recently):
            return NEEDS_CONFIRMATION if read.is_yes and awaits(event.scope, recently) else None
        if asked is not None and not await self._in_words.is_next(message, asked):
            return None
        which = await self._which(event, read, text, asked) if asked is not None else ""
        is_lost = not which and await self._chooses_nothing(event, read, asked)
        role = await self._in_words.roles.of_author(event) if which or is_lost else None
        if role is None or asked is None or is_lost:
            return NOTHING_TO_CHOOSE if role is not None else None
        if which == _TAP:
            return NEEDS_TAP
        if which == _UNCLEAR:
            return f"Which of them do you mean? Press its button; `{how_to_type(CHOOSE)} 1` chooses the first."
        event_id, argument = choice_event(event.scope, event.message_id), f"{asked.run_id} {which}"
        return PersonCommand(
            event_id=event_id, scope=event.scope, at=event.at, role=role, name=CHOOSE, argument=argument
        )

    async def _chooses_nothing(self, event: PersonMessage, read: ChoiceInWords, asked: Exchange | None) -> bool:
        """Whether a message only chooses, and neither a question nor a list of the last answer may be meant."""
        if not read.only_chooses or asked is None:
            return read.only_chooses and event.address not in UNADDRESSED
        nodes = await self._executor(self._memory.audit.nodes, event.scope.workspace, asked.run_id)
        if offers_of(nodes):
            return True
        asks = "?" in asked.answer or any(asks_in_words(each.trajectory) for each in nodes)
        return event.address not in UNADDRESSED and not (asks or _LIST.search(asked.answer))

    async def _asked(self, message: Incoming) -> Exchange | None:
        """The exchange whose answer may be a question that this message answers."""
        exchanges = await self._executor(self._memory.exchanges.before, message, pause=self._in_words.questions.pause)
        found = _own_last(message, exchanges)
        return found if found is not None and found.answered_at is not None else None

    async def _which(self, event: PersonMessage, read: ChoiceInWords, text: str, asked: Exchange) -> str:
        """What is chosen, as the command's argument; `_UNCLEAR`, `_TAP`, or empty for an ordinary message."""
        if is_feedback(asked.understood):  # "Was that a correction?"
            return _among_answers(read, text, await self._in_words.questions.answers(event.scope, asked.run_id))
        nodes = await self._executor(self._memory.audit.nodes, event.scope.workspace, asked.run_id)
        return _among(read, text, [each.option for each in offers_of(nodes)])


def _among_answers(read: ChoiceInWords, text: str, answers: Sequence[str]) -> str:
    """The number of the answer that is chosen to the question whether a message was feedback, or of which part."""
    if answers in ([], [YES_LABEL, NO_LABEL]) and not read.number:
        return "1" if read.is_yes else "2" if read.is_none else ""
    number = number_of(read, text, answers)
    if number is None:
        return str(len(answers)) if read.is_none and answers[-1] == NO_LABEL else ""
    return str(number) if number else _UNCLEAR


def _as_incoming(event: PersonMessage, text: str) -> Incoming:
    return Incoming(
        scope=event.scope,
        event_id=event.event_id,
        message_id=event.message_id,
        text=text,
        at=event.at,
        reply_to=event.reply_to,
    )


def _own_last(message: Incoming, exchanges: Sequence[Exchange]) -> Exchange | None:
    """The author's last exchange, or the one they reply to; replies to their feedback are skipped, unless it asks."""
    for each in reversed(exchanges):
        is_own = each.person == message.scope.person and (each.is_replied_to or not message.reply_to)
        reading = recorded_feedback(each.understood)
        if is_own and not (is_feedback(each.understood) and (reading is None or reading.is_sure)):
            return each
    return None


def _among(read: ChoiceInWords, text: str, options: Sequence[Option]) -> str:
    if not options:
        return ""
    if any(option.is_approval for option in options):
        return NO if read.is_none else _TAP
    number = number_of(read, text, [option.text or option.label for option in options])
    if number is None:
        return NONE if read.is_none else ""
    return str(number) if number else _UNCLEAR

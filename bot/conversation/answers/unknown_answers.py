"""Unanswered questions in channels: the bot says briefly, once in a thread, that it does not know, then only marks."""

import logging
import re

from bot.agent.tree import RunResult
from bot.conversation.executor import Executor
from bot.conversation.messages import HowToType
from bot.errors import MessengerError
from bot.model import MessageRef
from bot.ports import Messenger
from memory.model import Incoming, StepKind, Visibility
from memory.rules.retrieval.prompt import shown_line
from memory.services import Memory
from memory.services.teaching.correct import missing_parts

log = logging.getLogger(__name__)

UNKNOWN_MARK = "🤷"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_TASK = re.compile(
    r"(?:(?:please|hey|hi|bitte|(?:can|could|would|will) you|kannst du)\b[\s,]*+)*+"
    r"(?:remind|wake|cancel|set|add|remove|delete|book|order|schedule|create|erinner\w*|storniere?|lösch\w*)\s++"
    r"(?:me|us|the|an?|my|our|this|that|all|mich|uns|die|das|den|eine?n?|meine?n?|\d++)\b"
    r"(?!\s++(?:of\s++)?(?:who|what|when|where|which|why|how|wer|was|wann|wo|wie)\b)",
    re.IGNORECASE,
)
"""Begins a request to do something, as no question does: "remind me to call", but not "remind me who has the key"."""
_REASON_LENGTH = 200
_ENDS = (".", "!", "?", "…")
_WITH_CHANNELS = ("slack", "discord")
"""Platforms with channels, where people also talk to each other."""


class UnknownAnswers:
    """Decides how to tell that there is no answer, in words or by a mark."""

    def __init__(self, memory: Memory, executor: Executor) -> None:
        self._memory = memory
        self._executor = executor
        self.admitted: set[str] = set()
        """Event ids of messages whose answer says it in words, also if the work is repeated."""

    async def words(self, messenger: Messenger, incoming: Incoming, result: RunResult) -> str:
        """The reply to a question without an answer to it or to a part; empty where only the mark is shown."""
        scope, missing = incoming.scope, missing_parts(result.nodes)
        how = how_to_teach(messenger.how_to_type) if len(missing) < 2 else how_to_teach_one(messenger.how_to_type)
        is_task = all(asks_to_do(each.goal) for each in missing or result.nodes[:1])
        how = "" if is_task else f" {how}"
        is_among_people = scope.visibility is not Visibility.DIRECT and scope.platform in _WITH_CHANNELS
        if not is_among_people:
            return f"{result.output}{how}" if missing else result.output
        place = scope.thread or f"{scope.person}/{incoming.at:%Y-%m-%d}"
        occasion = f"{'undone' if is_task else 'unknown'}/{scope.channel}/{place}"
        is_first = await self._executor(self._memory.recording.claim_occasion, scope.workspace, occasion)
        is_tried_again = incoming.is_retry and not incoming.is_edit
        if is_first or is_tried_again or incoming.event_id in self.admitted:
            self.admitted.add(incoming.event_id)
            is_whole = result.lacks_parts or (is_task and _is_of_tool(result))
            return f"{result.output}{how}" if is_whole else unknown_message(result.output, how)
        return result.output if result.lacks_parts else ""

    async def show(self, messenger: Messenger, incoming: Incoming, *, is_unknown: bool = True) -> None:
        """Mark the question instead of saying again that the bot does not know, or take the mark off."""
        scope, question = incoming.scope, incoming.reply_to if incoming.is_edit else incoming.message_id
        ref = MessageRef(workspace=scope.workspace, channel=scope.channel, message_id=question)
        try:
            await messenger.mark(ref, UNKNOWN_MARK, is_unknown)
        except MessengerError as error:
            log.info("could not show that message %s is not answered: %s", incoming.event_id, error)


def _is_of_tool(result: RunResult) -> bool:
    """Whether the reply is what a tool says of why it did not do it, which its asker has to know in full."""
    observed = (step for step in result.nodes[0].trajectory if step.kind is StepKind.OBSERVE)
    return any(step.is_error and step.text == result.output for step in observed)


def unknown_message(reason: str, how: str) -> str:
    """To people in a channel: that the bot does not know, then `how` to teach it. `reason` begins with a sentence."""
    first = shown_line(_SENTENCE_END.split(reason.strip(), maxsplit=1)[0], _REASON_LENGTH)
    end = "" if first.endswith(_ENDS) else "."
    return f"{first}{end}{how}"


def asks_to_do(request: str) -> bool:
    """Whether somebody asks for a deed, so that nobody could know the answer instead."""
    return _TASK.match(request) is not None


def how_to_teach(how_to_type: HowToType) -> str:
    """How to teach what the bot does not know."""
    return f"Whoever knows it, tell me: `{how_to_type('correct')} ...`, and I will know it next time."


def how_to_teach_one(how_to_type: HowToType) -> str:
    """How to teach one of several answers: who corrects is asked which question it is for."""
    return f"Whoever knows one of them, tell me: `{how_to_type('correct')} ...`; I ask which one it answers."

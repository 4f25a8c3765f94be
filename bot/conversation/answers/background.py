"""The background of a run: earlier messages, the asker's preferences, and lessons."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.agent.conversation import ChatLine, Speaker
from bot.agent.understanding import may_refer_back
from bot.conversation.executor import Executor
from bot.conversation.feedback.feedback_record import without_run
from bot.errors import MessengerError
from bot.model import Remark
from bot.ports import Messenger, ReadsAlong
from memory.errors import MemoryFault
from memory.model import Exchange, Incoming, Recollection, Scope, Visibility
from memory.model.delivery import CORRECTING
from memory.model.evidence import ActionText, Evidence
from memory.model.spending import Allowance
from memory.ports import Transaction
from memory.services import EarlierText, Memory

log = logging.getLogger(__name__)

PreparedRecall = Callable[[Transaction], Recollection]
"""A recall that is prepared and only needs a transaction."""

_SOMEBODY = "somebody"
_TIMEOUT_S = 5.0
"""How long an answer waits for a look-up on the platform."""


@dataclass(frozen=True, slots=True)
class MemoryRecall:
    """Recall for the agent tree, run on the thread pool."""

    _memory: Memory
    _executor: Executor

    async def __call__(
        self, scope: Scope, goal: str, *, run_id: str, context: frozenset[str], actions: Sequence[ActionText]
    ) -> Recollection:
        """The lessons for a node's goal, and the evidence."""
        recall = self._memory.recalling.recall
        return await self._executor(recall, scope, goal, run_id=run_id, context=context, actions=actions)

    def weigh(self, scope: Scope, goal: str, actions: Sequence[ActionText], *, run_id: str) -> Evidence:
        """The evidence for a part of a goal. Blocking."""
        return self._memory.recalling.weighing.weigh(scope, goal, actions, run_id=run_id)


@dataclass(frozen=True, slots=True)
class NoRecall:
    """Recall for a run in the control arm: no lessons, no evidence."""

    _memory: Memory
    _executor: Executor

    async def __call__(
        self, scope: Scope, goal: str, *, run_id: str, context: frozenset[str], actions: Sequence[ActionText]
    ) -> Recollection:
        """An empty recollection, marked as the control arm's."""
        return await self._executor(self._memory.control_arm.recall, goal)

    def weigh(self, scope: Scope, goal: str, actions: Sequence[ActionText], *, run_id: str) -> Evidence:
        """Empty evidence."""
        return Evidence()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundConfig:
    """How much of a conversation is looked up."""

    pause: timedelta = timedelta(hours=4)
    """How long a person may be silent until a conversation without a thread is over."""
    others: int = 0
    """How many of people's latest messages to each other are read too, if the platform allows."""
    seconds: float = 90.0
    """The time limit of the look-up; then the run starts without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """The conversation before a message, oldest first, with preferences and recalled lessons."""

    earlier: tuple[ChatLine, ...] = ()
    people: frozenset[str] = frozenset()
    """People other than the asker whose words are in it."""
    texts: tuple[EarlierText, ...] = ()
    """What these people said, and what the bot did."""
    exchanges: tuple[Exchange, ...] = ()
    """Messages to the bot with its answers, oldest first."""
    preferences: tuple[str, ...] = ()
    """The asker's preferences as instructions."""
    recollection: Recollection | None = None
    """The lessons recalled for the message, if that was asked for and earlier messages do not change its meaning."""

    def people_in(self, understood: str) -> frozenset[str]:
        """The people other than the asker whose words may be in what a message was understood to mean, if it was."""
        return self.people if understood else frozenset()

    def asked(self, message: Incoming) -> Exchange | None:
        """The bot's question to the asker that this message may answer, if it is no question itself."""
        last = self.exchanges[-1] if self.exchanges else None
        may_answer = last is not None and last.person == message.scope.person and "?" in last.answer
        return last if may_answer and not message.text.rstrip().endswith("?") else None


class BackgroundLookup:
    """Looks up the background of a message. Whatever fails is left out and does not fail the answer."""

    def __init__(self, memory: Memory, executor: Executor, config: BackgroundConfig) -> None:
        self._memory = memory
        self._executor = executor
        self._config = config

    async def control_arm_recall(self, message: Incoming, run_id: str) -> NoRecall | None:
        """The recall of a run in the control arm; None for any other run."""
        if not message.has_settings and not self._memory.core.control_arm:
            return None
        is_in_it = await self._executor(self._memory.control_arm.has, message.scope, run_id)
        return NoRecall(self._memory, self._executor) if is_in_it else None

    async def of(
        self, messenger: Messenger, message: Incoming, recall: Callable[[], PreparedRecall] | None
    ) -> Background:
        """The background of one message; `recall` prepares the recall of its lessons."""
        try:
            async with asyncio.timeout(self._config.seconds):
                exchanges, recollection = await self._executor(self._looked_up, message, recall)
        except (MemoryFault, TimeoutError) as fault:
            log.warning("message %s is answered without its conversation: %r", message.event_id, fault)
            exchanges, recollection = (), None
        # A correction by a form or command is no talk: until it is approved it is for its author alone.
        exchanges = tuple(each for each in exchanges if not each.message_id.startswith(CORRECTING))
        remarks = await self._remarks(messenger, message, exchanges)
        people = dict.fromkeys([*(each.person for each in exchanges), *(each.person for each in remarks)])
        names = await _names(messenger, message.scope.workspace, people.keys() - {message.scope.person})
        lines = [
            *((each.message_id, each.at, (self._remark(message, each, names),)) for each in remarks),
            *((each.message_id, each.at, self._exchange(message, each, names)) for each in exchanges),
        ]
        lines.sort(key=lambda line: (line[0] != message.scope.thread, line[1]))
        return Background(
            earlier=tuple(each for *_, earlier in lines for each in earlier),
            people=frozenset(names),
            texts=tuple(_texts(message, exchanges, remarks)),
            exchanges=tuple(exchanges),
            preferences=await self._preferences(message),
            recollection=recollection,
        )

    async def allowance(self, message: Incoming) -> Allowance | None:
        """What the asker may still spend today; None if no cap is set."""
        if not self._memory.core.caps:
            return None
        return await self._executor(self._memory.spending.allowance, message.scope)

    def _looked_up(
        self, message: Incoming, recall: Callable[[], PreparedRecall] | None
    ) -> tuple[tuple[Exchange, ...], Recollection | None]:
        """The earlier exchanges, and the recalled lessons. Blocking."""
        exchanges, pause = self._memory.exchanges, self._config.pause
        if recall is None:
            return exchanges.before(message, pause=pause), None
        return exchanges.before_with(message, recall(), pause=pause, refers_back=may_refer_back)

    async def _preferences(self, message: Incoming) -> tuple[str, ...]:
        if not message.has_notes:
            return ()
        scope = message.scope
        kept = await self._executor(self._memory.preferences.of, scope.workspace, scope.person)
        return tuple(each.text for each in kept)

    async def _remarks(self, messenger: Messenger, message: Incoming, known: Iterable[Exchange]) -> list[Remark]:
        """Messages from the platform: the thread's first, the one replied to, and the latest of others if set."""
        if not isinstance(messenger, ReadsAlong):
            return []
        scope = message.scope
        if scope.visibility is Visibility.DIRECT:
            return []
        in_memory = {message.message_id, *(each.message_id for each in known)}
        is_known_reply = any(each.is_replied_to for each in known)
        root = scope.thread if scope.thread != message.message_id else ""
        wanted = [each for each in dict.fromkeys((root, "" if is_known_reply else message.reply_to)) if each]
        wanted = [each for each in wanted if each not in in_memory]
        if not wanted and not self._config.others:
            return []
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                found = await messenger.remarks(scope, message.message_id, wanted, self._config.others)
        except (MessengerError, TimeoutError) as error:
            log.info("message %s is answered without other people's messages: %s", message.event_id, error)
            return []
        found = [each for each in found if each.text.strip() and each.message_id not in in_memory]
        # Messages to the bot come from memory only, as they may be withdrawn or from an earlier conversation.
        asked = self._memory.exchanges.asked
        known_ids = await self._executor(asked, scope, [each.message_id for each in found]) if found else frozenset()
        return await self._executor(self._redacted, [each for each in found if each.message_id not in known_ids])

    def _redacted(self, remarks: Iterable[Remark]) -> list[Remark]:
        """The messages without secrets. Blocking."""
        return [replace(each, text=self._memory.core.redactor.text(each.text)) for each in remarks]

    def _exchange(self, message: Incoming, exchange: Exchange, names: dict[str, str]) -> tuple[ChatLine, ...]:
        question = ChatLine(
            speaker=_speaker(message, exchange.person),
            name=names.get(exchange.person, ""),
            text=exchange.text,
            meant=without_run(exchange.understood),
        )
        return question, ChatLine(speaker=Speaker.BOT, text=exchange.answer, is_replied_to=exchange.is_replied_to)

    def _remark(self, message: Incoming, remark: Remark, names: dict[str, str]) -> ChatLine:
        return ChatLine(
            speaker=_speaker(message, remark.person),
            name=names.get(remark.person, ""),
            text=remark.text,
            is_replied_to=remark.message_id == message.reply_to,
        )


def _texts(message: Incoming, exchanges: Iterable[Exchange], remarks: Iterable[Remark]) -> Iterator[EarlierText]:
    """What others said, and the answers of the bot, which may have others' words too."""
    for remark in remarks:
        if remark.person != message.scope.person:
            yield EarlierText(text=remark.text, person=remark.person)
    for each in exchanges:
        if each.person != message.scope.person:
            yield EarlierText(text=each.text, person=each.person, run_id=each.run_id)
        yield EarlierText(text=each.answer, run_id=each.run_id)


def _speaker(message: Incoming, person: str) -> Speaker:
    return Speaker.ASKER if person == message.scope.person else Speaker.OTHER


async def _names(messenger: Messenger, workspace: str, people: Collection[str]) -> dict[str, str]:
    """Unique names for these people; never an id."""
    names: dict[str, str] = {}
    for person in sorted(people):
        name = _SOMEBODY
        if isinstance(messenger, ReadsAlong):
            with suppress(MessengerError, TimeoutError):
                async with asyncio.timeout(_TIMEOUT_S):
                    name = await messenger.name_of(workspace, person) or _SOMEBODY
        number = 1
        while (unlike := name if number == 1 else f"{name} {number}") in names.values():
            number += 1
        names[person] = unlike
    return names

"""One stream of labelled messages through the whole bot: sink, agent tree, recall, store and reactions."""

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from bot.adapters.llm.offline.decisions import HONEST, LACKS
from bot.adapters.llm.offline.model import OfflineModel
from bot.adapters.llm.offline.splitting import cuts, split
from bot.agent.tools.registry import Tool, ToolContext, ToolRegistry, object_schema
from bot.app.bench.fresh_bot import FreshBot, SimulatedClock, fresh_bot
from bot.app.bench.labelled import Label, LabelledMessage
from bot.app.bench.messenger import PostedAnswer
from bot.app.bench.people import CHANNEL, AnswerWorth, Habits, People
from bot.config import ConversationSettings, Settings
from bot.errors import BotError
from bot.model import PersonEvent
from memory.model import offers_of
from memory.ports import Embedder
from memory.rules.evidence.judged_lesson import ANSWER
from memory.services import Memory

_EVENT = timedelta(milliseconds=1)
"""The time between two events about one answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """The parameters of a stream."""

    habits: Habits = field(default_factory=Habits)
    as_answers: bool = False
    """Whether the labels are answers that nobody has taught yet, instead of available tools."""
    must_choose: bool = False
    """Whether the offline model must answer, unless there is nothing to choose from."""
    pace: timedelta = timedelta(minutes=2)
    """The time from one message to the next, which matters for vote limits and for ageing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamResult:
    """The result of one stream."""

    seed: int
    answered: tuple[AnswerWorth, ...]
    """In the order of the messages."""
    message_ms: tuple[float, ...]
    """The time from each message's arrival until it is completely processed."""
    reaction_ms: tuple[float, ...]
    """The time for each reaction and correction."""
    confidences: tuple[float, ...] = ()
    """The confidence in the best candidate before each answer."""
    outside: tuple[AnswerWorth, ...] = ()
    """The worth of the answers to messages without a right label, asked at the end, to which any answer is wrong."""


def shuffled(messages: Sequence[LabelledMessage], seed: int, count: int | None) -> list[LabelledMessage]:
    """The first `count` messages after shuffling them with this seed."""
    order = list(messages)
    random.Random(seed).shuffle(order)
    return order[:count]


def texts_of(messages: Iterable[LabelledMessage]) -> list[str]:
    """The texts that will be embedded while these messages are answered, as far as known before."""
    texts: list[str] = []
    for message in messages:
        texts += [message.text, *_parts(message.text), message.label.words]
    return texts


def _parts(text: str) -> list[str]:
    """The texts that the offline model may consider as parts of a message, whatever it decides about each part."""
    parts: list[str] = []

    def accept(part: str) -> bool:
        parts.append(part)
        return True

    def refuse(part: str) -> bool:
        parts.append(part)
        return False

    for judge in (accept, refuse):
        for found in (split(text, judge), *cuts(text, judge)):
            parts += found.parts if found else ()
    return parts


def without_conversation(settings: Settings) -> Settings:
    """The settings with each message on its own, not continuing the one before."""
    return settings.model_copy(update={"conversation": ConversationSettings(pause_hours=0.0)})


async def stream(
    messages: Sequence[LabelledMessage],
    labels: Iterable[Label],
    arm: Arm,
    *,
    seed: int,
    settings: Settings,
    embedder: Embedder,
    on_message: Callable[[AnswerWorth], None],
    taught: Sequence[LabelledMessage] = (),
    outside: Sequence[str] = (),
) -> StreamResult:
    """Send the messages one after another to a bot that knows only what is `taught`, and let people react to each.

    `outside` is asked at the end. The settings' database, model and tools are not used. Raises `BotError`.
    """
    clock = SimulatedClock()
    by_text = {label.text: label for label in labels}
    tools = ToolRegistry([] if arm.as_answers else [_tool(label) for label in by_text.values()])
    model = OfflineModel(embedder.embed, must_choose=arm.must_choose)
    async with fresh_bot(without_conversation(settings), embedder, clock, model, seed=seed, tools=tools) as bot:
        people = People(arm.habits, seed=seed, clock=clock, new_id=bot.memory.new_id)
        played = _Played(arm=arm, by_text=by_text, clock=clock, bot=bot, people=people)
        await played.teach(taught)
        for message in messages:
            on_message(await played.send(message))
            clock.advance(arm.pace)
        beside = [played.outcome(await played.ask(text), None)[0] for text in outside]
    return StreamResult(
        seed=seed,
        answered=tuple(played.answered),
        message_ms=tuple(played.message_ms),
        reaction_ms=tuple(played.reaction_ms),
        confidences=tuple(played.confidences),
        outside=tuple(beside),
    )


@dataclass(slots=True, kw_only=True)
class _Played:
    """A stream as far as it has been played."""

    arm: Arm
    by_text: Mapping[str, Label]
    clock: SimulatedClock
    bot: FreshBot
    people: People
    answered: list[AnswerWorth] = field(default_factory=list)
    message_ms: list[float] = field(default_factory=list)
    reaction_ms: list[float] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)

    async def teach(self, lessons: Iterable[LabelledMessage]) -> None:
        """Let people teach what is right for each message."""
        for lesson in lessons:
            await self.bot.send(self.people.teach(lesson.text, _taught(lesson.label, self.arm)))
            self.clock.advance(self.arm.pace)
        self.bot.memory.confusion.update(CHANNEL.workspace)  # as upkeep does within the hour

    async def send(self, message: LabelledMessage) -> AnswerWorth:
        """Send a message and let people react to its answer. Returns the worth of the answer."""
        begun = time.perf_counter()
        answer = await self.ask(message.text)
        self.message_ms.append((time.perf_counter() - begun) * 1000)
        outcome, offered = self.outcome(answer, message.label)
        self.answered.append(outcome)
        self.confidences.append(_confidence(self.bot.memory, answer))
        for event in self._reactions(answer, outcome, offered, message.label):
            self.clock.advance(_EVENT)
            begun = time.perf_counter()
            await self.bot.send(event)
            self.reaction_ms.append((time.perf_counter() - begun) * 1000)
        return outcome

    async def ask(self, text: str) -> PostedAnswer | None:
        """Send a message and return the answer. If a notice comes instead, it is sent once more, as that asks for.

        None if a notice comes again, because the message was taken for something else. Raises `BotError` without any
        reply.
        """
        messenger = self.bot.messenger
        for message in (self.people.ask, self.people.repeat):
            messenger.answer, messenger.notice = None, ""
            await self.bot.send(message(text))
            if messenger.answer is not None:
                return messenger.answer
        if messenger.notice:
            return None
        raise BotError(f"the bot said nothing to the message {text!r}; the log says why")

    def _reactions(
        self, answer: PostedAnswer | None, outcome: AnswerWorth, offered: Sequence[tuple[str, str]], right: Label
    ) -> list[PersonEvent]:
        """What people do about an answer: tap the option that is right, if any, then react and correct."""
        if answer is None:
            return []
        option = next((number for number, each in enumerate(offered, start=1) if _means(each, right)), None)
        taps = self.people.tap(answer.run_id, option) if offered else []
        return [*taps, *self.people.respond(answer.message_id, outcome, _taught(right, self.arm))]

    def outcome(self, answer: PostedAnswer | None, right: Label | None) -> tuple[AnswerWorth, list[tuple[str, str]]]:
        """The worth of an answer, and the options that it offers."""
        if answer is None:
            return AnswerWorth.WRONG, []
        offered = _offered(self.bot.memory, answer)
        return judged(answer.text, right, self.by_text, offered), offered


def _taught(label: Label, arm: Arm) -> str:
    """What people give as a correction."""
    return label.text if arm.as_answers else label.tool


def judged(
    answer: str, right: Label | None, by_text: Mapping[str, Label], offered: Sequence[tuple[str, str]] = ()
) -> AnswerWorth:
    """The worth of an answer. An answer with more than what is right is wrong, and so is one that matches no label.

    `offered` are the options, as actions with the text of an answer, if the bot asks back.
    """
    named = {part for part in answer.split("\n\n") if part in by_text}
    if right is not None and named == {right.text}:
        return AnswerWorth.RIGHT
    if offered and not named:
        is_there = right is not None and any(_means(each, right) for each in offered)
        return AnswerWorth.TAP if is_there else AnswerWorth.NEITHER
    return AnswerWorth.UNKNOWN if not named and (HONEST in answer or LACKS in answer) else AnswerWorth.WRONG


def _means(candidate: tuple[str, str], label: Label) -> bool:
    """Whether a candidate is a label's tool, or its answer."""
    return candidate in ((label.tool, ""), (ANSWER, label.text))


def _offered(memory: Memory, answer: PostedAnswer) -> list[tuple[str, str]]:
    """The candidates that an answer offers, as it is stored."""
    return [each.option.candidate for each in offers_of(memory.audit.nodes(CHANNEL.workspace, answer.run_id))]


def _confidence(memory: Memory, answer: PostedAnswer | None) -> float:
    """The confidence of the evidence for the whole message; 0 if none was weighed."""
    evidence = memory.audit.evidence(CHANNEL.workspace, answer.run_id) if answer is not None else None
    return evidence.confidence if evidence else 0.0


def _tool(label: Label) -> Tool:
    async def run(_: Mapping[str, object], __: ToolContext) -> str:
        return label.text

    return Tool(name=label.tool, description=label.words, parameters=object_schema({}), run=run)

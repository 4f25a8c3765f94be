"""Metrics: wrappers that count events, model calls, recalls and answers."""

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from bot.agent.tree import AgentTree, RunResult
from bot.conversation.answers.conversations import Conversations
from bot.errors import ModelError
from bot.model import ModelReply, ModelRequest, PersonEvent, PersonReaction
from bot.ports import EventSink, LanguageModel
from memory.errors import MemoryFault
from memory.model import Recollection, Termination
from memory.ports import Transaction
from memory.services import Memory
from memory.services.recall.recall import Recalling

if TYPE_CHECKING:
    from bot.adapters.web.metrics import Metrics

_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def make_metering(memory: Memory) -> "Metering | None":
    """The metering of this process; None if the library is not installed."""
    try:
        from bot.adapters.web.metrics import Metrics
    except ImportError:
        return None
    return Metering(Metrics(memory))


@dataclass(frozen=True, slots=True)
class Metering:
    """Wraps the bot's parts in counting ones."""

    metrics: "Metrics"

    def model(self, model: LanguageModel) -> LanguageModel:
        """The model, with its replies counted."""
        return MeteredModel(model, self.metrics)

    def recall(self, memory: Memory) -> None:
        """Count the memory's recalls from now on."""
        parts = {each.name: getattr(memory.recalling, each.name) for each in fields(Recalling)}
        memory.recalling = MeteredRecalling(**parts, metrics=self.metrics)

    def agent(self, tree: AgentTree) -> AgentTree:
        """The tree, with its answers counted."""
        parts = {each.name: getattr(tree, each.name) for each in fields(AgentTree)}
        return MeteredTree(**parts, metrics=self.metrics)

    def sink(self, sink: EventSink, platform: str) -> EventSink:
        """The sink, with its events counted."""
        events = self.metrics.events

        async def take(event: PersonEvent) -> None:
            events.labels(platform=platform, kind=_kind(event)).inc()
            await sink(event)

        return take

    def queue(self, conversations: Conversations) -> None:
        """Report the number of waiting messages when the metrics are read."""
        self.metrics.queue.set_function(lambda: conversations.waiting)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Count the errors that are logged within the context."""
        handler, root = self.metrics.log_handler(), logging.getLogger()
        root.addHandler(handler)
        try:
            yield
        finally:
            root.removeHandler(handler)


def _kind(event: PersonEvent) -> str:
    """The event's class in words, without its first one: `message`, `reaction`, `reaction_removed`."""
    if isinstance(event, PersonReaction) and not event.added:
        return "reaction_removed"
    return "_".join(_WORDS.sub(" ", type(event).__name__.removeprefix("Person")).lower().split())


@dataclass(frozen=True, slots=True)
class MeteredModel:
    """A language model whose replies, tokens, cost and refusals are counted."""

    _model: LanguageModel
    _metrics: "Metrics"

    @property
    def name(self) -> str:
        """The model's."""
        return self._model.name

    async def warm_up(self) -> None:
        """The model's own."""
        await self._model.warm_up()

    async def reply(self, request: ModelRequest) -> ModelReply:
        """One reply. Raises `ModelError`."""
        begun = time.perf_counter()
        try:
            reply = await self._model.reply(request)
        except ModelError as error:
            self._metrics.model_errors.labels(error=type(error).__name__).inc()
            raise
        self._metrics.model_seconds.labels(model=self._model.name).observe(time.perf_counter() - begun)
        usage = reply.usage
        self._metrics.tokens.labels(kind="prompt").inc(usage.prompt_tokens)
        self._metrics.tokens.labels(kind="completion").inc(usage.completion_tokens)
        self._metrics.cost.inc(usage.cost_usd)
        return reply

    async def close(self) -> None:
        """Give up connections."""
        await self._model.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeteredRecalling(Recalling):
    """The use case of recall, whose time and hits are counted."""

    metrics: "Metrics"

    def prepared(self, *args: Any, **kwargs: Any) -> Callable[[Transaction], Recollection]:  # noqa: ANN401 - the same
        """As the use case does. What it took to prepare counts too."""
        begun = time.perf_counter()
        recall = Recalling.prepared(self, *args, **kwargs)
        before = time.perf_counter() - begun

        def recalled(tx: Transaction) -> Recollection:
            begun = time.perf_counter()
            try:
                found = recall(tx)
            except MemoryFault:
                self.metrics.recalls.labels(result="failed").inc()
                raise
            self.metrics.recall_seconds.observe(before + time.perf_counter() - begun)
            self.metrics.recalls.labels(result="hit" if found.exemplars else "miss").inc()
            return found

        return recalled


@dataclass(frozen=True, slots=True, kw_only=True)
class MeteredTree(AgentTree):
    """An agent tree whose answers are counted by outcome."""

    metrics: "Metrics"

    async def run(self, *args: Any, **kwargs: Any) -> RunResult:  # noqa: ANN401 - whatever the tree takes
        """As the tree does. Raises `ModelError`."""
        begun = time.perf_counter()
        outcome = "cancelled"
        try:
            result = await AgentTree.run(self, *args, **kwargs)
            outcome = _outcome(result)
        except Exception:
            outcome = "failed"
            raise
        finally:
            self.metrics.answers.labels(outcome=outcome).inc()
            self.metrics.answer_seconds.observe(time.perf_counter() - begun)
        return result


def _outcome(result: RunResult) -> str:
    if result.asked:
        return "asked"
    if result.knows_nothing:
        return "unknown"
    return "answered" if result.termination is not Termination.ABORTED else "aborted"

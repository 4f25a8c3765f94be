"""The composition root: builds the objects that the settings name.

Heavy libraries are imported on first use, never for a command that does not need them.
"""

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.agent.tools.registry import ToolRegistry
from bot.app.wiring.models import make_model, make_rewriter
from bot.app.wiring.policies import emoji_map, retrieval_config, teaching_policy, upkeep_policy
from bot.app.wiring.startup import make_embedder, model_cache
from bot.app.wiring.tools import AgentTools, make_agent_tools
from bot.config import Settings
from bot.conversation.executor import Executor
from bot.errors import ConfigError
from bot.ports import EventSink, LanguageModel, Messenger
from memory.adapters.system import TimeOrderedIds, utc_now
from memory.model import ApprovalPolicy, ListeningMode
from memory.ports import Clock, Embedder, NewId, Store
from memory.rules.chat_settings import (
    ALLOWED_CHANNELS,
    ALLOWED_PEOPLE,
    APPROVALS,
    CONTROL_ARM,
    DIGEST,
    KNOWN_ANSWERS,
    LEARNED,
    MODE,
    OFF,
    ON,
    TEACHERS,
    names_of,
)
from memory.rules.evidence.posterior import EvidenceConfig
from memory.services import Memory

if TYPE_CHECKING:
    from bot.agent.run import Recall, Spans
    from bot.agent.tree import AgentTree
    from bot.app.wiring.metering import Metering
    from bot.conversation.answers.answering import Answering, RecordInProgress
    from bot.conversation.commands.settings_command import SettingsFile
    from bot.conversation.goodbot import Goodbot

log = logging.getLogger(__name__)


@contextmanager
def open_memory(settings: Settings, embedder: Embedder | None = None) -> Iterator[Memory]:
    """The memory on the configured database, with the configured embedder if none is given.

    Raises `StoreUnavailable`.
    """
    with open_store(settings) as store:
        yield make_memory(settings, store, embedder or make_embedder(settings), utc_now, TimeOrderedIds())


def make_memory(settings: Settings, store: Store, embedder: Embedder, clock: Clock, new_id: NewId) -> Memory:
    """The memory on an open database."""
    from memory.adapters.embedding import embedder_named
    from memory.adapters.secrets import FormatFinder

    cache = model_cache(settings)
    return Memory(
        store,
        embedder,
        clock=clock,
        new_id=new_id,
        policy=teaching_policy(settings),
        secrets=FormatFinder(),
        retrieval=retrieval_config(settings),
        evidence=EvidenceConfig(proposals=settings.recall.proposals),
        candidates=settings.recall.candidates,
        ledger_days=settings.teaching.ledger_days,
        guesses=settings.grading.model != "off",
        upkeep=upkeep_policy(settings),
        message_characters=settings.limits.message_characters,
        settable=names_of(settings.teaching.chat_settings),
        control_arm=settings.recall.control_arm,
        caps=settings.caps.caps,
        approvals=ApprovalPolicy(
            learned=settings.agent.approvals == LEARNED, waits=timedelta(minutes=settings.agent.approval_minutes)
        ),
        embedder_named=lambda name: embedder_named(name, cache),
    )


@contextmanager
def open_store(settings: Settings) -> Iterator[Store]:
    """The configured database, without starting memory. Raises `StoreUnavailable`."""
    from memory.adapters.sql import SqlStore

    with closing(SqlStore.open(settings.storage.database_url.get_secret_value())) as store:
        yield store


def make_agent(
    settings: Settings,
    memory: Memory,
    model: LanguageModel,
    recall: "Recall",
    tools: ToolRegistry,
    *,
    rewriter: LanguageModel | None = None,
) -> "AgentTree":
    """The agent tree with its budgets."""
    from bot.agent.run import Limits
    from bot.agent.tree import AgentTree

    agent = settings.agent
    return AgentTree(
        model=model,
        rewriter=rewriter,
        tools=tools,
        recall=recall,
        limits=Limits(
            max_depth=agent.max_depth,
            max_decisions=agent.max_decisions,
            max_seconds=agent.max_seconds,
            max_tokens=agent.max_tokens,
            max_cost_usd=agent.max_cost_usd,
        ),
        clock=memory.clock,
        monotonic=time.monotonic,
        new_id=memory.new_id,
        lessons_budget_tokens=settings.recall.lessons_budget_tokens,
        conversation_budget_tokens=settings.conversation.budget_tokens,
        tool_calls=settings.model.tool_calls,
        known_answers=settings.recall.known_answers,
        asks_first=model.name != "offline",
        spans=make_spans(settings),
    )


def make_spans(settings: Settings) -> "Spans":
    """The exporter of spans, if configured. Raises `ConfigError` without the library."""
    from bot.agent.run import no_spans

    if settings.tracing.spans == "off":
        return no_spans
    try:
        from bot.adapters.spans import OtelSpans
    except ImportError:
        raise ConfigError("tracing.spans needs another library: pip install 'goodbot[otel]'") from None
    return OtelSpans(with_texts=settings.tracing.spans == "texts")


def settings_file(settings: Settings) -> "SettingsFile":
    """The values in the settings file of the settings that may be changed in chat."""
    from bot.conversation.commands.settings_command import SettingsFile

    slack, discord = settings.slack, settings.discord
    return SettingsFile(
        values={
            MODE: settings.listening.mode,
            KNOWN_ANSWERS: ON if settings.recall.known_answers else OFF,
            DIGEST: settings.teaching.digest,
            CONTROL_ARM: f"{settings.recall.control_arm:g}",
            APPROVALS: settings.agent.approvals,
        },
        lists={
            ("slack", TEACHERS): slack.teachers,
            ("slack", ALLOWED_PEOPLE): slack.allowed_users,
            ("slack", ALLOWED_CHANNELS): slack.allowed_channels,
            ("discord", TEACHERS): discord.teachers,
            ("discord", ALLOWED_PEOPLE): discord.allowed_people,
            ("discord", ALLOWED_CHANNELS): discord.allowed_channels,
        },
        is_offline=settings.model.name == "offline",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The assembled bot."""

    goodbot: "Goodbot"
    answering: "Answering"
    executor: Executor
    models: tuple[LanguageModel, ...]
    warm_up: "asyncio.Task[None]"
    agent_tools: AgentTools
    metering: "Metering | None" = None

    def sink(self, messenger: Messenger) -> EventSink:
        """The function a messenger calls with each event."""
        self.agent_tools.messengers[messenger.platform] = messenger
        sink = self.goodbot.sink(messenger)
        return sink if self.metering is None else self.metering.sink(sink, messenger.platform)

    async def close(self) -> None:
        """Stop running answers, which the next start finishes, and release everything in reverse order."""
        self.goodbot.shut_down()
        await self.goodbot.idle()
        self.warm_up.cancel()
        for model in self.models:
            await model.close()
        await self.agent_tools.close()
        self.executor.close()


async def _warm_up(memory: Memory, executor: Executor, model: LanguageModel) -> None:
    try:
        await executor(memory.embedder.embed, ["ready?"])
        await executor(memory.core.redactor.text, "ready?")
        await model.warm_up()
    except Exception as error:  # noqa: BLE001 - a job boundary: the first message meets the same fault and says so
        log.error("warming up failed: %s", error)


def _make_goodbot(settings: Settings, memory: Memory, executor: Executor, answering: "Answering") -> "Goodbot":
    from bot.conversation.goodbot import Goodbot

    teaching, listening = settings.teaching, settings.listening
    return Goodbot(
        memory=memory,
        executor=executor,
        answering=answering,
        emoji=emoji_map(settings),
        new_id=memory.new_id,
        mode=ListeningMode(listening.mode),
        mute_emoji=teaching.emoji_mute,
        welcomes=listening.welcome == "on",
        save_emoji=teaching.emoji_save,
        digest_to=teaching.digest,
        settings_file=settings_file(settings),
    )


def _make_answering(
    settings: Settings,
    memory: Memory,
    executor: Executor,
    agent: "AgentTree",
    rewriter: LanguageModel,
    warm_up: "asyncio.Task[None]",
    record_in_progress: "RecordInProgress | None",
) -> "Answering":
    from bot.conversation.answers.answering import Answering, without_crash_report
    from bot.conversation.answers.background import BackgroundConfig
    from bot.conversation.answers.live_answers import LiveAnswers
    from bot.conversation.feedback.feedback_reader import ModelReader, by_rule

    is_offline = agent.model.name == "offline"
    return Answering(
        memory=memory,
        executor=executor,
        agent=agent,
        new_id=memory.new_id,
        warm_up=warm_up,
        record_in_progress=record_in_progress or without_crash_report,
        background=BackgroundConfig(
            pause=timedelta(hours=settings.conversation.pause_hours),
            others=settings.conversation.others,
            seconds=settings.agent.max_seconds,
        ),
        read_feedback=by_rule if rewriter.name == "offline" else ModelReader(rewriter),
        follows_style=not is_offline,
        live_answers=None if is_offline else LiveAnswers(memory, executor),
    )


def assemble(
    settings: Settings,
    memory: Memory,
    record_in_progress: "RecordInProgress | None" = None,
    *,
    model: LanguageModel | None = None,
    tools: ToolRegistry | None = None,
    metering: "Metering | None" = None,
) -> Running:
    """Build the bot on the running event loop and begin to load slow parts in the background.

    `model` and `tools` replace those of the settings. With `metering` their use is counted.
    """
    from bot.conversation.answers.background import MemoryRecall

    executor = Executor()
    model = model or make_model(settings, memory.embedder)
    rewriter = make_rewriter(settings, memory.embedder, model)
    if metering is not None:
        metering.recall(memory)
        metered = {each.name: metering.model(each) for each in (rewriter, model)}
        model, rewriter = metered[model.name], metered[rewriter.name]
    agent_tools = make_agent_tools(settings, memory, executor) if tools is None else AgentTools(tools=tools)
    agent = make_agent(settings, memory, model, MemoryRecall(memory, executor), agent_tools.tools, rewriter=rewriter)
    if metering is not None:
        agent = metering.agent(agent)
    warm_up = asyncio.create_task(_warm_up(memory, executor, model))
    answering = _make_answering(settings, memory, executor, agent, rewriter, warm_up, record_in_progress)
    goodbot = _make_goodbot(settings, memory, executor, answering)
    if metering is not None:
        metering.queue(goodbot.conversations)
    return Running(
        goodbot=goodbot,
        answering=answering,
        executor=executor,
        models=(model, rewriter),
        warm_up=warm_up,
        agent_tools=agent_tools,
        metering=metering,
    )

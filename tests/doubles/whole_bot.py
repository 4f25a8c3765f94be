"""The bot as it runs, on a database file: conversation, offline model and memory behind a connected messenger."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bot.app.wiring.build import Running, assemble, open_memory
from bot.config import load_settings
from bot.model import PersonEvent
from bot.ports import EventSink, Messenger
from memory.model import Incoming, Progress
from memory.ports import EpisodeFilter
from memory.services import Memory
from tests.doubles import discord_driver, slack_driver
from tests.doubles.discord import DiscordServer
from tests.doubles.slack import SlackServer

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class WholeBot:
    """A running bot."""

    running: Running
    memory: Memory
    messenger: Messenger

    async def idle(self) -> None:
        """Until nothing is being answered."""
        await self.running.goodbot.idle()

    async def redeliver(self) -> int:
        """What the running bot does every minute."""
        count = await self.running.goodbot.recovery.redeliver(self.messenger)
        await self.idle()
        return count

    def unfinished(self) -> list[Progress]:
        """How far the messages are that are not done with."""
        return [left.incoming.progress for left in self.memory.recording.unfinished()]

    def message(self, workspace: str, event_id: str) -> Incoming | None:
        """An accepted message."""
        with self.memory.store.read() as tx:
            return tx.deliveries.incoming(workspace, event_id)

    def votes(self, workspace: str) -> list[tuple[str, int]]:
        """Who holds which vote on any answer."""
        roots = self.memory.audit.episodes(workspace, EpisodeFilter(roots_only=True, limit=None))
        return [
            (vote.actor, vote.value)
            for root in roots
            for vote in self.memory.audit.run(workspace, root.run_id).votes
            if vote.value
        ]

    def approved(self, workspace: str) -> list[str]:
        """The questions whose answers are lessons."""
        roots = self.memory.audit.episodes(workspace, EpisodeFilter(roots_only=True, limit=None))
        return [root.goal for root in roots if root.verdict.is_validated]


@dataclass(frozen=True, kw_only=True)
class SlackBot(WholeBot):
    """The bot in the local Slack."""

    session: slack_driver.Session

    async def settled(self) -> None:
        """Until everything that happened is taken in and answered."""
        await self.session.settled()
        await self.idle()


@dataclass(frozen=True, kw_only=True)
class DiscordBot(WholeBot):
    """The bot in the local Discord."""

    session: discord_driver.Session

    async def settled(self) -> None:
        """Until everything that happened is taken in and answered, last of all a command in a channel of its own."""
        session, server = self.session, self.session.server
        marker = session.asks("help", channel=server.channel(session.guild, "marker"))
        await server.until(lambda: server.said(marker.channel_id))
        if session.messenger._context:
            await session.messenger._context.tasks.finished()
        await self.idle()
        server.deletes(*server.messages(marker.channel_id))


@asynccontextmanager
async def _assembled(
    folder: Path, more: Mapping[str, str]
) -> AsyncIterator[tuple[Memory, Running, EventSink, "asyncio.Future[EventSink]"]]:
    environment = {
        "DATABASE_URL": f"sqlite:///{folder / 'goodbot.db'}",
        "GOODBOT_LOG_FILE": str(folder / "goodbot.log"),
        "GOODBOT_EMBEDDER_NAME": "hashing",
        **more,
    }
    settings = load_settings(environment, config_path=None, cwd=folder, data_dir=folder)
    with open_memory(settings) as memory:
        running = assemble(settings, memory)
        # Its libraries are imported first, which takes longer on a busy machine than an answer may.
        await asyncio.wait({running.warm_up})
        ready: asyncio.Future[EventSink] = asyncio.get_running_loop().create_future()

        async def sink(event: PersonEvent) -> None:
            await (await ready)(event)

        try:
            yield memory, running, sink, ready
        finally:
            await running.close()
        assert memory.audit.check() == []


@asynccontextmanager
async def slack_bot(
    server: SlackServer, folder: Path, environment: Mapping[str, str] = _NOTHING, **more: Any
) -> AsyncIterator[SlackBot]:
    """Connected to Slack; entering it again in the same folder is the next start. `environment` has settings."""
    async with (
        _assembled(folder, environment) as (memory, running, sink, ready),
        slack_driver.connected(server, sink=sink, queries=running.goodbot.queries(), **more) as session,
    ):
        await running.goodbot.recovery.resume(session.messenger)
        ready.set_result(running.sink(session.messenger))
        yield SlackBot(running=running, memory=memory, messenger=session.messenger, session=session)
        await running.goodbot.idle()


@asynccontextmanager
async def discord_bot(
    server: DiscordServer, folder: Path, environment: Mapping[str, str] = _NOTHING, **more: Any
) -> AsyncIterator[DiscordBot]:
    """Connected to Discord; entering it again in the same folder is the next start. `environment` has settings."""
    async with (
        _assembled(folder, environment) as (memory, running, sink, ready),
        discord_driver.connected(server, sink=sink, queries=running.goodbot.queries(), **more) as session,
    ):
        await running.goodbot.recovery.resume(session.messenger)
        ready.set_result(running.sink(session.messenger))
        yield DiscordBot(running=running, memory=memory, messenger=session.messenger, session=session)
        await running.goodbot.idle()

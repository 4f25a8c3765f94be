"""The Discord messenger connected to the local stand-in, for tests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from pydantic import SecretStr

from bot.adapters.discord.messenger import DiscordMessenger
from bot.config import DiscordSettings
from bot.model import BotMessage, MessageRef, PersonEvent
from bot.ports import ConversationQueries, EventSink
from memory.adapters.system import utc_now
from tests.bot.adapters.messenger_contract import Heard, taking_in
from tests.doubles.discord import Channel, DiscordServer, Guild, Message, Person
from tests.doubles.discord.client import redirected
from tests.doubles.queries import QUERIES
from tests.doubles.sleep import Naps


def discord_settings(server: DiscordServer, **more: Any) -> DiscordSettings:
    """Settings that point at the stand-in."""
    known = {"token": SecretStr(server.token), "api_url": server.api_url, "identify_pause_s": 0.0}
    return DiscordSettings(**{**known, **more})


def make_messenger(
    server: DiscordServer,
    *,
    naps: Naps | None = None,
    queries: ConversationQueries = QUERIES,
    **settings: Any,
) -> DiscordMessenger:
    """A messenger that is not connected yet."""
    numbers = count(1)
    return DiscordMessenger(
        discord_settings(server, **settings),
        clock=utc_now,
        new_id=lambda: f"id-{id(numbers)}-{next(numbers)}",
        queries=queries,
        sleep=naps or Naps(),
    )


@dataclass
class Session:
    """A connected messenger, what it heard, and a server with a channel and a person."""

    server: DiscordServer
    messenger: DiscordMessenger
    heard: Heard
    guild: Guild
    general: Channel
    ana: Person
    markers: set[str] = field(default_factory=set)

    @property
    def workspace(self) -> str:
        return f"discord:{self.guild.id}"

    def answer(
        self, text: str = "Paris.", *, channel: Channel | None = None, thread: str = "", **more: Any
    ) -> BotMessage:
        """An answer of the bot; in a DM when `channel` is one."""
        where = channel or self.general
        workspace = f"discord:{where.guild_id}" if where.guild_id else "discord:dm"
        known = {"workspace": workspace, "channel": where.id, "text": text, "thread": thread, "is_answer": True}
        return BotMessage(**{**known, **more})

    async def posted(self, text: str = "Paris.", **more: Any) -> MessageRef:
        """The bot posts an answer."""
        return await self.messenger.post(self.answer(text, **more))

    def asks(self, text: str = "capital of France?", *, person: Person | None = None, **more: Any) -> Message:
        """A person mentions the bot in the channel."""
        channel = more.pop("channel", self.general)
        return self.server.says(person or self.ana, channel, f"{self.server.bot.mention} {text}", **more)

    async def settled(self) -> list[PersonEvent]:
        """What was heard, once everything that had happened before is taken in."""
        marker = self.asks("are we there yet?", channel=self.server.channel(self.guild, "marker"))
        async with asyncio.timeout(10), self.heard._more:
            await self.heard._more.wait_for(lambda: any(event.event_id == marker.id for event in self.heard.events))
        if self.messenger._context:
            await self.messenger._context.tasks.finished()
        self.markers.add(marker.id)
        return [event for event in self.heard.events if event.event_id not in self.markers]


@asynccontextmanager
async def connected(
    server: DiscordServer, *, sink: EventSink | None = None, heard: Heard | None = None, **more: Any
) -> AsyncIterator[Session]:
    """A connected messenger, closed at the end. `more` are settings, `naps` and `queries`."""
    guild = next(iter(server.state.guilds.values()), None) or server.guild("Home")
    there = [one for one in server.state.channels_of(guild.id) if one.name == "general"]
    general = there[0] if there else server.channel(guild, "general")
    ana = server.person("ana", guild)
    heard = heard or Heard()
    messenger = make_messenger(server, **more)
    with redirected(server.api_url):
        async with taking_in(messenger, sink or heard) as task:
            await server.until(lambda: server.is_connected(server.shards) or task.done())
            if task.done():
                task.result()
            yield Session(server, messenger, heard, guild, general, ana)

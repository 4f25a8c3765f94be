"""Several messengers of one bot, as in several processes: each hears the servers of the shards that it holds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import count

import pytest
from hypothesis import given, strategies as st

from bot.adapters.discord.client import HeldShards
from bot.adapters.discord.messenger import DiscordMessenger
from bot.model import BotMessage, PersonMessage
from memory.adapters.system import utc_now
from tests.bot.adapters.messenger_contract import Heard
from tests.doubles.discord import Channel, DiscordServer, Guild
from tests.doubles.discord.client import redirected
from tests.doubles.discord.ids import shard_of
from tests.doubles.discord_driver import connected, discord_settings
from tests.doubles.queries import QUERIES
from tests.doubles.sleep import Naps


async def at_once(bucket: int) -> None:
    """Nobody else begins a session."""


@dataclass
class Pair:
    """Two messengers, and a channel on each of two shards."""

    server: DiscordServer
    messengers: list[DiscordMessenger]
    heard: list[Heard]
    channels: list[Channel]

    def hold(self, *shards: set[int]) -> None:
        """What each messenger is told to hold."""
        for messenger, held in zip(self.messengers, shards, strict=True):
            messenger.hold(frozenset(held), at_once)

    async def until_held(self, *shards: int) -> None:
        """Until these have sessions, and no others."""
        await self.server.until(
            lambda: sorted(session.shard[0] for session in self.server.gateway.live()) == list(shards)
        )

    def asks(self, shard: int, text: str) -> str:
        """Ana asks in the server of a shard."""
        channel = self.channels[shard]
        ana = self.server.person("ana", self.server.state.guilds[channel.guild_id])
        return self.server.says(ana, channel, f"{self.server.bot.mention} {text}").id


def guild_on(server: DiscordServer, shard: int) -> Guild:
    made = (server.guild(f"Guild {number}") for number in count())
    return next(each for each in made if shard_of(each.id, 2) == shard)


async def shards_known_to(messenger: DiscordMessenger) -> set[int]:
    """The shards of the servers that a messenger knows of, once what it gave up is over."""
    assert messenger._context is not None
    assert messenger._held_shards is not None
    await asyncio.gather(*messenger._held_shards._ending)
    return {guild.shard_id for guild in messenger._context.client.guilds}


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(DiscordServer())
        stack.enter_context(redirected(server.api_url))
        channels = [server.channel(guild_on(server, shard), "general") for shard in range(2)]
        heard, numbers = [Heard(), Heard()], count()
        messengers = [
            DiscordMessenger(
                discord_settings(server, shards=2),
                clock=utc_now,
                new_id=lambda: f"id-{next(numbers)}",
                queries=QUERIES,
                sleep=Naps(),
                shares_shards=True,
            )
            for _ in range(2)
        ]
        running = [asyncio.ensure_future(each.run(sink)) for each, sink in zip(messengers, heard, strict=True)]
        await asyncio.gather(*(each._logged_in.wait() for each in messengers))
        yield Pair(server, messengers, heard, channels)
        for each in messengers:
            await each.close()
        await asyncio.gather(*running)


async def test_each_hears_the_servers_of_its_shards_and_speaks_in_all(pair: Pair) -> None:
    pair.hold({0}, {1})
    await pair.until_held(0, 1)
    questions = [pair.asks(shard, f"on {shard}") for shard in range(2)]
    for shard, heard in enumerate(pair.heard):
        [event] = await heard.of(PersonMessage, 1)
        assert event.event_id == questions[shard]
    for messenger, channel in zip(pair.messengers, reversed(pair.channels), strict=True):
        workspace = f"discord:{channel.guild_id}"
        await messenger.post(BotMessage(workspace=workspace, channel=channel.id, text="Paris.", is_answer=True))
        assert [each.content for each in pair.server.said(channel)] == ["Paris."]
    assert all(each.answers_everywhere for each in pair.messengers)


async def test_direct_messages_are_heard_by_who_holds_shard_0(pair: Pair) -> None:
    pair.hold({1}, {0})
    await pair.until_held(0, 1)
    ana = pair.server.person("ana")
    pair.server.says(ana, pair.server.dm(ana), "hello")
    [event] = await pair.heard[1].of(PersonMessage, 1)
    assert event.text == "hello"


async def test_what_another_gave_up_is_heard_and_what_was_missed_is_caught_up_on(pair: Pair) -> None:
    pair.hold({0, 1}, set())
    await pair.until_held(0, 1)
    pair.asks(1, "first")
    await pair.heard[0].of(PersonMessage, 1)
    pair.hold({0}, set())
    await pair.until_held(0)
    assert await shards_known_to(pair.messengers[0]) == {0}, "what it no longer hears of it forgets"
    missed = pair.asks(1, "missed")
    pair.hold({0}, {1})
    await pair.until_held(0, 1)
    events = await pair.heard[1].of(PersonMessage, 2)
    assert [event.event_id for event in events if event.is_late][-1] == missed
    asked = pair.asks(1, "now")
    await pair.heard[1].of(PersonMessage, 3)
    assert pair.heard[1].events[-1].event_id == asked
    assert len(pair.heard[0].events) == 1


async def test_only_the_servers_of_a_shard_that_begins_are_caught_up_on(pair: Pair) -> None:
    for shard in range(2):
        pair.asks(shard, f"before, on {shard}")
    for held in ({0}, {0, 1}):
        pair.hold(held, set())
        await pair.until_held(*held)
        await pair.heard[0].of(PersonMessage, len(held))
    read = [len(pair.server.calls(f"GET /channels/{channel.id}/messages")) for channel in pair.channels]
    assert read == [1, 1]


async def test_each_session_waits_for_its_turn(pair: Pair) -> None:
    buckets: list[int] = []

    async def turn(bucket: int) -> None:
        buckets.append(bucket)

    pair.messengers[0].hold(frozenset({0, 1}), turn)
    await pair.until_held(0, 1)
    assert buckets == [0, 0], "Discord's one bucket"


async def test_a_session_may_begin_again_after_it_was_given_up(pair: Pair) -> None:
    for _ in range(2):
        pair.hold({1}, set())
        await pair.until_held(1)
        pair.hold(set(), set())
        await pair.until_held()
    pair.hold({1}, set())
    await pair.until_held(1)
    pair.asks(1, "still there?")
    assert (await pair.heard[0].of(PersonMessage, 1))[0].text == "still there?"


async def test_one_process_has_all_shards_where_they_are_not_shared() -> None:
    async with DiscordServer() as server, connected(server, shards=2) as session:
        await server.until(lambda: server.is_connected(2))
        for shard in range(2):
            guild = guild_on(server, shard)
            server.person("ana", guild)
            session.asks(f"on {shard}", channel=server.channel(guild, "talk"))
        assert {event.text for event in await session.heard.of(PersonMessage, 2)} == {"on 0", "on 1"}
    assert sorted(each["shard"] for each in server.identifies()) == [[0, 2], [1, 2]]


class Sessions:
    """A client whose sessions begin at once."""

    def __init__(self) -> None:
        self.open_shards = frozenset[int]()

    async def begin_shard(self, shard: int) -> None:
        self.open_shards |= {shard}

    async def end_shard(self, shard: int) -> None:
        self.open_shards -= {shard}


@given(st.lists(st.frozensets(st.integers(0, 5))), st.integers(0, 8), st.frozensets(st.integers(0, 5)))
def test_sessions_are_in_the_end_those_that_are_held(
    wanted: list[frozenset[int]], opened_after: int, resumed: frozenset[int]
) -> None:
    async def run() -> None:
        held, client = HeldShards(), Sessions()
        for number, shards in enumerate(wanted):
            if number == opened_after:
                held.open(client)
            held.hold(shards)
        if opened_after >= len(wanted):
            held.open(client)
        await asyncio.sleep(0)
        client.open_shards |= resumed
        held.hold(held.shards)
        await asyncio.sleep(0)
        assert client.open_shards == held.shards

    asyncio.run(run())

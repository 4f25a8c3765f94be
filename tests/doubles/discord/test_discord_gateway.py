"""Connections that end, resume, fall silent, repeat themselves: through the real discord.py."""

import asyncio
import os
import subprocess
import sys
from datetime import timedelta
from itertools import count

import pytest

from memory.adapters.system import utc_now
from tests import CHECKOUT
from tests.doubles.discord.breaking import backwards
from tests.doubles.discord.client import USED_INTENTS, Client, connected, redirected
from tests.doubles.discord.ids import shard_of
from tests.doubles.discord.library import discord
from tests.doubles.discord.model import Channel, Intent, Person
from tests.doubles.discord.server import DiscordServer


async def test_close_4000_is_resumed_and_nothing_is_lost(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    server.says(ana, general, f"{server.bot.mention} before")
    await client.hears("message")
    server.closes_gateway(4000)
    server.says(ana, general, f"{server.bot.mention} meanwhile")
    await client.hears("resumed")
    server.says(ana, general, f"{server.bot.mention} after")
    heard = await client.hears("message", 3)

    assert [message.content.split()[-1] for message in heard] == ["before", "meanwhile", "after"]
    assert (len(server.identifies()), server.resumes()) == (1, 1)
    assert len(server.calls("WS /gateway/resume")) == 1


async def test_op_7_is_followed_by_a_resume(server: DiscordServer, client: Client, ana: Person) -> None:
    server.asks_to_reconnect()
    server.says(ana, server.dm(ana), "hello")
    [message] = await client.hears("message")
    await server.until(lambda: server.resumes() == 1)
    assert message.content == "hello"


async def test_op_9_is_followed_by_a_new_identify_at_the_default_gateway(
    server: DiscordServer, client: Client, ana: Person
) -> None:
    server.invalidates_sessions()
    await server.until(lambda: len(server.identifies()) == 2)
    server.says(ana, server.dm(ana), "hello")
    [message] = await client.hears("message")

    assert message.content == "hello"
    assert server.resumes() == 0
    assert [call.path for call in server.calls("WS /**")] == ["/gateway", "/gateway"]


async def test_op_9_may_allow_a_resume(server: DiscordServer, client: Client) -> None:
    server.invalidates_sessions(resumable=True)
    await client.hears("resumed")
    assert len(server.identifies()) == 1


async def test_what_happens_while_a_session_cannot_be_resumed_is_lost(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    server.forgets_sessions()
    server.cuts_gateway()
    lost = server.says(ana, general, f"{server.bot.mention} lost")
    await server.until(lambda: len(server.identifies()) == 2)
    after = server.says(ana, general, f"{server.bot.mention} after")
    [message] = await client.hears("message")
    history = [found.id async for found in client.get_partial_messageable(int(general.id)).history()]

    assert message.id == int(after.id)
    assert server.resumes() == 0
    assert history == [int(after.id), int(lost.id)]


async def test_a_connection_cut_without_a_word_is_resumed(server: DiscordServer, client: Client, ana: Person) -> None:
    server.cuts_gateway()
    server.says(ana, server.dm(ana), "hello")
    await client.hears("message")
    assert server.resumes() == 1


async def test_a_silent_connection_is_given_up_and_resumed(server: DiscordServer, ana: Person) -> None:
    async with connected(server, Client(heartbeat_timeout=0.2)) as client:
        server.falls_silent()
        server.says(ana, server.dm(ana), "hello")
        [message] = await client.hears("message")
    assert message.content == "hello"
    assert server.resumes() >= 1


async def test_the_same_event_three_times(server: DiscordServer, client: Client, ana: Person) -> None:
    server.repeats_events(3)
    server.says(ana, server.dm(ana), "one")
    server.says(ana, server.dm(ana), "two")
    heard = await client.hears("message", 4)
    assert [message.content for message in heard] == ["one", "one", "one", "two"]
    assert len({message.id for message in heard}) == 2


async def test_events_out_of_order(server: DiscordServer, client: Client, ana: Person) -> None:
    server.holds_events()
    asked = server.says(ana, server.dm(ana), "hello")
    server.reacts(ana, asked, "👍")
    server.unreacts(ana, asked, "👍")
    server.lets_events_go(backwards)
    await client.hears("message")
    seen = [name for name, _ in client.heard if name in ("message", "raw_reaction_add", "raw_reaction_remove")]
    assert seen == ["raw_reaction_remove", "raw_reaction_add", "message"]


async def test_an_event_again_after_a_resume(server: DiscordServer, client: Client, ana: Person) -> None:
    server.says(ana, server.dm(ana), "hello")
    await client.hears("message")
    server.replays_again(1)
    server.closes_gateway(4000)
    first, again = await client.hears("message", 2)
    assert first.id == again.id


async def test_an_event_again_after_a_restart(server: DiscordServer, ana: Person) -> None:
    async with connected(server, Client()) as before:
        server.says(ana, server.dm(ana), "hello")
        await before.hears("message")
    async with connected(server, Client()) as after:
        server.redelivers("MESSAGE_CREATE", times=2)
        first, second = await after.hears("message", 2)
    assert first.id == second.id
    assert len(server.identifies()) == 2


async def test_two_shards_share_the_guilds() -> None:
    # A guild's shard is chosen by the millisecond it was made in.
    milliseconds = count()
    start = utc_now()
    async with DiscordServer(shards=2, clock=lambda: start + timedelta(milliseconds=next(milliseconds))) as server:
        guilds = [server.guild(f"guild {number}") for number in range(9)]
        ana = server.person("ana", *guilds)
        async with connected(server, Client()) as client:
            for guild in guilds:
                server.says(ana, server.channel(guild), server.bot.mention)
            server.says(ana, server.dm(ana), "in private")
            heard = await client.hears("message", 10)
    assert sorted(identify["shard"] for identify in server.identifies()) == [[0, 2], [1, 2]]
    assert {message.guild.shard_id for message in heard if message.guild} == {0, 1}
    assert [m.guild.shard_id for m in heard if m.guild] == [shard_of(str(m.guild.id), 2) for m in heard if m.guild]


async def test_a_wrong_token_is_refused_at_login(server: DiscordServer) -> None:
    with redirected(server.api_url):
        client = Client()
        with pytest.raises(discord.LoginFailure):
            await client.start("wrong")
        await client.close()


async def test_a_revoked_token_ends_the_connection_for_good(
    server: DiscordServer, general: Channel, ana: Person
) -> None:
    with redirected(server.api_url):
        client = Client()
        running = asyncio.create_task(client.start(server.token))
        await server.until(server.is_connected)
        server.revokes_token()
        with pytest.raises(discord.ConnectionClosed) as closed:
            await running
        await client.close()
    assert closed.value.code == 4004


async def test_a_privileged_intent_must_be_granted(server: DiscordServer) -> None:
    intents = discord.Intents(USED_INTENTS.value)
    intents.message_content = True
    with redirected(server.api_url):
        client = Client(intents)
        with pytest.raises(discord.PrivilegedIntentsRequired):
            await client.start(server.token)
        await client.close()
    assert server.identifies() == []


async def test_an_intent_that_does_not_exist_is_refused(server: DiscordServer) -> None:
    intents = discord.Intents(USED_INTENTS.value)
    intents.value |= 1 << 30
    with redirected(server.api_url):
        client = Client(intents)
        with pytest.raises(discord.ConnectionClosed) as closed:
            await client.start(server.token)
        await client.close()
    assert closed.value.code == 4013


async def test_without_an_intent_its_events_are_not_heard(server: DiscordServer, general: Channel, ana: Person) -> None:
    async with connected(server, Client(discord.Intents(guilds=True, dm_messages=True))) as client:
        server.says(ana, general, server.bot.mention)
        direct = server.says(ana, server.dm(ana), "hello")
        server.reacts(ana, direct, "👍")
        server.says(ana, server.dm(ana), "again")
        await client.hears("message", 2)
    assert [message.content for message in client.all_of("message")] == ["hello", "again"]
    assert client.all_of("raw_reaction_add") == []


# without a loop, and from another process


def test_a_bot_in_another_process_is_driven_without_a_loop() -> None:
    with DiscordServer() as server:
        guild = server.guild()
        general, ana = server.channel(guild), server.person("ana", guild)
        environment = {**os.environ, "DISCORD_API_URL": server.api_url, "DISCORD_TOKEN": server.token}
        command = [sys.executable, "-m", "tests.doubles.discord.echo_bot"]
        bot = subprocess.Popen(command, env=environment, cwd=CHECKOUT)
        try:
            server.wait_for(server.is_connected, timeout_s=30)
            asked = server.says(ana, general, f"{server.bot.mention} hello")
            [answer] = server.wait_for(lambda: server.said(general))
        finally:
            bot.kill()
            bot.wait()
        server.wait_for(lambda: not server.is_connected())
    assert answer.content == f"echo: {server.bot.mention} hello"
    assert answer.reply_to == asked.id


async def test_a_server_in_its_own_thread_serves_a_test_with_a_loop() -> None:
    with DiscordServer() as server:
        ana = server.person("ana")
        async with connected(server, Client()) as client:
            server.says(ana, server.dm(ana), "hello")
            [message] = await client.hears("message")
            await message.channel.send("hi")
            said = await server.until(lambda: server.said(server.dm(ana)))
    assert [message.content for message in said] == ["hi"]


async def test_what_never_happens_is_told_with_the_latest_calls(server: DiscordServer, client: Client) -> None:
    with pytest.raises(AssertionError, match="GET /gateway/bot -> 200"):
        await server.until(lambda: False, timeout_s=0)
    assert Intent.MESSAGE_CONTENT not in Intent(server.identifies()[0]["intents"])

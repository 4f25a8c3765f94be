"""Calls that fail: through the real discord.py."""

import asyncio

import aiohttp
import pytest

from tests.doubles.discord.client import Client, redirected
from tests.doubles.discord.faults import Hang, LostAnswer, Reset, failing, rate_limited, refusing
from tests.doubles.discord.journal import matches
from tests.doubles.discord.library import discord
from tests.doubles.discord.model import Channel
from tests.doubles.discord.server import DiscordServer

POSTS = "POST /channels/*/messages"


@pytest.fixture
def channel(client: Client, general: Channel) -> discord.PartialMessageable:
    return client.get_partial_messageable(int(general.id))


@pytest.mark.parametrize("is_global", [False, True])
async def test_a_rate_limit_is_waited_out(
    server: DiscordServer, channel: discord.PartialMessageable, general: Channel, is_global: bool
) -> None:
    server.fault("*" if is_global else POSTS, rate_limited(0.001, is_global=is_global), times=2)
    await channel.send("hello")
    assert [call.status for call in server.calls(POSTS)] == [429, 429, 200]
    assert len(server.said(general)) == 1
    assert len(server.invalid_calls()) == 2


async def test_a_ban_by_cloudflare_is_not(server: DiscordServer, channel: discord.PartialMessageable) -> None:
    server.fault(POSTS, rate_limited(0.001, by_cloudflare=True))
    with pytest.raises(discord.HTTPException) as banned:
        await channel.send("hello")
    assert (banned.value.status, len(server.calls(POSTS))) == (429, 1)


async def test_a_server_error_and_any_of_discord_s_own(
    server: DiscordServer, channel: discord.PartialMessageable, general: Channel
) -> None:
    server.fault(POSTS, failing(503))
    server.fault(POSTS, refusing(50013))
    server.fault(POSTS, refusing(99999, 418, "teapot"))
    with pytest.raises(discord.DiscordServerError):
        await channel.send("one")
    with pytest.raises(discord.Forbidden) as forbidden:
        await channel.send("two")
    with pytest.raises(discord.HTTPException, match="teapot") as other:
        await channel.send("three")
    await channel.send("four")

    assert (forbidden.value.code, other.value.code) == (50013, 99999)
    assert [message.content for message in server.said(general)] == ["four"]


async def test_a_call_hangs_until_it_is_released(
    server: DiscordServer, channel: discord.PartialMessageable, general: Channel
) -> None:
    hanging = server.fault(POSTS, Hang())
    sending = asyncio.create_task(channel.send("hello"))
    await server.until(lambda: hanging.hits)
    [call] = server.calls(POSTS)
    waiting = (call.status, sending.done(), server.said(general))
    server.release(hanging)
    await sending

    assert waiting == (None, False, [])
    assert call.status == 200
    assert len(server.said(general)) == 1


async def test_a_reset_does_nothing_and_a_lost_answer_has_done_it(
    server: DiscordServer, channel: discord.PartialMessageable, general: Channel
) -> None:
    server.fault(POSTS, Reset())
    with pytest.raises(aiohttp.ClientOSError):
        await channel.send("reset")
    server.fault(POSTS, LostAnswer())
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await channel.send("lost", nonce="n1")
    again = await channel.send("lost", nonce="n1")
    [stands] = server.said(general)

    assert (stands.content, stands.id) == ("lost", str(again.id))
    assert [(call.status, call.seen) for call in server.calls(POSTS)] == [(None, False), (None, True), (200, True)]


async def test_only_the_route_named_fails_until_cleared(
    server: DiscordServer, client: Client, channel: discord.PartialMessageable, general: Channel
) -> None:
    fault = server.fault("PUT /channels/*/messages/*/reactions/🧠/@me", refusing(50013), times=None)
    message = await channel.send("hello")
    for _ in range(2):
        with pytest.raises(discord.Forbidden):
            await message.add_reaction("🧠")
    await message.add_reaction("👍")
    server.clear_faults()
    await message.add_reaction("🧠")

    assert fault.hits == 2
    assert server.marks(str(message.id)) == ["👍", "🧠"]


async def test_a_connection_to_the_gateway_can_be_refused(server: DiscordServer, client: Client) -> None:
    refused = server.fault("WS /gateway/resume", failing(502))
    server.closes_gateway(4000)
    await server.until(lambda: refused.hits == 1)
    assert not server.is_connected()


async def test_the_end_of_the_server_ends_what_hangs() -> None:
    async with DiscordServer() as server:
        hanging = server.fault("GET /users/@me", Hang())
        with redirected(server.api_url):
            client = Client()
            login = asyncio.create_task(client.login(server.token))
            await server.until(lambda: hanging.hits)
    with pytest.raises(aiohttp.ClientError):
        await login
    await client.close()


def test_routes_are_matched_by_segment() -> None:
    assert matches("POST /channels/*/messages", "POST", "/channels/1/messages")
    assert not matches("POST /channels/*/messages", "POST", "/channels/1/messages/2")
    assert not matches("POST /channels/*/messages", "GET", "/channels/1/messages")
    assert matches("* /channels/**", "GET", "/channels/1/messages/2")
    assert matches("*", "GET", "/anything")

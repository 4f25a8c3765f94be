"""What the stand-in can do to an app: lost and repeated deliveries, broken connections, failing calls."""

import asyncio
from typing import Any

import pytest
from aiohttp import ClientConnectionError
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncConnectionErrorRetryHandler
from slack_sdk.http_retry.builtin_interval_calculators import FixedValueRetryIntervalCalculator

from tests.doubles.slack import ConnectionReset, Hang, RateLimited, Refused, ResponseLost, ServerBroken, SlackServer
from tests.doubles.slack.bolt_app import Recorder, connected, web_client
from tests.doubles.slack.core import CLIENT_ID, CLIENT_SECRET


async def test_events_wait_until_somebody_is_connected(server: SlackServer) -> None:
    heard, ana = Recorder(server), server.person("ana")
    ana.says(ana.dm, "too early")
    assert [delivery.event_type for delivery in server.deliveries.waiting] == ["message"]
    async with connected(server, heard.listen):
        await server.wait_for(lambda: heard.bodies)
    assert heard.events()[0]["text"] == "too early"


async def test_the_same_event_three_times(server: SlackServer) -> None:
    heard, ana = Recorder(server), server.person("ana")
    async with connected(server, heard.listen):
        ana.says(ana.dm, "once")
        await server.wait_for(lambda: heard.bodies)
        server.deliveries.repeat(server.deliveries.sent[0], times=2)
        await server.wait_for(lambda: len(heard.bodies) == 3)
        await server.wait_for(lambda: all(delivery.acked for delivery in server.deliveries.sent))
    assert len({body["event_id"] for body in heard.bodies}) == 1
    assert heard.retries == ["0", "1", "2"]
    assert len({delivery.envelope_id for delivery in server.deliveries.sent}) == 3


async def test_slow_and_out_of_order(server: SlackServer) -> None:
    heard, ana = Recorder(server), server.person("ana")
    async with connected(server, heard.listen):
        server.deliveries.hold()
        for text in ("one", "two", "three"):
            ana.says(ana.dm, text)
        assert [delivery.sent for delivery in server.deliveries.held] == [0, 0, 0]
        server.deliveries.release(order=[2, 0, 1])
        await server.wait_for(lambda: len(heard.bodies) == 3)
    assert [delivery.payload["event"]["text"] for delivery in server.deliveries.sent] == ["three", "one", "two"]


async def test_what_has_no_listener_is_not_acknowledged_and_comes_again(server: SlackServer) -> None:
    ana = server.person("ana")
    async with connected(server):
        ana.says(ana.dm, "is anybody there?")
        await server.wait_for(lambda: server.deliveries.sent)
    [unacked] = server.deliveries.unacked()
    assert unacked.payload["event"]["text"] == "is anybody there?"

    heard = Recorder(server)
    async with connected(server, heard.listen):
        server.deliveries.redeliver_unacked()
        await server.wait_for(lambda: heard.bodies)
        await server.wait_for(lambda: not server.deliveries.unacked())
    assert heard.retries == ["1"]


@pytest.mark.parametrize("way", ["refresh", "close", "cut"])
async def test_the_app_reconnects_and_hears_what_came_meanwhile(server: SlackServer, way: str) -> None:
    heard, ana = Recorder(server), server.person("ana")
    async with connected(server, heard.listen, ping_interval_s=0.2):
        if way == "refresh":
            await server.socket_mode.ask_to_refresh()
        elif way == "close":
            await server.socket_mode.close_politely()
        else:
            server.socket_mode.cut()
            assert server.socket_mode.connections == []
        await server.wait_for(lambda: server.socket_mode.opened == 2)
        ana.says(ana.dm, "are you back?")
        await server.wait_for(lambda: heard.bodies)
    assert len(server.calls("apps.connections.open")) == 2
    assert heard.events()[-1]["text"] == "are you back?"


async def test_two_connections_share_the_events(server: SlackServer) -> None:
    first, second, ana = Recorder(server), Recorder(server), server.person("ana")
    async with connected(server, first.listen), connected(server, second.listen):
        for number in range(6):
            ana.says(ana.dm, str(number))
        await server.wait_for(lambda: len(first.bodies) + len(second.bodies) == 6)
    assert (len(first.bodies), len(second.bodies)) == (3, 3)


async def test_rate_limit_says_when_to_try_again_and_ends(server: SlackServer) -> None:
    channel, client = server.channel("general"), web_client(server)
    server.faults.next("chat.postMessage", RateLimited(7), times=2)
    for _ in range(2):
        error = await _refused(client.chat_postMessage(channel=channel, text="hi"))
        assert (error.response.status_code, error.response["error"]) == (429, "ratelimited")
        assert error.response.headers["Retry-After"] == "7"
    await client.chat_postMessage(channel=channel, text="hi")
    assert [call.fault for call in server.calls()] == ["RateLimited", "RateLimited", ""]
    assert len(server.said_by_bot(channel)) == 1


async def test_five_hundreds_and_error_codes(server: SlackServer) -> None:
    channel, client = server.channel("general"), web_client(server)
    server.faults.next("*", ServerBroken(502))
    server.faults.next("reactions.add", Refused("missing_scope", {"needed": "reactions:write"}), times=None)
    assert (await _refused(client.auth_test())).response.status_code == 502
    for _ in range(3):
        error = await _refused(client.reactions_add(channel=channel, timestamp="1.0", name="brain"))
        assert (error.response["error"], error.response["needed"]) == ("missing_scope", "reactions:write")
    server.faults.clear()
    error = await _refused(client.reactions_add(channel=channel, timestamp="1.0", name="brain"))
    assert error.response["error"] == "message_not_found"


async def test_a_reset_before_and_a_lost_answer_after_the_call(server: SlackServer) -> None:
    channel, client = server.channel("general"), web_client(server)
    server.faults.next("chat.postMessage", ConnectionReset())
    server.faults.next("chat.postMessage", ResponseLost())
    with pytest.raises(ClientConnectionError):
        await client.chat_postMessage(channel=channel, text="never arrives")
    with pytest.raises(ClientConnectionError):
        await client.chat_postMessage(channel=channel, text="arrives")
    assert [message.text for message in server.said_by_bot(channel)] == ["arrives"]
    assert [(call.fault, call.status) for call in server.calls()] == [("ConnectionReset", 0), ("ResponseLost", 0)]


async def test_the_client_s_own_retry_posts_twice_when_an_answer_is_lost(server: SlackServer) -> None:
    channel, client = server.channel("general"), web_client(server)
    at_once = FixedValueRetryIntervalCalculator(fixed_internal=0.0)
    client.retry_handlers = [AsyncConnectionErrorRetryHandler(interval_calculator=at_once)]
    server.faults.next("chat.postMessage", ResponseLost())
    await client.chat_postMessage(channel=channel, text="twice")
    assert [message.text for message in server.said_by_bot(channel)] == ["twice", "twice"]


async def test_a_call_hangs_until_released_and_others_go_on(server: SlackServer) -> None:
    channel, client, hang = server.channel("general"), web_client(server), Hang()
    server.faults.next("chat.postMessage", hang, where=lambda args: args["text"] == "slow")
    slow = asyncio.create_task(client.chat_postMessage(channel=channel, text="slow"))
    await server.wait_for(lambda: [call for call in server.calls() if call.fault == "Hang"])
    await client.chat_postMessage(channel=channel, text="fast")
    assert not slow.done()
    hang.release()
    await slow
    assert [message.text for message in server.said_by_bot(channel)] == ["fast", "slow"]


async def test_tokens_are_checked(server: SlackServer) -> None:
    client = web_client(server)
    assert (await _refused(client.auth_test(token="xoxb-wrong"))).response["error"] == "invalid_auth"
    assert (await _refused(client.apps_connections_open(app_token=client.token or ""))).response["error"] == (
        "not_allowed_token_type"
    )
    server.revoke_tokens()
    assert (await _refused(client.auth_test())).response["error"] == "token_revoked"


async def test_an_unknown_method_is_remembered(server: SlackServer) -> None:
    error = await _refused(web_client(server).api_call("chat.shout"))
    assert error.response["error"] == "unknown_method"
    assert server.slack.unknown_methods() == ["chat.shout"]


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")  # slack_sdk on a newer aiohttp
async def test_a_code_is_exchanged_once(server: SlackServer) -> None:
    code, client = server.offer_code(), web_client(server)
    installed = await client.oauth_v2_access(client_id=CLIENT_ID, client_secret=CLIENT_SECRET, code=code)
    assert (installed["access_token"], installed["team"]["id"]) == (server.workspace.bot_token, "T0001")
    error = await _refused(client.oauth_v2_access(client_id=CLIENT_ID, client_secret=CLIENT_SECRET, code=code))
    assert error.response["error"] == "invalid_code"
    error = await _refused(client.oauth_v2_access(client_id=CLIENT_ID, client_secret="s", code=server.offer_code()))
    assert error.response["error"] == "bad_client_secret"


async def test_a_token_that_gave_itself_up_comes_back_as_a_new_one(server: SlackServer) -> None:
    client, before = web_client(server), server.workspace.bot_token
    await client.auth_revoke()
    assert (await _refused(client.auth_test())).response["error"] == "token_revoked"
    server.workspace.install_again()
    assert server.workspace.bot_token != before
    assert (await web_client(server).auth_test())["team_id"] == "T0001"


async def _refused(call: Any) -> SlackApiError:
    with pytest.raises(SlackApiError) as caught:
        await call
    return caught.value

"""What must not stop the Slack messenger: broken connections, repeated and late events, refusals, outages, removal."""

import asyncio
import logging
import socket
from typing import Any

import pytest
from pydantic import SecretStr

from bot.adapters.slack.connection import EVENTS_PATH
from bot.adapters.slack.messenger import SlackMessenger
from bot.errors import ConfigError, MessengerUnavailable, NotPermitted
from bot.model import PersonCommand, PersonEvent, PersonMessage, PersonReaction
from memory.adapters.system import utc_now
from memory.model import Role
from tests.bot.adapters.messenger_contract import Heard
from tests.doubles.queries import QUERIES
from tests.doubles.slack import ConnectionReset, Hang, RateLimited, Refused, ServerBroken, SlackServer
from tests.doubles.slack.faults import Fault
from tests.doubles.slack_driver import connected, make_messenger, slack_settings
from tests.doubles.sleep import Naps


def texts(heard: Heard) -> list[str]:
    return [event.text for event in heard.events if isinstance(event, PersonMessage)]


# Connections ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["refresh", "close", "cut"])
async def test_it_reconnects_and_hears_what_came_meanwhile(server: SlackServer, way: str) -> None:
    ana = server.person("ana")
    async with connected(server, ping_interval_s=0.1) as session:
        if way == "refresh":
            await server.socket_mode.ask_to_refresh()
        elif way == "close":
            await server.socket_mode.close_politely()
        else:
            server.socket_mode.cut()
            ana.says(ana.dm, "meanwhile")
        await server.wait_for(lambda: server.socket_mode.opened == 2)
        ana.says(ana.dm, "afterwards")
        await session.settled()
    assert texts(session.heard)[-1] == "afterwards"
    assert ("meanwhile" in texts(session.heard)) == (way == "cut")


@pytest.mark.parametrize("fault", [ServerBroken(503), ConnectionReset(), Refused("internal_error")])
async def test_it_reconnects_however_often_slack_refuses_meanwhile(server: SlackServer, fault: Fault) -> None:
    ana = server.person("ana")
    async with connected(server, ping_interval_s=0.1) as session:
        server.faults.next("apps.connections.open", fault, times=3)
        server.socket_mode.cut()
        await server.wait_for(lambda: server.socket_mode.opened == 2)
        ana.says(ana.dm, "afterwards")
        await session.settled()
    assert texts(session.heard) == ["afterwards"]


async def test_an_address_that_does_not_work_is_replaced(server: SlackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = server.person("ana")
    good, addresses = server.slack.socket_url, iter(["ws://127.0.0.1:1/link/"] * 2)
    monkeypatch.setattr(server.slack, "socket_url", lambda: next(addresses, "") or good())
    async with connected(server, ping_interval_s=0.1) as session:
        ana.says(ana.dm, "hello?")
        await session.settled()
    assert texts(session.heard) == ["hello?"]


async def test_it_waits_for_slack_ever_longer_at_the_start(server: SlackServer) -> None:
    naps = Naps()
    server.faults.next("auth.test", ServerBroken(503), times=6)
    server.faults.next("apps.connections.open", RateLimited(120))
    async with connected(server, naps=naps):
        pass
    assert naps.taken == [1, 2, 1.0, 1, 2, 2.0, 1.0]


async def test_closing_does_not_wait_for_a_slack_that_never_answers(server: SlackServer) -> None:
    server.faults.next("auth.test", Hang())
    messenger = make_messenger(server)
    task = asyncio.create_task(messenger.run(Heard().__call__))
    await server.wait_for(lambda: server.calls("auth.test"))
    await messenger.close()
    async with asyncio.timeout(60):
        await task


async def test_closing_finishes_and_acknowledges_what_is_being_handled(server: SlackServer) -> None:
    ana, heard = server.person("ana"), Heard()
    arrived, gate = asyncio.Event(), asyncio.Event()

    async def sink(event: PersonEvent) -> None:
        arrived.set()
        await gate.wait()
        await heard(event)

    async with connected(server, sink=sink, heard=heard) as session:
        ana.says(ana.dm, "just before the end")
        await arrived.wait()
        closing = asyncio.create_task(session.messenger.close())
        await asyncio.sleep(0)
        gate.set()
        await closing
    await server.wait_for(lambda: not server.deliveries.unacked())
    assert texts(heard) == ["just before the end"]


# Deliveries -------------------------------------------------------------------------------------------------------


async def test_an_event_is_acknowledged_only_when_the_sink_has_returned(server: SlackServer) -> None:
    ana, heard = server.person("ana"), Heard()
    arrived, gate = asyncio.Event(), asyncio.Event()

    async def sink(event: PersonEvent) -> None:
        arrived.set()
        await gate.wait()
        await heard(event)

    async with connected(server, sink=sink, heard=heard) as session:
        ana.says(ana.dm, "hello?")
        await arrived.wait()
        assert [delivery.acked for delivery in server.deliveries.sent] == [0]
        gate.set()
        await session.settled()
    assert texts(heard) == ["hello?"]


async def test_an_event_that_could_not_be_stored_comes_again_and_is_heard_once(server: SlackServer) -> None:
    ana, heard, refused = server.person("ana"), Heard(), asyncio.Event()

    async def sink(event: PersonEvent) -> None:
        if not refused.is_set():
            refused.set()
            raise MessengerUnavailable("the store is away")
        await heard(event)

    async with connected(server, sink=sink, heard=heard) as session:
        ana.says(ana.dm, "hello?")
        await refused.wait()
        ana.says(ana.dm, "another")
        await heard.of(PersonMessage, 1)
        await server.wait_for(lambda: len(server.deliveries.unacked()) == 1)
        [lost] = server.deliveries.unacked()
        server.deliveries.repeat(lost, times=2)
        await session.settled()
    assert texts(heard) == ["another", "hello?"]


async def test_the_same_events_three_times_carry_the_same_ids(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        ref = await session.messenger.post(session.answer(channel))
        question = ana.says(channel, "hello?")
        ana.reacts(session.message(ref), "+1")
        await session.settled()
        for delivery in [d for d in server.deliveries.sent if d.event_type in ("message", "reaction_added")]:
            server.deliveries.repeat(delivery, times=2)
        await session.settled()
    async with connected(server, heard=session.heard):
        server.deliveries.repeat(server.deliveries.of("app_mention")[0], reason="http_timeout")
        await session.settled()
    reactions = [event for event in session.heard.events if isinstance(event, PersonReaction)]
    messages = [event for event in session.heard.events if isinstance(event, PersonMessage)]
    assert (len(reactions), len({event.event_id for event in reactions})) == (3, 1)
    assert {event.event_id for event in messages} == {f"{channel}/{question.ts}"}
    assert len(messages) == 2


async def test_reactions_out_of_order_tell_when_they_happened(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        ref = await session.messenger.post(session.answer(channel))
        await session.settled()
        server.deliveries.hold()
        ana.reacts(session.message(ref), "+1")
        ana.unreacts(session.message(ref), "+1")
        server.deliveries.release(order=[1, 0])
        removed, added = await session.heard.of(PersonReaction, 2)
    assert (removed.added, added.added) == (False, True)
    assert added.at < removed.at


async def test_a_vote_waits_for_slack_to_say_who_votes(server: SlackServer) -> None:
    channel = server.channel("general")
    guest = server.person("guest", guest="single")
    async with connected(server) as session:
        ref = await session.messenger.post(session.answer(channel))
        server.faults.next("users.info", ServerBroken(503), times=3)
        guest.reacts(session.message(ref), "+1")
        await server.wait_for(lambda: len(server.calls("users.info")) == 3)
        server.person("ana").says(channel, "hello?")
        await session.heard.of(PersonMessage, 1)
        assert [event for event in session.heard.events if isinstance(event, PersonReaction)] == []
        await server.wait_for(lambda: len(server.deliveries.unacked()) == 1)
        [lost] = server.deliveries.unacked()
        server.deliveries.repeat(lost)
        [event] = await session.heard.of(PersonReaction, 1)
    assert event.role is Role.GUEST


async def test_a_failure_in_one_event_does_not_stop_the_next(
    server: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    ana, heard = server.person("ana"), Heard()

    async def sink(event: PersonEvent) -> None:
        if isinstance(event, PersonMessage) and event.text == "bad":
            raise RuntimeError("boom")
        await heard(event)

    async with connected(server, sink=sink, heard=heard):
        ana.says(ana.dm, "bad")
        ana.says(ana.dm, "good")
        await heard.of(PersonMessage, 1)
    assert texts(heard) == ["good"]
    assert "boom" in caplog.text


# Refused and removed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["uninstall", "revoke_tokens"])
async def test_when_the_app_is_removed_run_ends_with_one_clear_line(
    server: SlackServer, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(server) as session:
        getattr(server, how)()
        async with asyncio.timeout(60):
            await session.task
    lines = [record.message for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(lines) == 1
    assert "disconnected from Slack" in lines[0]


async def test_a_token_that_was_revoked_unnoticed_ends_it_too(server: SlackServer) -> None:
    channel = server.channel("general")
    async with connected(server) as session:
        server.workspace.revoked = "token_revoked"
        with pytest.raises(NotPermitted):
            await session.messenger.post(session.answer(channel))
        async with asyncio.timeout(60):
            await session.task


async def test_somebody_else_s_token_may_be_revoked(server: SlackServer) -> None:
    ana = server.person("ana")
    async with connected(server) as session:
        server.slack.emit(server.workspace, {"type": "tokens_revoked", "tokens": {"oauth": [ana.id], "bot": []}})
        ana.says(ana.dm, "still there?")
        assert [event.text for event in await session.heard.of(PersonMessage, 1)] == ["still there?"]


@pytest.mark.parametrize(
    ("method", "named"),
    [
        ("auth.test", r"SLACK_BOT_TOKEN \(invalid_auth\).* page Install App"),
        ("apps.connections.open", r"SLACK_APP_TOKEN \(invalid_auth\).* connections:write"),
    ],
)
async def test_a_wrong_token_is_named_from_the_start_with_the_remedy(
    server: SlackServer, method: str, named: str
) -> None:
    server.faults.next(method, Refused("invalid_auth"))
    messenger = make_messenger(server)
    with pytest.raises(NotPermitted, match=named):
        await messenger.run(Heard().__call__)
    await messenger.close()


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"bot_token": SecretStr("")}, "SLACK_BOT_TOKEN"),
        ({"bot_token": SecretStr("xoxp-1")}, "SLACK_BOT_TOKEN.* begins with xoxb-"),
        ({"app_token": SecretStr("")}, "SLACK_APP_TOKEN"),
        ({"mode": "http", "signing_secret": SecretStr("")}, "SLACK_SIGNING_SECRET"),
    ],
)
async def test_a_missing_token_is_named(server: SlackServer, wrong: dict[str, Any], named: str) -> None:
    settings = slack_settings(server, **wrong)
    messenger = SlackMessenger(settings, clock=utc_now, queries=QUERIES)
    with pytest.raises(ConfigError, match=named):
        await messenger.run(Heard().__call__)
    await messenger.close()


# Over HTTP --------------------------------------------------------------------------------------------------------


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def listening(port: int) -> str:
    """The address, once somebody listens there."""
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            await writer.wait_closed()
            return f"http://127.0.0.1:{port}{EVENTS_PATH}"


async def test_everything_also_comes_as_signed_requests(server: SlackServer, free_port: int) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server, mode="http", http_port=free_port) as session:
        url = await listening(free_port)
        server.deliver_over_http(url)
        assert await server.verify_url(url, "challenge") == "challenge"
        question = ana.says(channel, "hello?")
        await session.settled()
        ref = await session.messenger.post(session.answer(channel, thread=question.ts))
        ana.reacts(session.message(ref), "+1")
        await session.settled()
        await ana.rates(session.message(ref), good=False).answered()
        assert ana.modal() is not None
        await ana.commands(channel, "/goodbot", "help").answered()
    kinds = [type(event) for event in session.heard.events]
    assert (kinds.count(PersonMessage), kinds.count(PersonReaction), kinds.count(PersonCommand)) == (1, 1, 1)
    assert server.calls("apps.connections.open") == []


@pytest.mark.parametrize("wrong", [{"wrong_signature": True}, {"age_s": 301.0}])
async def test_wrong_and_old_signatures_are_refused(server: SlackServer, free_port: int, wrong: dict[str, Any]) -> None:
    ana = server.person("ana")
    async with connected(server, mode="http", http_port=free_port) as session:
        server.deliver_over_http(await listening(free_port), **wrong)
        ana.says(ana.dm, "let me in")
        await server.wait_for(lambda: [delivery for delivery in server.deliveries.sent if delivery.status])
    assert [delivery.status for delivery in server.deliveries.sent] == [401]
    assert session.heard.events == []


async def test_over_http_what_could_not_be_stored_is_answered_500(server: SlackServer, free_port: int) -> None:
    ana = server.person("ana")

    async def sink(event: PersonEvent) -> None:
        raise MessengerUnavailable("the store is away")

    async with connected(server, mode="http", http_port=free_port, sink=sink):
        server.deliver_over_http(await listening(free_port))
        ana.says(ana.dm, "hello?")
        await server.wait_for(lambda: [delivery for delivery in server.deliveries.sent if delivery.status])
    assert [(delivery.status, delivery.acked) for delivery in server.deliveries.sent] == [(500, 0)]


async def test_a_port_that_is_taken_is_named(server: SlackServer, free_port: int) -> None:
    async with connected(server, mode="http", http_port=free_port):
        await listening(free_port)
        second = make_messenger(server, mode="http", http_port=free_port)
        with pytest.raises(ConfigError, match=str(free_port)):
            await second.run(Heard().__call__)
        await second.close()

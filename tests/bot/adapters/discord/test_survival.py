"""What Discord and the network do to a connection, and that nothing is lost, doubled or spoilt by it."""

import asyncio
from collections.abc import Callable

import pytest
from pydantic import SecretStr

from bot.errors import MessengerError, MessengerUnavailable, RateLimited
from bot.model import PersonCommand, PersonDeletion, PersonEdit, PersonEvent, PersonMessage, PersonReaction
from tests.bot.adapters.messenger_contract import Heard
from tests.doubles.discord import (
    DiscordServer,
    Hang,
    LostAnswer,
    Permission,
    Reset,
    backwards,
    failing,
    rate_limited,
    refusing,
)
from tests.doubles.discord.client import redirected
from tests.doubles.discord.faults import Answer
from tests.doubles.discord_driver import Session, connected, make_messenger
from tests.doubles.sleep import Naps

POSTS = "POST /channels/*/messages"
MARKS = "PUT /channels/*/messages/*/reactions/*/@me"


def messages(session: Session) -> list[str]:
    return [event.text for event in session.heard.events if isinstance(event, PersonMessage)]


# The gateway --------------------------------------------------------------------------------------------------------

Trouble = Callable[[DiscordServer], None]
RESUMED: list[Trouble] = [
    lambda server: server.closes_gateway(4000),
    lambda server: server.asks_to_reconnect(),
    lambda server: server.invalidates_sessions(resumable=True),
]


@pytest.mark.parametrize("trouble", RESUMED, ids=["closed", "asked to reconnect", "invalid but resumable"])
async def test_what_happens_during_a_disconnection_is_heard_after_the_resume(
    server: DiscordServer, session: Session, trouble: Trouble
) -> None:
    ref = await session.posted()
    trouble(server)
    session.asks("while away")
    server.reacts(session.ana, ref.message_id, "👍")
    await session.heard.of(PersonMessage, 1)
    await session.heard.of(PersonReaction, 1)
    assert server.resumes() == 1
    assert len(server.identifies()) == 1


async def test_after_an_invalid_session_it_identifies_again_and_goes_on(
    server: DiscordServer, session: Session
) -> None:
    session.asks("before")
    await session.heard.of(PersonMessage, 1)
    server.invalidates_sessions()
    await server.until(lambda: len(server.identifies()) == 2)
    await server.until(server.is_connected)
    ref = await session.posted()
    session.asks("after")
    server.reacts(session.ana, ref.message_id, "👍")
    await session.heard.of(PersonReaction, 1)
    assert messages(session) == ["before", "after"]


async def test_a_session_that_discord_forgot_is_begun_anew(server: DiscordServer, session: Session) -> None:
    server.forgets_sessions()
    server.closes_gateway(4000)
    await server.until(lambda: len(server.identifies()) == 2)
    await server.until(server.is_connected)
    session.asks("after")
    await session.heard.of(PersonMessage, 1)


async def test_a_connection_that_falls_silent_is_noticed(server: DiscordServer) -> None:
    async with connected(server, heartbeat_timeout_s=0.1) as session:
        server.falls_silent()
        session.asks("into the void")
        await server.until(lambda: server.resumes() or len(server.identifies()) > 1)
        await session.heard.of(PersonMessage, 1)


async def test_what_a_resume_brings_again_has_the_same_ids(server: DiscordServer, session: Session) -> None:
    ref = await session.posted()
    asked = session.asks("once")
    server.reacts(session.ana, ref.message_id, "👍")
    server.unreacts(session.ana, ref.message_id, "👍")
    server.edits(asked, f"{server.bot.mention} twice")
    server.deletes(asked)
    before = await session.settled()
    server.replays_again(20)
    server.closes_gateway(4000)
    await server.until(lambda: server.resumes() == 1)
    events = await session.settled()

    assert len(before) == 5
    assert len(events) > len(before)
    assert {event.event_id for event in events} == {event.event_id for event in before}


async def test_the_same_event_three_times_is_one_id(server: DiscordServer, session: Session) -> None:
    server.repeats_events(3, events=1)
    session.asks("once")
    events = await session.heard.of(PersonMessage, 3)
    server.redelivers("MESSAGE_CREATE", 2)
    events = await session.heard.of(PersonMessage, 5)
    assert len({event.event_id for event in events}) == 1


async def test_a_command_that_comes_again_is_carried_out_once(server: DiscordServer, session: Session) -> None:
    server.repeats_events(3, events=1)
    session.asks("help")
    [event] = await session.settled()
    assert isinstance(event, PersonCommand)


async def test_an_edit_that_comes_before_its_message_is_what_was_asked(server: DiscordServer, session: Session) -> None:
    server.holds_events()
    asked = session.asks("first version")
    server.edits(asked, f"{server.bot.mention} second version")
    server.lets_events_go(backwards)
    events = await session.settled()

    assert isinstance(events[0], PersonEdit)
    heard = [event for event in events if isinstance(event, PersonMessage)]
    assert [(event.event_id, event.text) for event in heard] == [
        (asked.id, "second version"),
        (asked.id, "first version"),
    ], "the second of one id is not answered"
    assert heard[0].at < events[0].at


async def test_a_deletion_that_comes_before_its_message_keeps_it_from_being_heard(
    server: DiscordServer, session: Session
) -> None:
    server.holds_events()
    asked = session.asks("first version")
    server.deletes(asked)
    server.lets_events_go(backwards)
    events = await session.settled()
    assert [type(event) for event in events] == [PersonDeletion]


async def test_an_outage_of_a_server_hides_nothing_and_opens_nothing(server: DiscordServer, session: Session) -> None:
    server.outage(session.guild)
    session.asks("during the outage")
    [event] = await session.heard.of(PersonMessage, 1)
    server.outage_over(session.guild)
    session.asks("after it")
    _, after = await session.heard.of(PersonMessage, 2)

    assert event.scope.workspace == after.scope.workspace == session.workspace
    assert event.scope.channel == after.scope.channel
    assert (after.scope.place, after.scope.visibility.value) == ("#general", "public")


async def test_several_shards(server: DiscordServer) -> None:
    server.shards = 2
    async with connected(server) as session:
        guilds = [session.guild, *(server.guild(f"G{n}") for n in range(4))]
        refs = []
        for guild in guilds:
            channel = server.channel(guild, "talk")
            server.person("ana", guild)
            session.asks(f"in {guild.name}", channel=channel)
            refs.append(await session.posted(channel=channel))
        for ref in refs:
            server.reacts(session.ana, ref.message_id, "👍")
        reactions = await session.heard.of(PersonReaction, len(guilds))
        await session.heard.of(PersonMessage, len(guilds))
    assert len({event.scope.workspace for event in reactions}) == len(guilds)
    assert len({event.event_id for event in reactions}) == len(guilds)


async def test_events_that_are_being_stored_when_it_closes_are_stored(server: DiscordServer) -> None:
    arrived, go = asyncio.Event(), asyncio.Event()
    stored: list[PersonEvent] = []

    async def slow(event: PersonEvent) -> None:
        arrived.set()
        await go.wait()
        stored.append(event)

    async with connected(server, sink=slow) as session:
        session.asks()
        await arrived.wait()
        await session.messenger.close()
        session.asks("too late")
        go.set()
    assert len(stored) == 1


async def test_one_slow_channel_does_not_hold_up_another(server: DiscordServer) -> None:
    go = asyncio.Event()

    class Stuck(Heard):
        async def __call__(self, event: PersonEvent) -> None:
            if isinstance(event, PersonMessage) and event.text == "slow":
                await go.wait()
            await super().__call__(event)

    async with connected(server, sink=(heard := Stuck()), heard=heard) as session:
        session.asks("slow")
        session.asks("behind it")
        session.asks("elsewhere", channel=server.channel(session.guild, "other"))
        [first] = await heard.of(PersonMessage, 1)
        go.set()
        await heard.of(PersonMessage, 3)
    assert first.text == "elsewhere"
    assert messages(session) == ["elsewhere", "slow", "behind it"]


# Calls --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trouble",
    [Reset(), LostAnswer(), failing(503), rate_limited(0.001), rate_limited(0.001, is_global=True)],
    ids=["reset", "lost answer", "503", "429", "global 429"],
)
async def test_a_post_that_meets_trouble_is_there_once(
    server: DiscordServer, session: Session, trouble: object
) -> None:
    server.fault(POSTS, trouble, times=2)  # type: ignore[arg-type]  # a union of troubles
    ref = await session.posted("Paris.")
    assert [message.id for message in server.said(session.general)] == [ref.message_id]


async def test_an_answer_posted_again_after_a_restart_is_there_once(server: DiscordServer) -> None:
    async with connected(server) as before:
        server.fault(POSTS, LostAnswer(), times=3)
        with pytest.raises(MessengerUnavailable):
            await before.posted("Paris.", run_id="run-1", part=1)
    async with connected(server) as session:
        ref = await session.posted("Paris.", run_id="run-1", part=1)
        other = await session.posted("Paris.", run_id="run-1", part=2)
    assert [message.id for message in server.said(session.general)] == [ref.message_id, other.message_id]


async def test_a_long_rate_limit_is_told_with_its_length(server: DiscordServer) -> None:
    async with connected(server, max_wait_s=30.0) as session:
        server.fault(POSTS, rate_limited(1000.0))
        with pytest.raises(RateLimited) as told:
            await session.posted()
        server.fault(POSTS, rate_limited(7.5, by_cloudflare=True))
        with pytest.raises(RateLimited) as banned:
            await session.posted()
    assert (told.value.retry_after_s, banned.value.retry_after_s) == (1000.0, 7.5)
    assert server.said(session.general) == []


async def test_an_unreachable_discord_is_unavailable_after_some_tries(server: DiscordServer) -> None:
    async with connected(server, naps=(naps := Naps())) as session:
        for trouble in (failing(503), Reset()):
            server.fault(POSTS, trouble, times=None)
            with pytest.raises(MessengerUnavailable, match=session.general.id):
                await session.posted()
            server.clear_faults()
    assert naps.taken == [1, 2, 1, 2]


async def test_an_unknown_refusal_says_what_was_tried(server: DiscordServer, session: Session) -> None:
    server.fault(POSTS, refusing(99999, 418, "teapot"))
    with pytest.raises(MessengerError, match=rf"posting in channel {session.general.id}.*teapot"):
        await session.posted()
    assert len(server.calls(POSTS)) == 1


@pytest.mark.parametrize("trouble", [Reset(), LostAnswer(), failing(503)], ids=["reset", "lost answer", "503"])
async def test_a_mark_that_meets_trouble_is_there(server: DiscordServer, session: Session, trouble: object) -> None:
    ref = await session.posted()
    server.fault(MARKS, trouble)  # type: ignore[arg-type]  # a union of troubles
    await session.messenger.mark(ref, "🧠", True)
    assert server.marks(ref.message_id) == ["🧠"]


async def test_an_answer_to_a_press_that_got_lost_is_given_again(server: DiscordServer, session: Session) -> None:
    ref = await session.posted()
    server.fault("PATCH /webhooks/**", LostAnswer())
    click = server.clicks(session.ana, ref.message_id, "👍")
    await server.until(lambda: len(server.calls("PATCH /webhooks/**")) == 2)
    assert [message.content for message in click.private_replies] == ["Saved ✔"]


async def test_a_hanging_post_holds_up_nothing_else(server: DiscordServer, session: Session) -> None:
    hanging = server.fault(f"POST /channels/{session.general.id}/messages", Hang())
    posting = asyncio.create_task(session.messenger.post(session.answer("slow")))
    await server.until(lambda: hanging.hits)
    other = server.channel(session.guild, "other")
    await session.posted("quick", channel=other)
    session.asks("still listening?")
    await session.heard.of(PersonMessage, 1)
    server.release(hanging)
    await posting
    assert [message.content for message in server.said(session.general)] == ["slow"]


# Beginning and end --------------------------------------------------------------------------------------------------


async def test_a_wrong_token_is_said_at_once_and_not_tried_again(server: DiscordServer) -> None:
    messenger = make_messenger(server, token=SecretStr("wrong"))
    with pytest.raises(MessengerError, match="set DISCORD_TOKEN") as refused:
        await messenger.run(Heard())
    assert "wrong" not in str(refused.value)
    assert len(server.calls("GET /users/@me")) == 1
    assert not refused.value.retryable


async def test_an_intent_that_is_not_switched_on_is_named(server: DiscordServer) -> None:
    messenger = make_messenger(server, reads="everything")
    with pytest.raises(MessengerError, match="Message Content"):
        await messenger.run(Heard())
    assert server.identifies() == []


async def test_a_token_that_is_taken_away_ends_it_with_a_line_in_the_log(
    server: DiscordServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(server) as session:
        server.revokes_token()
        with pytest.raises(MessengerError):
            await session.posted()
    assert "set DISCORD_TOKEN to a new one" in caplog.text


async def test_too_few_shards_are_said_at_once_and_not_tried_again(server: DiscordServer) -> None:
    messenger = make_messenger(server, shards=2, naps=(naps := Naps()))
    with redirected(server.api_url):
        running = asyncio.ensure_future(messenger.run(Heard()))
        await server.until(lambda: server.is_connected(2))
        server.closes_gateway(4011)
        with pytest.raises(MessengerError, match="GOODBOT_DISCORD_SHARDS") as refused:
            await asyncio.wait_for(running, 10)
    assert not refused.value.retryable
    assert naps.taken == []


async def test_how_many_shards_discord_demands_is_asked_again(server: DiscordServer) -> None:
    async with connected(server, naps=(naps := Naps())) as session:
        server.closes_gateway(4011)
        await server.until(lambda: naps.taken == [1.0] and server.is_connected(server.shards))
        session.asks("there?")
        await session.heard.of(PersonMessage, 1)


async def test_discord_out_of_reach_at_the_start_is_tried_again(server: DiscordServer) -> None:
    server.fault("GET /users/@me", Reset(), times=2)
    server.fault("GET /gateway/bot", failing(503))
    async with connected(server, naps=(naps := Naps())) as session:
        session.asks("there?")
        await session.heard.of(PersonMessage, 1)
    # aiohttp itself repeats a GET once.
    assert naps.taken == [1.0, 2.0]


@pytest.mark.parametrize(
    ("route", "trouble", "asked_s"),
    [
        ("GET /users/@me", rate_limited(5000.0), 5000.0),
        ("GET /users/@me", rate_limited(900.0, by_cloudflare=True), 900.0),
        ("GET /gateway/bot", rate_limited(5000.0), 5000.0),
    ],
)
async def test_a_login_that_discord_asks_to_put_off_is_put_off_for_as_long(
    server: DiscordServer, route: str, trouble: Answer, asked_s: float
) -> None:
    server.fault(route, trouble)
    async with connected(server, naps=(naps := Naps())) as session:
        session.asks("there?")
        await session.heard.of(PersonMessage, 1)
    assert naps.taken == [asked_s]


async def test_it_can_be_closed_while_discord_is_out_of_reach(server: DiscordServer) -> None:
    hanging = server.fault("GET /users/@me", Hang())
    messenger = make_messenger(server)
    running = asyncio.ensure_future(messenger.run(Heard()))
    await server.until(lambda: hanging.hits)
    await messenger.close()
    await running


async def test_commands_are_written_once_and_again_only_when_they_change(server: DiscordServer) -> None:
    for command in ("goodbot", "goodbot", "helper"):
        async with connected(server, command=command):
            pass
    names = [{each["name"] for each in sync.commands} for sync in server.syncs()]
    assert names == [{one, "Teach the bot…", "Why this answer?"} for one in ("goodbot", "helper")]


async def test_commands_that_cannot_be_written_do_not_stop_it(server: DiscordServer) -> None:
    server.fault("PUT /applications/*/commands", refusing(50001))
    async with connected(server) as session:
        session.asks("still there?")
        await session.heard.of(PersonMessage, 1)
    assert server.syncs() == []


async def test_it_makes_no_calls_that_discord_counts_against_it(server: DiscordServer, session: Session) -> None:
    server.rights(session.general, server.bot, deny=Permission.VIEW_CHANNEL)
    server.rights(session.general, server.bot, allow=Permission.VIEW_CHANNEL)
    ref = await session.posted()
    server.reacts(session.ana, ref.message_id, "👍")
    await session.heard.of(PersonReaction, 1)
    assert server.invalid_calls() == []

"""What the doctor finds on Discord, through the real discord.py and a local stand-in: every finding, good and bad."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from bot.adapters.check_result import CheckResult
from bot.adapters.discord import health_checks
from bot.adapters.discord.health_checks import RIGHTS, DiscordHealthChecks, invite_link_of
from memory.adapters.system import utc_now
from tests.doubles.discord import (
    DiscordServer,
    Guild,
    Hang,
    Intent,
    Permission,
    Reset,
    failing,
    payloads,
    rate_limited,
    refusing,
)
from tests.doubles.discord.client import redirected
from tests.doubles.discord.faults import Answer, Trouble
from tests.doubles.discord_driver import connected, discord_settings

USED = [
    Permission.VIEW_CHANNEL,
    Permission.SEND_MESSAGES,
    Permission.SEND_MESSAGES_IN_THREADS,
    Permission.READ_MESSAGE_HISTORY,
    Permission.ADD_REACTIONS,
    Permission.ATTACH_FILES,
]


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    async with DiscordServer() as running:
        with redirected(running.api_url):
            yield running


@pytest.fixture
def guild(server: DiscordServer) -> Guild:
    return server.guild("Home")


async def check(
    server: DiscordServer, *, ahead: timedelta = timedelta(0), timeout_s: float = 10.0, **settings: Any
) -> dict[str, list[CheckResult]]:
    """The findings by code, with a clock that is so much ahead."""
    found = await DiscordHealthChecks(
        discord_settings(server, **settings), clock=lambda: utc_now() + ahead, timeout_s=timeout_s
    ).results()
    assert [finding.code for finding in found] == sorted(finding.code for finding in found)
    assert all(finding.remedy for finding in found if not finding.ok)
    return {code: [finding for finding in found if finding.code == code] for code in {f.code for f in found}}


def app_with(server: DiscordServer, **changed: Any) -> Answer:
    """The app as Discord would describe it."""
    return Answer(200, {**payloads.application(server.state), **changed}, {"Content-Type": "application/json"})


async def test_all_is_well(server: DiscordServer, guild: Guild) -> None:
    general = server.channel(guild, "general")
    async with connected(server):
        pass  # Registers the commands.
    found = await check(server, allowed_channels=(general.id,))
    assert sorted(found) == [f"GB03{number}" for number in range(9)]
    assert {len(findings) for findings in found.values()} == {1}
    assert all(finding.ok and not finding.remedy for [finding] in found.values())
    assert server.bot.id in found[health_checks.TOKEN][0].what
    assert "no privileged intent" in found[health_checks.INTENTS][0].what
    assert "guild_reactions" in found[health_checks.INTENTS][0].what
    assert "in 1 server: Home" in found[health_checks.SERVERS][0].what
    assert "#general of Home" in found[health_checks.CHANNELS][0].what
    assert "/goodbot" in found[health_checks.COMMANDS][0].what
    assert "1000 of 1000 sessions" in found[health_checks.SESSIONS][0].what


async def test_it_changes_nothing_and_opens_no_session(server: DiscordServer, guild: Guild) -> None:
    server.channel(guild, "general")
    await check(server)
    assert {call.method for call in server.calls("*")} == {"GET"}
    assert server.invalid_calls() == []


async def test_the_invitation_names_what_is_used_and_no_more(server: DiscordServer, guild: Guild) -> None:
    [finding] = (await check(server))[health_checks.INVITE]
    assert f"client_id={server.bot.id}" in finding.what
    assert f"permissions={RIGHTS.value}" in finding.what
    assert RIGHTS.value == sum(int(right) for right in USED)
    assert "scope=bot+applications.commands" in finding.what
    assert "Send Messages in Threads" in finding.what
    assert server.token not in finding.what


async def test_an_invitation_that_fails(server: DiscordServer, guild: Guild) -> None:
    server.fault("GET /oauth2/applications/@me", app_with(server, bot_require_code_grant=True))
    [finding] = (await check(server))[health_checks.INVITE]
    assert not finding.ok
    assert "OAuth2 Code Grant" in finding.remedy


async def test_a_private_app(server: DiscordServer, guild: Guild) -> None:
    server.fault("GET /oauth2/applications/@me", app_with(server, bot_public=False))
    [finding] = (await check(server))[health_checks.INVITE]
    assert finding.ok
    assert finding.what.startswith("only the app's owner can invite it")


async def test_buttons_that_go_elsewhere(server: DiscordServer, guild: Guild) -> None:
    server.fault("GET /oauth2/applications/@me", app_with(server, interactions_endpoint_url="https://example.org"))
    [finding] = (await check(server))[health_checks.TOKEN]
    assert not finding.ok
    assert "Interactions Endpoint URL" in finding.remedy


@pytest.mark.parametrize(
    ("trouble", "told", "remedy"),
    [
        (failing(503), "503", "DISCORD_API_URL"),
        (Reset(), "cannot be reached", "DISCORD_API_URL"),
        (rate_limited(3600, by_cloudflare=True), "refuses all requests", "again"),
        (refusing(0, 403, "Forbidden"), "403", "Reset Token"),
    ],
    ids=["broken", "reset", "ban", "forbidden"],
)
async def test_a_discord_that_cannot_be_asked(server: DiscordServer, trouble: Trouble, told: str, remedy: str) -> None:
    server.fault("GET /users/@me", trouble, times=None)
    found = await check(server)
    [finding] = found[health_checks.TOKEN]
    assert list(found) == [health_checks.TOKEN]
    assert not finding.ok
    assert told in finding.what
    assert remedy in finding.remedy


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, "<html>Sign in to this network</html>"),
        Answer(200, {}, {"Content-Type": "application/json"}),
        Answer(200, {"id": "x"}, {"Content-Type": "application/json"}),
    ],
    ids=["page", "empty", "other"],
)
async def test_something_else_that_answers(server: DiscordServer, answer: Answer) -> None:
    server.fault("GET /users/@me", answer, times=None)
    [finding] = (await check(server))[health_checks.TOKEN]
    assert "not Discord" in finding.what
    assert "DISCORD_API_URL" in finding.remedy


async def test_a_token_that_no_request_can_carry(server: DiscordServer) -> None:
    [finding] = (await check(server, token=SecretStr("to\nken")))[health_checks.TOKEN]
    assert "the token is none" in finding.what
    assert "DISCORD_TOKEN" in finding.remedy


async def test_a_discord_that_does_not_answer(server: DiscordServer) -> None:
    server.fault("GET /users/@me", Hang(), times=None)
    [finding] = (await check(server, timeout_s=0.05))[health_checks.TOKEN]
    assert "no answer within 0.05 s" in finding.what
    assert "DISCORD_API_URL" in finding.remedy


async def test_a_wrong_token_still_tells_the_invitation(server: DiscordServer) -> None:
    found = await check(server, token=SecretStr("MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.secret"))
    [finding] = found[health_checks.TOKEN]
    assert not finding.ok
    assert "Reset Token" in finding.remedy
    assert invite_link_of(123456789012345678) in found[health_checks.INVITE][0].what
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    ("reads", "granted", "ok", "told"),
    [
        ("mentions", Intent.NONE, True, "no privileged intent is needed"),
        ("mentions", Intent.MESSAGE_CONTENT, True, "is not needed"),
        ("everything", Intent.MESSAGE_CONTENT, True, "message_content"),
        ("everything", Intent.NONE, False, "may not use the privileged intent"),
    ],
)
async def test_intents(reads: str, granted: Intent, ok: bool, told: str) -> None:
    async with DiscordServer(granted=granted) as server:
        server.guild("Home")
        with redirected(server.api_url):
            [finding] = (await check(server, reads=reads))[health_checks.INTENTS]
    assert finding.ok == ok
    assert told in finding.what
    assert ("Message Content Intent" in finding.remedy) == (not ok)


async def test_a_bot_that_is_nowhere(server: DiscordServer) -> None:
    found = await check(server)
    [finding] = found[health_checks.SERVERS]
    assert not finding.ok
    assert invite_link_of(int(server.bot.id)) in finding.remedy
    assert health_checks.CHANNELS not in found


async def test_many_servers(server: DiscordServer) -> None:
    for number in range(12):
        server.guild(f"Home {number}")
    found = await check(server)
    assert "in 12 servers" in found[health_checks.SERVERS][0].what
    assert "and 2 more" in found[health_checks.SERVERS][0].what
    [rights] = found[health_checks.CHANNELS]
    assert rights.ok


@pytest.mark.parametrize("right", USED, ids=lambda right: right.name.lower())
async def test_each_right_missing_in_a_named_channel(server: DiscordServer, guild: Guild, right: Permission) -> None:
    general = server.channel(guild, "general")
    server.rights(general, server.bot, deny=right)
    [finding] = (await check(server, allowed_channels=(general.id,)))[health_checks.CHANNELS]
    assert not finding.ok
    if right is Permission.VIEW_CHANNEL:
        assert "may not view it" in finding.what
    else:
        name = str(right.name).replace("_", " ").title().replace(" In ", " in ")
        # Without the right to send messages, the library says, no file can be attached either.
        assert finding.what.startswith(f"in #general of Home the bot may not: {name}")
        assert "Permissions" in finding.remedy


@pytest.mark.parametrize("right", USED, ids=lambda right: right.name.lower())
async def test_each_right_that_a_server_does_not_give(server: DiscordServer, guild: Guild, right: Permission) -> None:
    everyone = server.state.roles[guild.id]
    everyone_else = int(everyone.permissions) & ~int(right)
    server.state.roles[guild.id] = type(everyone)(
        id=everyone.id, guild_id=everyone.guild_id, name=everyone.name, permissions=everyone_else
    )
    [finding] = (await check(server))[health_checks.CHANNELS]
    assert not finding.ok
    assert finding.what.startswith("in Home the bot may not: ")
    assert "Roles" in finding.remedy


async def test_channels_that_are_not_there(server: DiscordServer, guild: Guild) -> None:
    good = server.channel(guild, "good")
    direct = server.dm(server.person("ana", guild))
    found = (await check(server, allowed_channels=(good.id, "404404404404404404", direct.id)))[health_checks.CHANNELS]
    assert [finding.ok for finding in found] == [True, False, False]
    assert "#good" in found[0].what
    assert "does not exist" in found[1].what
    assert "direct message" in found[2].what


async def test_a_named_thread_has_the_rights_of_its_channel(server: DiscordServer, guild: Guild) -> None:
    general = server.channel(guild, "general")
    thread = server.thread(general, server.person("ana", guild), "plans")
    [good] = (await check(server, allowed_channels=(thread.id,)))[health_checks.CHANNELS]
    server.rights(general, server.bot, deny=Permission.SEND_MESSAGES_IN_THREADS)
    [bad] = (await check(server, allowed_channels=(thread.id,)))[health_checks.CHANNELS]
    assert good.what == "has all rights it uses in #plans of Home"
    assert bad.what == "in #plans of Home the bot may not: Send Messages in Threads"


@pytest.mark.parametrize(
    ("route", "code"),
    [
        ("GET /users/@me/guilds", health_checks.SERVERS),
        ("GET /guilds/*", health_checks.CHANNELS),
        ("GET /guilds/*/members/*", health_checks.CHANNELS),
        ("GET /applications/*/commands", health_checks.COMMANDS),
        ("GET /gateway/bot", health_checks.SESSIONS),
    ],
)
@pytest.mark.parametrize("trouble", [failing(503), Reset()], ids=["broken", "reset"])
async def test_trouble_with_one_question_is_one_finding(
    server: DiscordServer, guild: Guild, route: str, code: str, trouble: Trouble
) -> None:
    server.fault(route, trouble, times=None)
    found = await check(server)
    [finding] = found[code]
    assert not finding.ok
    assert "Discord" in finding.what or "gateway" in finding.what
    assert [other.code for findings in found.values() for other in findings if not other.ok] == [code]
    assert health_checks.CLOCK in found


async def test_commands_that_are_not_registered_yet(server: DiscordServer, guild: Guild) -> None:
    [before] = (await check(server))[health_checks.COMMANDS]
    async with connected(server):
        pass
    [after] = (await check(server))[health_checks.COMMANDS]
    [renamed] = (await check(server, command="ask"))[health_checks.COMMANDS]
    assert before.ok
    assert "goodbot run" in before.remedy
    assert after.remedy == ""
    assert renamed.what == "not registered with Discord yet: ask"


async def test_few_sessions_left(server: DiscordServer, guild: Guild) -> None:
    limit = {"total": 1000, "remaining": 3, "reset_after": 60_000, "max_concurrency": 1}
    told = {"url": server.gateway_url, "shards": 1, "session_start_limit": limit}
    server.fault("GET /gateway/bot", Answer(200, told, {"Content-Type": "application/json"}))
    [finding] = (await check(server))[health_checks.SESSIONS]
    assert finding.ok
    assert "3 of 1000" in finding.what
    assert "resets its token" in finding.remedy


@pytest.mark.parametrize(("shards", "remedy"), [(1, ""), (2, "GOODBOT_DISCORD_SHARDS=3"), (3, ""), (4, "")])
async def test_fewer_shards_than_discord_recommends(
    server: DiscordServer, guild: Guild, shards: int, remedy: str
) -> None:
    server.shards = 3
    [finding] = (await check(server, shards=shards))[health_checks.SESSIONS]
    assert finding.ok
    assert "3 recommended shards" in finding.what
    assert (remedy in finding.remedy) if remedy else not finding.remedy


@pytest.mark.parametrize(("ahead_s", "warns"), [(0, False), (30, False), (90, True), (-400, True)])
async def test_the_clock(server: DiscordServer, guild: Guild, ahead_s: int, warns: bool) -> None:
    [finding] = (await check(server, ahead=timedelta(seconds=ahead_s)))[health_checks.CLOCK]
    assert (finding.ok, bool(finding.remedy)) == (True, warns)


async def test_who_teaches_is_said_and_nobody_is_a_warning(server: DiscordServer) -> None:
    [usual] = (await check(server))["GB038"]
    assert (usual.ok, usual.remedy) == (True, "")
    assert "administrators: " in usual.what
    assert "; teachers: " in usual.what
    [warned] = (await check(server, managers="members", moderators="members"))["GB038"]
    assert (warned.ok, "TEACHERS" in warned.remedy) == (True, True)
    assert "nobody may approve" in warned.what

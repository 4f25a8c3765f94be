"""What the doctor finds on Slack, through the real client library and a local stand-in: every finding, good and bad."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from bot.adapters.check_result import CheckResult
from bot.adapters.slack import health_checks
from bot.adapters.slack.connection import HttpConnection
from bot.adapters.slack.health_checks import SlackHealthChecks
from bot.adapters.slack.installations.database import InstallationFile
from bot.adapters.slack.installations.oauth import INSTALL_PATH
from bot.adapters.slack.installations.scopes import EVENTS, SCOPES
from memory.adapters.system import utc_now
from tests.bot.adapters.slack.test_survival import listening
from tests.doubles.slack import ConnectionReset, RateLimited, Refused, ServerBroken, SlackServer
from tests.doubles.slack.faults import Fault, Hang
from tests.doubles.slack.workspace import ALL_SCOPES
from tests.doubles.slack_driver import connected, slack_settings
from tests.doubles.slack_workspaces_driver import KEY, OTHER_KEY, install_beforehand, workspaces_settings
from tests.doubles.sleep import Naps


async def check(
    server: SlackServer, *, ahead: timedelta = timedelta(0), timeout_s: float = 10.0, **settings: Any
) -> dict[str, list[CheckResult]]:
    """The findings by code, with a clock that is so much ahead."""
    found = await SlackHealthChecks(
        slack_settings(server, **settings), clock=lambda: utc_now() + ahead, timeout_s=timeout_s, sleep=Naps()
    ).results()
    assert [finding.code for finding in found] == sorted(finding.code for finding in found)
    assert all(finding.remedy for finding in found if not finding.ok)
    return {code: [finding for finding in found if finding.code == code] for code in {f.code for f in found}}


@asynccontextmanager
async def free_port() -> AsyncIterator[int]:
    taken = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = taken.sockets[0].getsockname()[1]
    taken.close()
    await taken.wait_closed()
    yield port


async def test_all_is_well(server: SlackServer) -> None:
    general = server.channel("general")
    found = await check(server, allowed_channels=(general,))
    assert sorted(found) == [f"GB02{number}" for number in range(9)]
    assert {len(findings) for findings in found.values()} == {1}
    assert all(finding.ok and not finding.remedy for [finding] in found.values())
    assert "@goodbot in acme" in found[health_checks.ACCOUNT][0].what
    assert f"all {len(SCOPES)} scopes" in found[health_checks.GRANTED][0].what
    assert "opens a socket" in found[health_checks.CONNECTION][0].what
    assert f"all {len(EVENTS)} events" in found[health_checks.SUBSCRIBED][0].what
    assert "Slack does not tell" in found[health_checks.SUBSCRIBED][0].what
    assert "#general" in found[health_checks.CHANNELS][0].what
    assert "/goodbot" in found[health_checks.COMMAND][0].what


async def test_it_changes_nothing_and_takes_no_events_away(server: SlackServer) -> None:
    await check(server, allowed_channels=(server.channel("general"),))
    asked = {call.method for call in server.calls()}
    assert asked == {"auth.test", "apps.connections.open", "bots.info", "conversations.info"}
    assert server.socket_mode.connections == []


async def test_no_named_channels(server: SlackServer) -> None:
    found = await check(server)
    assert found[health_checks.CHANNELS] == [
        CheckResult(code="GB025", what="slack.allowed_channels names none: it answers wherever it is invited")
    ]


@pytest.mark.parametrize(
    ("wrong", "told", "remedy"),
    [
        ({"bot_token": ""}, "no bot token", "OAuth & Permissions"),
        ({"bot_token": "xoxp-1"}, "a person's token", "Bot User OAuth Token"),
        ({"bot_token": "abc"}, "begins with xoxb-", "Bot User OAuth Token"),
        ({"app_token": ""}, "SLACK_APP_TOKEN is not set", "connections:write"),
        ({"app_token": "xoxb-1"}, "begins with xapp-", "connections:write"),
        ({"signing_secret": "", "mode": "http"}, "SLACK_SIGNING_SECRET is not set", "Basic Information"),
    ],
)
async def test_wrong_tokens_are_named_before_anybody_is_asked(
    server: SlackServer, wrong: dict[str, str], told: str, remedy: str
) -> None:
    given: dict[str, Any] = {name: value if name == "mode" else SecretStr(value) for name, value in wrong.items()}
    found = await check(server, **given)
    [finding] = found[health_checks.TOKENS]
    assert list(found) == [health_checks.TOKENS]
    assert not finding.ok
    assert told in finding.what
    assert remedy in finding.remedy
    assert server.calls() == []


@pytest.mark.parametrize(
    ("trouble", "told", "remedy"),
    [
        (Refused("invalid_auth"), "invalid_auth", "SLACK_BOT_TOKEN"),
        (Refused("token_revoked"), "token_revoked", "install the app again"),
        (Refused("account_inactive"), "account_inactive", "install the app again"),
        (Refused("token_expired"), "token_expired", "token rotation"),
        (Refused("some_new_error"), "some_new_error", "see the message"),
        (ServerBroken(503), "503", "SLACK_API_URL"),
        (ConnectionReset(), "cannot be reached", "SLACK_API_URL"),
        (RateLimited(3600), "wait 3600 s", "again"),
    ],
    ids=lambda value: str(value).split("(")[0] if isinstance(value, Refused) else None,
)
async def test_a_token_that_does_not_work(server: SlackServer, trouble: Fault, told: str, remedy: str) -> None:
    server.faults.next("auth.test", trouble, times=None)
    found = await check(server)
    [finding] = found[health_checks.ACCOUNT]
    assert sorted(found) == [health_checks.TOKENS, health_checks.ACCOUNT]
    assert not finding.ok
    assert told in finding.what
    assert remedy in finding.remedy


async def test_slack_that_does_not_answer(server: SlackServer) -> None:
    server.faults.next("auth.test", Hang(), times=None)
    [finding] = (await check(server, timeout_s=0.05))[health_checks.ACCOUNT]
    assert "no answer within 0.05 s" in finding.what
    assert "HTTPS_PROXY" in finding.remedy


async def test_slack_that_is_not_there(server: SlackServer) -> None:
    async with free_port() as port:
        [finding] = (await check(server, api_url=f"http://127.0.0.1:{port}/api/"))[health_checks.ACCOUNT]
    assert "cannot be reached" in finding.what
    assert "SLACK_API_URL" in finding.remedy


@pytest.mark.parametrize("wrong", [{"api_url": "http://[bad"}, {"bot_token": SecretStr("xoxb-1\n2")}])
async def test_what_no_request_can_carry(server: SlackServer, wrong: dict[str, Any]) -> None:
    [finding] = (await check(server, **wrong))[health_checks.ACCOUNT]
    assert not finding.ok
    assert "cannot be asked" in finding.what
    assert "xoxb" not in finding.what


@pytest.mark.parametrize("scope", sorted(SCOPES))
async def test_each_missing_scope_is_named_with_what_it_is_for(server: SlackServer, scope: str) -> None:
    server.workspace.scopes = set(ALL_SCOPES) - {scope}
    found = await check(server)
    [granted], [subscribed] = found[health_checks.GRANTED], found[health_checks.SUBSCRIBED]
    assert not granted.ok
    assert granted.what == f"missing scopes: {scope} ({SCOPES[scope]})"
    assert "slack-manifest.json" in granted.remedy
    silent = [event for event, scopes in EVENTS.items() if scope in scopes]
    assert subscribed.ok == (not silent)
    assert all(event in subscribed.what for event in silent)


async def test_scopes_that_slack_does_not_name(server: SlackServer) -> None:
    server.workspace.scopes = set()
    found = await check(server)
    [granted] = found[health_checks.GRANTED]
    assert granted.ok
    assert "did not say" in granted.what
    assert granted.remedy


@pytest.mark.parametrize(
    ("trouble", "told", "remedy"),
    [
        (Refused("invalid_auth"), "invalid_auth", "SLACK_APP_TOKEN"),
        (Refused("missing_scope", {"needed": "connections:write"}), "connections:write", "SLACK_APP_TOKEN"),
        (ServerBroken(500), "try again later", "SLACK_API_URL"),
    ],
    ids=["refused", "scope", "broken"],
)
async def test_an_app_token_that_opens_no_socket(server: SlackServer, trouble: Fault, told: str, remedy: str) -> None:
    server.faults.next("apps.connections.open", trouble, times=None)
    found = await check(server)
    [finding] = found[health_checks.CONNECTION]
    assert not finding.ok
    assert told in finding.what
    assert remedy in finding.remedy
    assert found[health_checks.GRANTED][0].ok


async def test_tokens_of_two_apps(server: SlackServer) -> None:
    server.workspace.bot.app_id = "A999"
    found = await check(server, app_token=SecretStr("xapp-1-A111-1"))
    [finding] = found[health_checks.CONNECTION]
    assert not finding.ok
    assert "A111" in finding.what
    assert "A999" in finding.what
    assert "same app" in finding.remedy


async def test_a_free_port_in_mode_http(server: SlackServer) -> None:
    async with free_port() as port:
        [finding] = (await check(server, mode="http", http_port=port))[health_checks.CONNECTION]
    assert finding.ok
    assert f"127.0.0.1:{port} is free" in finding.what
    assert "/slack/events" in finding.what


async def test_a_port_that_another_program_has(server: SlackServer) -> None:
    other = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    async with other:
        port = other.sockets[0].getsockname()[1]
        [finding] = (await check(server, mode="http", http_port=port))[health_checks.CONNECTION]
    assert not finding.ok
    assert f"cannot listen on 127.0.0.1:{port}" in finding.what
    assert "GOODBOT_SLACK_HTTP_PORT" in finding.remedy


async def test_a_port_that_the_bot_itself_has(server: SlackServer) -> None:
    async with free_port() as port:
        settings = slack_settings(server, mode="http", http_port=port)
    async with connected(server, mode="http", http_port=port):
        await listening(port)
        found = await SlackHealthChecks(settings, clock=utc_now, sleep=Naps()).results()
    [finding] = [each for each in found if each.code == health_checks.CONNECTION]
    assert finding.ok
    assert "the bot is running" in finding.what


SEVERAL: dict[str, Any] = {
    "bot_token": SecretStr(""),
    "client_id": "111.222",
    "client_secret": SecretStr("client-secret"),
    "token_key": SecretStr("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="),
}


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_several_workspaces(server: SlackServer, mode: str) -> None:
    async with free_port() as port:
        found = await check(server, **SEVERAL, mode=mode, http_port=port)
    assert all(finding.ok for findings in found.values() for finding in findings)
    assert "client id and secret" in found[health_checks.TOKENS][0].what
    assert "/slack/install" in found[health_checks.ACCOUNT][0].what
    socket = ["apps.connections.open"] if mode == "socket" else []
    assert [call.method for call in server.calls()] == [*socket, "auth.test"]
    assert "agrees with Slack's" in found[health_checks.CLOCK][0].what
    assert f"127.0.0.1:{port} is free" in found[health_checks.CONNECTION][-1].what


async def test_the_clock_matters_with_several_workspaces_too(server: SlackServer) -> None:
    async with free_port() as port:
        found = await check(server, ahead=timedelta(seconds=301), **SEVERAL, mode="http", http_port=port)
    [finding] = found[health_checks.CLOCK]
    assert (finding.ok, "signed requests are refused" in finding.what) == (False, True)


async def test_pages_that_are_being_served(server: SlackServer) -> None:
    async with free_port() as port:
        pass

    async def page(request: web.Request) -> web.Response:
        raise AssertionError("the doctor opens no page")

    serving = HttpConnection([web.get(INSTALL_PATH, page, allow_head=False)], host="127.0.0.1", port=port)
    await serving.open()
    try:
        found = await check(server, **SEVERAL, http_port=port)
    finally:
        await serving.close()
    assert "the bot is running" in found[health_checks.CONNECTION][-1].what


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"client_secret": SecretStr("")}, "SLACK_CLIENT_SECRET"),
        ({"token_key": SecretStr("")}, "GOODBOT_SLACK_TOKEN_KEY"),
        ({"token_key": SecretStr("short")}, "32 bytes"),
        ({"teachers": ("U1",)}, "must name its workspace"),
    ],
)
async def test_several_workspaces_with_wrong_settings(server: SlackServer, wrong: dict[str, Any], told: str) -> None:
    found = await check(server, **{**SEVERAL, **wrong})
    [finding] = found[health_checks.TOKENS]
    assert list(found) == [health_checks.TOKENS]
    assert told in finding.what
    assert "Several workspaces" in finding.remedy


async def test_the_token_key_is_tried_on_what_workspaces_installed(server: SlackServer, tmp_path: Path) -> None:
    path = tmp_path / "goodbot-slack.db"

    async def installed(key: str) -> CheckResult:
        settings = workspaces_settings(server, token_key=SecretStr(key))
        checks = SlackHealthChecks(settings, clock=utc_now, sleep=Naps(), database=InstallationFile(path))
        return (await checks.results())[-1]

    nobody = await installed(KEY)
    assert (nobody.code, nobody.ok, path.exists()) == ("GB029", True, False)
    assert nobody.what == "no workspace installed the app yet"
    await install_beforehand(path, server.workspace)
    kept = path.read_bytes()
    assert (await installed(KEY)).what.startswith("1 workspace installed")
    wrong = await installed(OTHER_KEY)
    assert (wrong.code, wrong.ok) == ("GB029", False)
    assert "put that key back" in wrong.what
    assert "every process the same GOODBOT_SLACK_TOKEN_KEY" in wrong.remedy
    assert (await installed(f"{OTHER_KEY},{KEY}")).ok
    assert path.read_bytes() == kept
    path.write_bytes(b"not a database at all" * 100)
    assert "cannot be used" in (await installed(KEY)).what


async def test_channels_that_the_bot_cannot_use(server: SlackServer) -> None:
    boss = server.person("boss")
    good, left, old, secret = (server.channel(name) for name in ("good", "left", "old", "secret"))
    server.workspace.channels[secret].kind = "group"
    server.remove_bot(left)
    server.remove_bot(secret)
    server.archive(old, boss)
    found = (await check(server, allowed_channels=(good, left, old, secret, "C404")))[health_checks.CHANNELS]
    assert [finding.ok for finding in found] == [True, False, False, False, False]
    assert "#good" in found[0].what
    for finding, told, remedy in zip(
        found[1:],
        [f"not a member of #left ({left})", f"#old ({old}) is archived", secret, "C404"],
        ["/invite @goodbot", "take it out", "/invite @goodbot", "compare the id"],
        strict=True,
    ):
        assert told in finding.what
        assert remedy in finding.remedy


async def test_a_channel_that_cannot_be_looked_up(server: SlackServer) -> None:
    server.faults.next("conversations.info", ServerBroken(503), times=None)
    [finding] = (await check(server, allowed_channels=(server.channel("general"),)))[health_checks.CHANNELS]
    assert not finding.ok
    assert "try again later" in finding.what


@pytest.mark.parametrize(
    ("ahead_s", "mode", "ok", "warns"),
    [
        (0, "socket", True, False),
        (30, "socket", True, False),
        (90, "socket", True, True),
        (-90, "http", True, True),
        (400, "http", False, True),
        (-400, "http", False, True),
        (400, "socket", True, True),
    ],
)
async def test_the_clock(server: SlackServer, ahead_s: int, mode: str, ok: bool, warns: bool) -> None:
    async with free_port() as port:
        found = await check(server, ahead=timedelta(seconds=ahead_s), mode=mode, http_port=port)
    [finding] = found[health_checks.CLOCK]
    assert (finding.ok, bool(finding.remedy)) == (ok, warns)
    if warns:
        assert ("ahead of" if ahead_s > 0 else "behind") in finding.what
        assert "NTP" in finding.remedy


async def test_another_command_must_be_named_in_slack_too(server: SlackServer) -> None:
    [finding] = (await check(server, command="/ask"))[health_checks.COMMAND]
    assert finding.ok
    assert "/ask" in finding.what
    assert "Slash Commands" in finding.remedy


async def test_secrets_stay_out_of_findings(server: SlackServer) -> None:
    for trouble in (None, Refused("invalid_auth"), ConnectionReset()):
        if trouble is not None:
            server.faults.next("auth.test", trouble)
        found = await check(server)
        said = str(found)
        settings = slack_settings(server)
        for secret in (settings.bot_token, settings.app_token, settings.signing_secret):
            assert secret.get_secret_value() not in said


async def test_who_teaches_is_said_and_nobody_is_a_warning(server: SlackServer) -> None:
    [usual] = (await check(server))["GB028"]
    assert (usual.ok, usual.remedy) == (True, "")
    assert "administrators: " in usual.what
    assert "; teachers: " in usual.what
    [warned] = (await check(server, owners="members", creators="members"))["GB028"]
    assert (warned.ok, "TEACHERS" in warned.remedy) == (True, True)
    assert "nobody may approve" in warned.what

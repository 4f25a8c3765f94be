"""Installing the app through its pages, and everything that must not install it."""

import asyncio
import logging
import sqlite3
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from bot.adapters.slack.installations.database import SECRETS, InstallationFile, SharedInstallations
from bot.adapters.slack.installations.scopes import SCOPES
from bot.adapters.slack.installations.transfer import copy_installations, count_installations
from bot.errors import ConfigError, MessengerUnavailable
from tests.bot.adapters.messenger_contract import Heard
from tests.doubles.postgres import files, new_database
from tests.doubles.slack import ConnectionReset, Refused, ServerBroken, SlackServer
from tests.doubles.slack.core import CLIENT_SECRET
from tests.doubles.slack_workspaces_driver import (
    KEY,
    OTHER_KEY,
    free_port,
    install_beforehand,
    installations,
    make_workspaces,
    running,
    workspaces_settings,
)

# slack_sdk uses aiohttp's BasicAuth for the client's id and secret, which newer versions of aiohttp want replaced.
pytestmark = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer() as running_server:
        yield running_server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "goodbot-slack.db"


async def kept(path: Path, server: SlackServer) -> list[str]:
    """The tokens in force."""
    store = installations(path)
    found = [await store.of(team) for team in server.slack.workspaces]
    return [each.token for each in found if each is not None]


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as database:
        found = database.execute(query).fetchall()
    database.close()
    return found


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def overwrite(path: Path, content: bytes) -> None:
    path.write_bytes(content)


# Installing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_two_workspaces_install_while_it_runs(server: SlackServer, path: Path, mode: str) -> None:
    other = server.add_workspace("T0002", "umbrella")
    async with running(server, path, mode=mode) as session:
        for workspace in (server.workspace, other):
            page = await session.browser.install(workspace)
            assert (page.status, page.headers["Cache-Control"]) == (200, "no-store")
            assert f"slack://app?team={workspace.id}" in page.text
    assert server.slack.scopes_asked_for == set(SCOPES)
    assert await kept(path, server) == [server.workspace.bot_token, other.bot_token]


async def test_the_public_address_is_where_slack_sends_people_back_to(server: SlackServer, path: Path) -> None:
    port = free_port()
    async with running(server, path, http_port=port, public_url=f"http://127.0.0.1:{port}/") as session:
        server.slack.redirect_url = "http://127.0.0.1:1/elsewhere"
        assert (await session.browser.install(server.workspace)).status == 200
    [exchange] = server.calls("oauth.v2.access")
    assert exchange.args["redirect_uri"] == f"http://127.0.0.1:{port}/slack/oauth_redirect"


# What must not install it ---------------------------------------------------------------------------------------------


async def test_a_state_is_good_once_in_one_browser(server: SlackServer, path: Path) -> None:
    async with running(server, path) as session:
        address = await session.browser.consent(server.workspace)
        assert (await session.another_browser().get(address)).status == 400
        assert server.calls("oauth.v2.access") == []
        assert (await session.browser.get(address)).status == 200
        code = server.offer_code()
        state = address.partition("state=")[2].partition("&")[0]
        session.browser.cookies["slack-app-oauth-state"] = state
        replayed = await session.browser.come_back(state=state, code=code)
    assert (replayed.status, "too old, or was finished before" in replayed.text) == (401, True)
    assert len(server.calls("oauth.v2.access")) == 1


async def test_a_forged_state_does_nothing_even_with_a_cookie_of_its_own(server: SlackServer, path: Path) -> None:
    async with running(server, path) as session:
        session.browser.cookies["slack-app-oauth-state"] = "forged"
        for state in ("forged", "' OR 1=1 --"):
            session.browser.cookies["slack-app-oauth-state"] = state
            page = await session.browser.come_back(state=state, code=server.offer_code())
            assert page.status in (400, 401)
        assert (await session.browser.come_back(code=server.offer_code())).status == 400
    assert (server.calls("oauth.v2.access"), await kept(path, server)) == ([], [])


async def test_a_state_is_good_for_a_while_only_and_leaves_no_trace(path: Path) -> None:
    late, in_time = installations(path, state_good_for_s=-1), installations(path)
    await late.open()
    assert not await late.use_state(await late.new_state())
    state = await in_time.new_state()
    assert rows(path, "SELECT state FROM slack_oauth_states") == [(state,)]
    assert await in_time.use_state(state)
    assert not await in_time.use_state(state)
    assert rows(path, "SELECT state FROM slack_oauth_states") == []


async def test_who_declines_is_told_so(server: SlackServer, path: Path) -> None:
    server.slack.people_decline = True
    async with running(server, path) as session:
        page = await session.browser.install(server.workspace)
    assert (page.status, "you did not agree" in page.text) == (200, True)
    assert await kept(path, server) == []


async def test_what_comes_in_an_address_is_shown_as_text(server: SlackServer, path: Path) -> None:
    async with running(server, path) as session:
        page = await session.browser.come_back(error="<script>alert(1)</script>" + "x" * 1000)
    assert "<script>" not in page.text
    assert "&lt;script&gt;" in page.text
    assert len(page.text) < 1000


@pytest.mark.parametrize("fault", [ConnectionReset(), ServerBroken(503), Refused("invalid_code")])
async def test_when_slack_does_not_give_a_token_one_may_begin_again(
    server: SlackServer, path: Path, fault: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server.faults.next("oauth.v2.access", fault)
    async with running(server, path) as session:
        page = await session.browser.install(server.workspace)
        assert page.status in (401, 502)
        assert 'href="/slack/install"' in page.text
        assert (await session.browser.install(server.workspace)).status == 200
    assert await kept(path, server) == [server.workspace.bot_token]
    assert "code-" not in caplog.text


@pytest.mark.parametrize(
    ("extras", "said"),
    [
        ({"is_enterprise_install": True, "team": None, "enterprise": {"id": "E1"}}, "choose one of its workspaces"),
        ({"refresh_token": "xoxe-1-refresh", "expires_in": 43200}, "token rotation"),
    ],
)
async def test_a_token_it_cannot_work_with_is_handed_back(
    server: SlackServer, path: Path, extras: dict[str, Any], said: str
) -> None:
    server.slack.installation_extras = extras
    async with running(server, path) as session:
        page = await session.browser.install(server.workspace)
    assert (page.status, said in page.text) == (403, True)
    assert [call.token for call in server.calls("auth.revoke")] == [server.workspace.bot_token]
    assert await kept(path, server) == []


# Tokens at rest, in logs and in words ---------------------------------------------------------------------------------


async def test_no_token_is_in_any_file_or_log(
    server: SlackServer, path: Path, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    ana = server.person("ana")
    async with running(server, path) as session:
        await session.browser.install(server.workspace)
        ana.says(ana.dm, "hello?")
        await session.settled()
        shown = f"{session.messenger!r} {session.settings!r} {await installations(path).of('T0001')!r}"
        server.uninstall()
        await session.settled()
        await session.browser.install(server.workspace)
    written = contents(tmp_path)
    assert path in written
    assert [file for file, content in written.items() if b"xoxb-" in content or KEY.encode() in content] == []
    assert [row for row in rows(path, "SELECT bot_token FROM slack_bots") if not row[0].startswith("gAAAA")] == []
    assert mode_of(path) == 0o600
    for secret in ("xoxb-", KEY, CLIENT_SECRET):
        assert secret not in caplog.text
        assert secret not in shown


async def test_every_column_that_gives_access_is_encrypted(server: SlackServer, path: Path) -> None:
    secrets = {name: f"xoxp-{name}" for name in SECRETS if name != "bot_token"}
    await install_beforehand(path, server.workspace, **secrets)
    stored = [row for table in ("slack_bots", "slack_installations") for row in rows(path, f"SELECT * FROM {table}")]
    texts = [value for row in stored for value in row if isinstance(value, str)]
    assert [text for text in texts if text.startswith("xox")] == []
    assert len([text for text in texts if text.startswith("gAAAA")]) == len(SECRETS) + 2


async def test_an_error_of_the_database_quotes_no_token(server: SlackServer, path: Path) -> None:
    await install_beforehand(path, server.workspace)
    rows(path, "DROP TABLE slack_installations")
    with pytest.raises(MessengerUnavailable) as caught:
        await install_beforehand_without_opening(path, server)
    chain = [caught.value, caught.value.__cause__]
    assert "xoxb-" not in "".join(f"{error} {error!r} {getattr(error, 'params', '')}" for error in chain)


async def install_beforehand_without_opening(path: Path, server: SlackServer) -> None:
    from slack_sdk.oauth.installation_store import Installation

    await installations(path).save(
        Installation(app_id="A1", team_id="T0001", bot_token=server.workspace.bot_token, user_id="U1")
    )


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("", "is missing"),
        ("no key", "URL-safe base64"),
        (KEY[:-4], "URL-safe base64"),
        (OTHER_KEY, "put that key back"),
    ],
)
async def test_a_key_that_does_not_fit_is_named_and_not_shown(
    server: SlackServer, path: Path, keys: str, said: str
) -> None:
    await install_beforehand(path, server.workspace)
    messenger = make_workspaces(workspaces_settings(server, token_key=SecretStr(keys)), path)
    with pytest.raises(ConfigError, match=f"GOODBOT_SLACK_TOKEN_KEY.*{said}") as caught:
        await messenger.run(Heard().__call__)
    await messenger.close()
    assert not keys or keys not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_a_new_key_takes_over_and_the_old_one_is_needed_no_more(server: SlackServer, path: Path) -> None:
    await install_beforehand(path, server.workspace)
    both = installations(path, f"{OTHER_KEY}, {KEY}")
    await both.open()
    found = [await installations(path, keys).of("T0001") for keys in (f"{KEY},{OTHER_KEY}", OTHER_KEY)]
    assert [each and each.token for each in found] == [server.workspace.bot_token] * 2
    with pytest.raises(ConfigError, match="GOODBOT_SLACK_TOKEN_KEY"):
        await installations(path).open()


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"client_secret": SecretStr("")}, "SLACK_CLIENT_SECRET"),
        ({"app_token": SecretStr("")}, "SLACK_APP_TOKEN"),
        ({"mode": "http", "signing_secret": SecretStr("")}, "SLACK_SIGNING_SECRET"),
        ({"admins": ("U001ANA",)}, "slack.admins: U001ANA must name its workspace"),
        ({"allowed_channels": ("T1/C1", "C1")}, "slack.allowed_channels: C1 must name its workspace"),
    ],
)
async def test_a_wrong_setting_is_named(server: SlackServer, path: Path, wrong: dict[str, Any], named: str) -> None:
    messenger = make_workspaces(workspaces_settings(server, **wrong), path)
    with pytest.raises(ConfigError, match=named):
        await messenger.run(Heard().__call__)
    await messenger.close()
    assert contents(path.parent) == {}


async def test_a_file_of_another_program_is_not_touched(server: SlackServer, path: Path) -> None:
    path.parent.mkdir()
    rows(path, "CREATE TABLE slack_bots (id INTEGER PRIMARY KEY)")
    with pytest.raises(ConfigError, match="slack_bots lacks app_id"):
        await installations(path).open()
    assert rows(path, "SELECT name FROM sqlite_master") == [("slack_bots",)]
    overwrite(path, b"not a database at all" * 100)
    with pytest.raises(MessengerUnavailable, match="check the file"):
        await installations(path).open()


# Beside other processes, and off the event loop -----------------------------------------------------------------------


async def test_two_processes_make_the_file_at_once_and_use_a_state_once(path: Path) -> None:
    processes = [installations(path) for _ in range(4)]
    await asyncio.gather(*(process.open() for process in processes))
    state = await processes[0].new_state()
    assert sorted(await asyncio.gather(*(process.use_state(state) for process in processes))) == [False] * 3 + [True]


async def test_on_a_server_all_processes_have_the_same_installations(server: SlackServer) -> None:
    url = new_database()
    one, other, *more = processes = [installations(url) for _ in range(4)]
    late, both = installations(url, state_good_for_s=-1), installations(url, f"{OTHER_KEY},{KEY}")
    keyless = installations(url, OTHER_KEY)
    await asyncio.gather(*(process.open() for process in processes))
    state = await one.new_state()
    assert sorted(await asyncio.gather(*(process.use_state(state) for process in processes))) == [False] * 3 + [True]
    assert not await other.use_state(await late.new_state())

    await install_beforehand(url, server.workspace)
    found = [await process.of("T0001") for process in processes]
    assert [each and each.token for each in found] == [server.workspace.bot_token] * 4
    assert found[0] is not None
    assert await other.times() == {"T0001": found[0].at}
    with pytest.raises(ConfigError, match="put that key back"):
        await keyless.open()
    await both.open()
    again = await keyless.of("T0001")
    assert (again and again.token, await keyless.times()) == (server.workspace.bot_token, await one.times())
    assert b"xoxb-" not in files(url)

    await other.remove(found[0])
    assert [await process.of("T0001") for process in (one, *more)] == [None] * 3
    assert await one.times() == {}
    for process in (*processes, late, both, keyless):
        process.close()


async def test_the_event_loop_goes_on_while_the_file_is_locked(server: SlackServer, path: Path) -> None:
    await install_beforehand(path, server.workspace)
    locked = sqlite3.connect(path, isolation_level=None)
    locked.execute("BEGIN EXCLUSIVE")
    finding = asyncio.create_task(installations(path).of("T0001"))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not finding.done()
    locked.execute("ROLLBACK")
    locked.close()
    found = await finding
    assert found is not None
    assert found.token == server.workspace.bot_token


async def test_tokens_are_found_after_the_database_closed_its_connections(server: SlackServer) -> None:
    url = new_database()
    await install_beforehand(url, server.workspace)
    process = installations(url)
    await process.open()
    assert await process.of("T0001") is not None
    with psycopg.connect(url, autocommit=True) as administrator:
        administrator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    found = await process.of("T0001")
    assert found is not None
    assert found.token == server.workspace.bot_token
    process.close()


# From one database to another -----------------------------------------------------------------------------------------


async def test_a_copy_has_the_same_tokens_either_way_and_needs_no_key(server: SlackServer, path: Path) -> None:
    other, file, url = server.add_workspace("T0002", "umbrella"), InstallationFile(path), new_database()
    assert (count_installations(file), contents(path.parent)) == (0, {})
    assert count_installations(SharedInstallations(SecretStr(url))) == 0
    await install_beforehand(path, server.workspace, other, user_token="xoxp-1")
    copy_installations(file, SharedInstallations(SecretStr(url)))
    back = path.with_name("back.db")
    for place in (url, back):
        if place == back:
            copy_installations(SharedInstallations(SecretStr(url)), InstallationFile(back))
        kept_there = installations(place)
        await kept_there.open()
        # One more: the numbers of the rows go on behind those that were copied.
        await install_beforehand(place, server.workspace)
        found = [await kept_there.of(each.id) for each in (server.workspace, other)]
        assert [each and each.token for each in found] == [server.workspace.bot_token, other.bot_token]
        kept_there.close()
    assert count_installations(InstallationFile(back)) == 2
    kept = back.read_bytes() + files(url)
    assert [each for each in (b"xoxb-", b"xoxp-") if each in kept] == []  # three letters would be there by chance
    assert mode_of(back) == 0o600


async def test_a_copy_takes_the_place_of_what_was_there(server: SlackServer, path: Path) -> None:
    other, target = server.add_workspace("T0002", "umbrella"), path.with_name("target.db")
    await install_beforehand(path, server.workspace)
    await install_beforehand(target, other)
    copy_installations(InstallationFile(path), InstallationFile(target))
    assert await kept(target, server) == [server.workspace.bot_token]
    overwrite(target, b"not a database at all" * 100)
    with pytest.raises(MessengerUnavailable, match="check the file"):
        copy_installations(InstallationFile(path), InstallationFile(target))

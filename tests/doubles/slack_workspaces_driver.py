"""Slack with several workspaces, connected to the local stand-in, and a browser to install the app with."""

import asyncio
import base64
import html
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from aiohttp import ClientSession
from pydantic import SecretStr
from slack_sdk.oauth.installation_store import Installation

from bot.adapters.slack.installations.database import InstallationDatabase, InstallationFile, SharedInstallations
from bot.adapters.slack.installations.encryption import TokenCipher
from bot.adapters.slack.installations.installations import Installations
from bot.adapters.slack.installations.oauth import INSTALL_PATH, REDIRECT_PATH
from bot.adapters.slack.installations.workspaces import SlackWorkspaces
from bot.config import SlackSettings
from memory.adapters.system import utc_now
from tests.bot.adapters.messenger_contract import Heard, taking_in
from tests.doubles.queries import QUERIES
from tests.doubles.slack import SlackServer, Workspace
from tests.doubles.slack.core import APP_ID, CLIENT_ID, CLIENT_SECRET
from tests.doubles.slack_driver import slack_settings
from tests.doubles.sleep import Naps

KEY = base64.urlsafe_b64encode(b"k" * 32).decode()
OTHER_KEY = base64.urlsafe_b64encode(b"o" * 32).decode()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def workspaces_settings(server: SlackServer, **more: Any) -> SlackSettings:
    """Settings that point at the stand-in, without a workspace's token."""
    given = {
        "bot_token": SecretStr(""),
        "client_id": CLIENT_ID,
        "client_secret": SecretStr(CLIENT_SECRET),
        "token_key": SecretStr(KEY),
        "http_port": free_port(),
    }
    return slack_settings(server, **(given | more))


Place = Path | str
"""A file of installations, or the address of a PostgreSQL that has them."""


def _database(place: Place) -> InstallationDatabase:
    return InstallationFile(place) if isinstance(place, Path) else SharedInstallations(SecretStr(place))


def make_workspaces(settings: SlackSettings, place: Place) -> SlackWorkspaces:
    """A messenger that is not connected yet."""
    return SlackWorkspaces(settings, database=_database(place), clock=utc_now, queries=QUERIES, sleep=Naps())


def installations(place: Place, keys: str = KEY, **more: Any) -> Installations:
    """What is kept there."""
    return Installations(
        _database(place), client_id=CLIENT_ID, cipher=TokenCipher(SecretStr(keys)), clock=utc_now, **more
    )


async def install_beforehand(place: Place, *workspaces: Workspace, keys: str = KEY, **more: Any) -> None:
    """As if people had installed the app earlier."""
    store = installations(place, keys)
    await store.open()
    for workspace in workspaces:
        given = {"team_id": workspace.id, "bot_token": workspace.bot_token, "user_id": "U1", **more}
        await store.save(Installation(app_id=APP_ID, bot_user_id=workspace.bot.id, **given))
    store.close()


@dataclass(frozen=True)
class Page:
    """What a browser shows."""

    status: int
    text: str
    headers: dict[str, str] = field(default_factory=dict)


class Browser:
    """One person's. aiohttp's own cookies would not go back over plain HTTP, as browsers do for 127.0.0.1."""

    def __init__(self, session: ClientSession, base: str) -> None:
        self._session = session
        self._base = base
        self.cookies: dict[str, str] = {}

    async def get(self, url: str) -> Page:
        """One page, without following where it leads."""
        sent = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        async with self._session.get(url, headers={"Cookie": sent} if sent else {}, allow_redirects=False) as answer:
            self.cookies |= {name: morsel.value for name, morsel in answer.cookies.items()}
            return Page(answer.status, await answer.text(), dict(answer.headers))

    async def begin(self, workspace: Workspace) -> str:
        """Open the install page: Slack's address that its button leads to."""
        page = await self.get(f"{self._base}{INSTALL_PATH}?team={workspace.id}")
        [address] = re.findall(r'<a href="([^"]+)">', page.text)
        return html.unescape(address)

    async def consent(self, workspace: Workspace) -> str:
        """Agree at Slack, or decline: the address that Slack sends the person back to."""
        page = await self.get(await self.begin(workspace))
        return page.headers["Location"]

    async def install(self, workspace: Workspace) -> Page:
        """All of it."""
        return await self.get(await self.consent(workspace))

    async def come_back(self, **query: str) -> Page:
        """Go to the redirect page with anything at all."""
        return await self.get(f"{self._base}{REDIRECT_PATH}?{urlencode(query)}")


@dataclass
class Running:
    """A connected messenger for several workspaces."""

    server: SlackServer
    messenger: SlackWorkspaces
    settings: SlackSettings
    heard: Heard
    task: "asyncio.Task[None]"
    browser: Browser
    session: ClientSession

    def another_browser(self) -> Browser:
        """Somebody else's."""
        return Browser(self.session, f"http://127.0.0.1:{self.settings.http_port}")

    async def settled(self) -> None:
        """Until everything that was sent to the bot is acknowledged."""
        await self.server.settled()


@asynccontextmanager
async def running(
    server: SlackServer, place: Place, *, heard: Heard | None = None, **more: Any
) -> AsyncIterator[Running]:
    """Connected, and closed at the end. `more` are settings."""
    settings = workspaces_settings(server, **more)
    base = f"http://127.0.0.1:{settings.http_port}"
    server.slack.redirect_url = f"{base}{REDIRECT_PATH}"
    messenger, heard = make_workspaces(settings, place), heard or Heard()
    async with taking_in(messenger, heard) as task:
        if settings.mode == "socket":
            await server.connected()
        else:
            await _listening(settings.http_port)
            server.deliver_over_http(f"{base}/slack/events")
        async with ClientSession() as session:
            yield Running(server, messenger, settings, heard, task, Browser(session, base), session)


async def _listening(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            await writer.wait_closed()
            return

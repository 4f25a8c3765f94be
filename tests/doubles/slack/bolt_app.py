"""The real slack-bolt, pointed at the stand-in, with an app that writes down what it hears."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.doubles.slack.core import APP_TOKEN, SIGNING_SECRET
from tests.doubles.slack.server import SlackServer
from tests.doubles.slack.state import Json
from tests.doubles.slack.workspace import Workspace

EVENTS = (
    "message", "app_mention", "reaction_added", "reaction_removed", "app_home_opened", "agent_session_stopped",
    "member_joined_channel", "member_left_channel", "channel_archive", "tokens_revoked", "app_uninstalled",
)  # fmt: skip


class Recorder:
    """An app whose listeners only keep the bodies they were given."""

    def __init__(self, server: SlackServer) -> None:
        self._server = server
        self.bodies: list[Json] = []
        self.retries: list[str] = []

    def listen(self, app: AsyncApp) -> None:
        """Put listeners on the app."""
        for name in EVENTS:
            app.event(name)(self._hear)

    def events(self, kind: str = "") -> list[Json]:
        """The events heard so far, of one type if named."""
        heard = [body["event"] for body in self.bodies if "event" in body]
        return [event for event in heard if kind in ("", event["type"])]

    async def _hear(self, body: Json, request: Any) -> None:
        self.bodies.append(body)
        self.retries.append(",".join(request.headers.get("x-slack-retry-num", [])))
        self._server.look_again()


def web_client(server: SlackServer, workspace: Workspace | None = None) -> AsyncWebClient:
    """The real client with the workspace's token. It repeats nothing by itself."""
    token = (workspace or server.workspace).bot_token
    return AsyncWebClient(token=token, base_url=server.api_url, retry_handlers=[])


def new_app(server: SlackServer) -> AsyncApp:
    """The real app, not connected."""
    return AsyncApp(client=web_client(server), signing_secret=SIGNING_SECRET)


@asynccontextmanager
async def connected(
    server: SlackServer, *listen: Callable[[AsyncApp], None], ping_interval_s: float = 0.5
) -> AsyncIterator[AsyncApp]:
    """The app, connected through Socket Mode."""
    app = new_app(server)
    for register in listen:
        register(app)
    client: Any = AsyncSocketModeHandler(app, APP_TOKEN, ping_interval=ping_interval_s).client
    before = len(server.socket_mode.connections)
    await client.connect()
    await server.connected(before + 1)
    try:
        yield app
    finally:
        await client.close()


def section(text: str) -> Json:
    """A section block."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


async def error_of(call: Awaitable[object]) -> str:
    """The error of a call that Slack must refuse."""
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])

"""The connections Slack's payloads come over: a WebSocket that the bot opens (Socket Mode), or signed requests."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from typing import Any

from aiohttp import web
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.adapters.flow_control import FairGate, Sleep, connect_with_retries
from bot.adapters.slack.web import Web, library_log, names_token
from bot.config import SlackSettings
from bot.conversation.executor import run_unless
from bot.errors import ConfigError, MessengerError, NotPermitted

log = logging.getLogger(__name__)

EVENTS_PATH = "/slack/events"
_TOKEN_PREFIXES = {"bot_token": "xoxb-", "app_token": "xapp-"}
_REMEDY = (
    "set it to an App-Level Token (xapp-...) with the scope connections:write, made on the page Basic Information of "
    "your app on api.slack.com/apps"
)
_MAX_BODY_BYTES = 1024 * 1024
_GRACE_S = 3.0
_PORT_RETRY_S = 1.0
_MISSED_PINGS_BEFORE_RECONNECT = 6
"""slack-sdk replaces a silent connection after four missed pings; after six it is stuck and is replaced whole."""


class _SocketSession:
    """One of slack-sdk's clients, and the payloads of it that are being handled."""

    def __init__(self, app: AsyncApp, app_token: str, *, url: str, ping_interval_s: float) -> None:
        self._handler = AsyncSocketModeHandler(app, app_token, logger=library_log(), ping_interval=ping_interval_s)
        # Untyped in places: slack-sdk annotates neither `connect` nor `close`.
        self._client: Any = self._handler.client
        self._client.wss_uri = url
        self._client.socket_mode_request_listeners = [self._handle]
        self._is_closing = False
        self._handling: set[asyncio.Future[None]] = set()
        self._fair_gate = FairGate()

    async def connect(self) -> None:
        """Wait for a connection: slack-sdk retries the same address without end."""
        await self._client.connect()

    async def is_connected(self) -> bool:
        """Whether the WebSocket is connected."""
        return bool(await self._client.is_connected())

    @property
    def is_up(self) -> bool:
        """Whether the WebSocket is open. Unlike `is_connected` this needs no waiting, and ignores missed pings."""
        session = self._client.current_session
        return not self._client.closed and session is not None and not session.closed

    async def close(self) -> None:
        """Finish and acknowledge what is being handled, then disconnect."""
        self._is_closing = True
        if self._handling:
            await asyncio.wait(self._handling, timeout=_GRACE_S)
        client = self._client
        await client.close()
        tasks = (client.message_processor, client.message_receiver, client.current_session_monitor)
        await asyncio.gather(*filter(None, tasks), return_exceptions=True)

    async def _handle(self, client: object, request: SocketModeRequest) -> None:
        """Handle and acknowledge one payload. While closing, payloads are ignored: Slack sends them again."""
        if self._is_closing:
            return
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._handling.add(done)
        try:
            await self._fair_gate.pass_through()
            await self._handler.handle(self._client, request)
        finally:
            self._handling.discard(done)
            done.set_result(None)


class SocketConnection:
    """Socket Mode: no public address needed. Stays connected by itself."""

    def __init__(self, app: AsyncApp, api: Web, *, app_token: str, ping_interval_s: float) -> None:
        self._app = app
        self._web = api
        self._app_token = app_token
        self._ping_interval_s = ping_interval_s
        self._session: _SocketSession | None = None
        self._watch: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect, and watch over the connection from now on. Raises `NotPermitted`, `MessengerUnavailable`."""
        await self._connect()
        self._watch = asyncio.create_task(self._keep_connected())

    async def close(self) -> None:
        """Disconnect for good."""
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        await self._disconnect()

    @property
    def is_up(self) -> bool:
        """Whether payloads come in now. Safe from any thread."""
        return self._session is not None and self._session.is_up

    async def _connect(self) -> None:
        # Asked for here: slack-sdk would retry without end with a token that Slack refuses.
        opening = self._web.client.apps_connections_open
        try:
            answer = await self._web.call(opening, about="Socket Mode", app_token=self._app_token)
        except NotPermitted as error:
            raise names_token(error, "SLACK_APP_TOKEN", _REMEDY) from error.__cause__
        self._session = _SocketSession(
            self._app, self._app_token, url=str(answer["url"]), ping_interval_s=self._ping_interval_s
        )
        try:
            # An address works only once, so a new one must be requested if this one fails.
            async with asyncio.timeout(self._ping_interval_s * _MISSED_PINGS_BEFORE_RECONNECT):
                await self._session.connect()
        except TimeoutError:
            log.warning("no connection to Slack yet; trying again with a new address")

    async def _disconnect(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _keep_connected(self) -> None:
        """Replace the connection if it is stuck: slack-sdk reconnects by itself, but not always."""
        missed = 0
        while True:
            await asyncio.sleep(self._ping_interval_s)
            is_connected = self._session is not None and await self._session.is_connected()
            missed = 0 if is_connected else missed + 1
            if missed < _MISSED_PINGS_BEFORE_RECONNECT:
                continue
            log.warning("the connection to Slack does not come back by itself; opening a new one")
            missed = 0
            await self._disconnect()
            try:
                await self._connect()
            except MessengerError as error:
                log.warning("still not connected to Slack: %s", error)


class HttpConnection:
    """An HTTP server for Slack's requests and people's browsers.

    With `waits` another process may have the port first: it listens once the port is free.
    """

    def __init__(self, routes: Sequence[web.RouteDef], *, host: str, port: int, waits: bool = False) -> None:
        self._host = host
        self._port = port
        self._waits = waits
        self._waiting: asyncio.Task[None] | None = None
        self._paths = ", ".join(route.path for route in routes)
        site = web.Application(client_max_size=_MAX_BODY_BYTES)
        site.add_routes(routes)
        self._runner = web.AppRunner(site, access_log=None, shutdown_timeout=_GRACE_S)

    @property
    def is_up(self) -> bool:
        """Whether it listens, or waits for another process that does. Safe from any thread."""
        return self._waits or bool(self._runner.sites)

    async def open(self) -> None:
        """Listen. Raises `ConfigError` when the port is taken."""
        await self._runner.setup()
        try:
            await self._listen()
        except OSError as exc:
            where, why = f"{self._host}:{self._port}", exc.strerror
            if not self._waits:
                raise ConfigError(f"cannot listen for Slack on {where}: {why}; set slack.http_port") from exc
            log.warning("another process listens on %s (%s): the pages are its, and ours when it ends", where, why)
            self._waiting = asyncio.create_task(self._listen_when_free())

    async def close(self) -> None:
        """Finish the requests under way."""
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.wait({self._waiting})
        await self._runner.cleanup()

    async def _listen(self) -> None:
        site = web.TCPSite(self._runner, self._host, self._port)
        try:
            await site.start()
        except OSError:
            await site.stop()
            raise
        log.info("listening for Slack on %s:%d%s", self._host, self._port, self._paths)

    async def _listen_when_free(self) -> None:
        while not self._runner.sites:
            await asyncio.sleep(_PORT_RETRY_S)
            with contextlib.suppress(OSError):
                await self._listen()


class Connections:
    """All connections of a messenger, in the order to open them."""

    def __init__(self, connections: Sequence[SocketConnection | HttpConnection] = ()) -> None:
        self._connections = connections

    @property
    def are_up(self) -> bool:
        """Whether payloads come in now. Safe from any thread."""
        return bool(self._connections) and all(each.is_up for each in self._connections)

    async def keep_open(self, ended: asyncio.Event, sleep: Sleep, *, on_open: str) -> None:
        """Keep them open until `ended` is set, and close them. Waits for Slack while it cannot be reached.

        `on_open` is logged once they are open.
        """
        try:
            for connection in self._connections:
                await run_unless(ended, connect_with_retries(connection.open, sleep, "Slack"))
                if ended.is_set():
                    return
            log.info(on_open)
            await ended.wait()
        finally:
            for connection in reversed(self._connections):
                await connection.close()


def event_route(app: AsyncApp) -> web.RouteDef:
    """The route for Slack's signed requests."""
    fair_gate = FairGate()

    async def take(request: web.Request) -> web.Response:
        await fair_gate.pass_through()
        answer = await app.async_dispatch(await to_bolt_request(request))
        return await to_aiohttp_response(answer)

    return web.post(EVENTS_PATH, take)


def check_tokens(settings: SlackSettings) -> None:
    """Raise `ConfigError`, which says what is missing, if these settings do not allow a connection with one token."""
    check_given(settings, "bot_token", *needed_by_mode(settings))


def needed_by_mode(settings: SlackSettings) -> tuple[str, ...]:
    """The setting that the mode (socket or HTTP) needs."""
    return ("app_token",) if settings.mode == "socket" else ("signing_secret",)


def check_given(settings: SlackSettings, *names: str) -> None:
    """Raise `ConfigError` that names the first of these settings that is missing or not of its kind."""
    for name in names:
        setting: SecretStr | str = getattr(settings, name)
        value = setting if isinstance(setting, str) else setting.get_secret_value()
        begin = _TOKEN_PREFIXES.get(name, "")
        if not value or not value.startswith(begin):
            wanted = f"that begins with {begin}" if value else "and there is none"
            raise ConfigError(
                f"Slack in mode {settings.mode} needs slack.{name} (SLACK_{name.upper()}) {wanted}; "
                "copy it from the pages of your app on api.slack.com/apps"
            )


def make_connections(
    app: AsyncApp,
    api: Web,
    settings: SlackSettings,
    pages: Sequence[web.RouteDef] = (),
    *,
    pages_wait: bool = False,
) -> Connections:
    """The connections that the settings ask for, in the order to open them. `pages` are served in both modes.

    With `pages_wait` another process may serve the pages first, unless events come in by the same port.
    """
    is_http = settings.mode == "http"
    routes = [event_route(app), *pages] if is_http else pages
    connections: list[SocketConnection | HttpConnection] = []
    if routes:
        waits = pages_wait and not is_http
        connections.append(HttpConnection(routes, host=settings.http_host, port=settings.http_port, waits=waits))
    if not is_http:
        app_token = settings.app_token.get_secret_value()
        connections.append(SocketConnection(app, api, app_token=app_token, ping_interval_s=settings.ping_interval_s))
    return Connections(connections)

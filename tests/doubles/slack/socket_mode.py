"""Socket Mode: WebSocket connections that payloads go out on and acknowledgements come back on."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from tests.doubles.slack.core import APP_ID, Slack
from tests.doubles.slack.delivery import Delivery
from tests.doubles.slack.state import Json


@dataclass(eq=False)
class Connection:
    """One WebSocket of the app."""

    name: str
    socket: web.WebSocketResponse
    request: web.Request = field(repr=False)
    received: list[Json] = field(default_factory=list)
    """Everything the app sent on it, in order."""


class SocketMode:
    """Gives each payload to one of the connections, in turn; keeps it while there is none."""

    def __init__(self, slack: Slack) -> None:
        self._slack = slack
        self._tickets: set[str] = set()
        self._turn = 0
        self.connections: list[Connection] = []
        self.opened = 0
        """How many connections there have been."""

    def new_url(self) -> str:
        """An address for one connection, as `apps.connections.open` gives it."""
        ticket = self._slack.stamps.id("ticket-")
        self._tickets.add(ticket)
        return f"{self._slack.base_url.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={APP_ID}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One connection for as long as it lives."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=400, text="unknown or used ticket")
        self._tickets.remove(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.opened += 1
        connection = Connection(f"connection-{self.opened}", socket, request)
        await socket.send_json(_hello(len(self.connections) + 1))
        self.connections.append(connection)
        self._slack.deliveries.ready.set()
        self._slack.watch.changed()
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    self._heard(connection, json.loads(message.data))
        finally:
            self._forget(connection)
        return socket

    async def deliver(self, delivery: Delivery) -> bool:
        """Write one envelope to the next connection in turn. False when there is none."""
        while self.connections:
            connection = self.connections[self._turn % len(self.connections)]
            self._turn += 1
            self._slack.deliveries.now_sent(delivery, connection.name)
            try:
                await connection.socket.send_json(_envelope(delivery))
            except ConnectionError:
                self._slack.deliveries.sent.remove(delivery)
                self._forget(connection)
            else:
                return True
        return False

    async def ask_to_refresh(self, reason: str = "refresh_requested") -> None:
        """Slack asks every connection to be replaced (`warning`, `refresh_requested`, `link_disabled`)."""
        for connection in list(self.connections):
            with contextlib.suppress(ConnectionError):
                await connection.socket.send_json(
                    {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-1"}}
                )

    async def close_politely(self) -> None:
        """Slack closes every connection with a close frame."""
        for connection in list(self.connections):
            self._forget(connection)
            await connection.socket.close()

    def cut(self) -> None:
        """Every connection breaks without a close frame."""
        for connection in list(self.connections):
            self._forget(connection)
            if connection.request.transport is not None:
                connection.request.transport.abort()

    def _heard(self, connection: Connection, body: Json) -> None:
        connection.received.append(body)
        if "envelope_id" in body:
            self._slack.deliveries.now_acked(body["envelope_id"], body.get("payload") or {})
        self._slack.watch.changed()

    def _forget(self, connection: Connection) -> None:
        if connection in self.connections:
            self.connections.remove(connection)
            self._slack.watch.changed()


class Pump:
    """Takes deliveries from the queue, one after the other, to wherever they go."""

    def __init__(self, slack: Slack, socket_mode: SocketMode) -> None:
        self._slack = slack
        self._socket_mode = socket_mode
        self.over_http: Callable[[Delivery], None] | None = None
        """Set to send over HTTP instead of Socket Mode."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to pump."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop for good."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        deliveries = self._slack.deliveries
        while True:
            await deliveries.ready.wait()
            deliveries.ready.clear()
            while deliveries.waiting:
                delivery = deliveries.waiting.popleft()
                if self.over_http is not None:
                    self.over_http(delivery)
                elif not await self._socket_mode.deliver(delivery):
                    deliveries.waiting.appendleft(delivery)
                    break


def _hello(connections: int) -> Json:
    return {
        "type": "hello",
        "num_connections": connections,
        "connection_info": {"app_id": APP_ID},
        "debug_info": {"host": "applink-1", "build_number": 1, "approximate_connection_time": 18060},
    }


def _envelope(delivery: Delivery) -> Json:
    body: Json = {
        "envelope_id": delivery.envelope_id,
        "type": delivery.kind,
        "accepts_response_payload": delivery.kind != "events_api",
        "payload": delivery.payload,
    }
    if delivery.kind == "events_api":
        body |= {"retry_attempt": delivery.attempt, "retry_reason": delivery.reason}
    return body

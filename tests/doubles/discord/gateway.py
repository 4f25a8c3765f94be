"""The gateway: sessions that hear events over a WebSocket, miss some, and come back for them."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

from aiohttp import WSMsgType, web

from tests.doubles.discord.ids import shard_of
from tests.doubles.discord.journal import Journal
from tests.doubles.discord.model import Intent, Json

_KEPT_FOR_RESUME = 20_000
_CLOSE_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. `render` makes its JSON for what a session may see."""

    name: str
    render: Callable[[Intent], Json]
    guild_id: str = ""
    needs: Intent = Intent.NONE
    """A session without all of these does not hear it."""


class Connection:
    """One open WebSocket. Frames leave in the order they were given."""

    def __init__(self, socket: web.WebSocketResponse, transport: asyncio.Transport | None) -> None:
        self._socket = socket
        self._transport = transport
        self._frames: asyncio.Queue[Json | int | None] = asyncio.Queue()
        self.is_silent = False
        self.session: Session | None = None

    def send(self, frame: Json) -> None:
        """Queue a frame; a silent connection swallows it."""
        if not self.is_silent:
            self._frames.put_nowait(frame)

    def close(self, code: int) -> None:
        """Close after what is queued was sent."""
        self.is_silent = False
        self._frames.put_nowait(code)

    def end(self) -> None:
        """Nothing more will be sent."""
        self._frames.put_nowait(None)

    def cut(self) -> None:
        """Break the connection without a word."""
        if self._transport:
            self._transport.abort()

    async def write(self) -> None:
        """Send what is queued until the connection ends."""
        while not self._socket.closed:
            frame = await self._frames.get()
            if frame is None:
                return
            if isinstance(frame, int):
                await self._socket.close(code=frame)
                return
            try:
                await self._socket.send_str(json.dumps(frame))
            except ConnectionError:
                return  # The app went away; its session keeps what it missed.


@dataclass(slots=True, eq=False)
class Session:
    """What one identified shard hears. It outlives its connections."""

    id: str
    shard: tuple[int, int]
    intents: Intent
    connection: Connection | None = None
    can_resume: bool = True
    sequence: int = 0
    sent: deque[Json] = field(default_factory=lambda: deque(maxlen=_KEPT_FOR_RESUME))

    def hears(self, event: Event) -> bool:
        """Whether this connection gets an event."""
        return event.needs in self.intents and shard_of(event.guild_id, self.shard[1]) == self.shard[0]

    def push(self, name: str, data: Json) -> None:
        """Number an event, keep it for a resume, and send it if somebody is there."""
        self.sequence += 1
        frame: Json = {"op": 0, "t": name, "s": self.sequence, "d": data}
        self.sent.append(frame)
        if self.connection:
            self.connection.send(frame)

    def missed_since(self, sequence: int, again: int = 0) -> list[Json]:
        """What was sent after a sequence number, and `again` events before it."""
        return [frame for frame in self.sent if frame["s"] > sequence - again]


class Gateway:
    """All sessions and connections, and the faults of both."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._numbers = count(1)
        self.sessions: dict[str, Session] = {}
        self.connections: list[Connection] = []
        self.identified: list[Json] = []
        """The `d` of every accepted identify."""
        self.resumed: list[str] = []
        """The session of every accepted resume."""
        self.emitted: list[Event] = []
        self._held: list[Event] | None = None
        self._copies: deque[int] = deque()
        self.replays_again = 0
        """So many events before the missed ones are sent again with each resume."""

    # sessions

    def open(self, shard: tuple[int, int], intents: Intent, connection: Connection) -> Session:
        """A new session; the shard's earlier ones can no longer be resumed."""
        for session in [s for s in self.sessions.values() if s.shard[0] == shard[0]]:
            del self.sessions[session.id]
        session = Session(f"session-{next(self._numbers)}", shard, intents, connection)
        connection.session = session
        self.sessions[session.id] = session
        return session

    def live(self) -> list[Session]:
        """Sessions with an open connection."""
        return [session for session in self.sessions.values() if session.connection]

    def forget(self) -> None:
        """No present session can be resumed; those connected go on."""
        for session in self.sessions.values():
            session.can_resume = False

    def lost(self, connection: Connection) -> None:
        """A connection is gone; its session waits to be resumed."""
        self.connections.remove(connection)
        if connection.session and connection.session.connection is connection:
            connection.session.connection = None
        self._journal.changed()

    # events

    def emit(self, event: Event) -> None:
        """Tell every session that may hear of it."""
        self.emitted.append(event)
        if self._held is not None:
            self._held.append(event)
        else:
            copies = self._copies.popleft() if self._copies else 1
            self._deliver([event] * copies)
        self._journal.changed()

    def _deliver(self, events: Iterable[Event]) -> None:
        for event in events:
            for session in self.sessions.values():
                if session.hears(event):
                    session.push(event.name, event.render(session.intents))

    def repeat(self, copies: int, events: int) -> None:
        """Send each of the next `events` events `copies` times."""
        self._copies.extend([copies] * events)

    def hold(self) -> None:
        """Keep back what happens from now on."""
        self._held = self._held or []

    def release(self, order: Callable[[list[Event]], Iterable[Event]]) -> None:
        """Send what was kept back, in the order given."""
        held, self._held = self._held or [], None
        self._deliver(order(held))

    def redeliver(self, name: str, times: int) -> None:
        """Send the latest event of a kind again, to whoever is connected now."""
        latest = next((event for event in reversed(self.emitted) if event.name == name), None)
        assert latest, f"no {name} was sent yet"
        self._deliver([latest] * times)

    # running

    async def serve(
        self, request: web.Request, answer: Callable[[Connection, Json], None], hello: Json
    ) -> web.StreamResponse:
        """One WebSocket from its hello to its end; `answer` handles each frame of the app."""
        socket = web.WebSocketResponse(timeout=_CLOSE_TIMEOUT_S, compress=False)
        await socket.prepare(request)
        connection = Connection(socket, request.transport)
        self.connections.append(connection)
        connection.send({"op": 10, "t": None, "s": None, "d": hello})
        writer = asyncio.create_task(connection.write())
        try:
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    answer(connection, frame.json())
                    self._journal.changed()
        finally:
            self.lost(connection)
            connection.end()
            await writer
        return socket

"""What Slack sends to the app, whichever way, and what became of each piece."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.doubles.slack.errors import CannotDo
from tests.doubles.slack.stamps import Stamps
from tests.doubles.slack.state import Json
from tests.doubles.slack.watch import Watch
from tests.doubles.slack.workspace import Workspace


@dataclass(eq=False, kw_only=True)
class Delivery:
    """One payload sent once. A repetition of it is another `Delivery` with the same payload and a higher attempt."""

    kind: str
    """`events_api`, `interactive` or `slash_commands`."""
    payload: Json
    workspace: Workspace
    envelope_id: str
    attempt: int = 0
    reason: str = ""
    connection: str = ""
    """The Socket Mode connection (or URL) it went to; empty while it waits."""
    sent: int = 0
    """Place in the order of everything that crossed the wire; 0 while it waits."""
    acked: int = 0
    """Place of the acknowledgement in the same order; 0 while there is none."""
    answer: Json | None = None
    """What came with the acknowledgement, for example `{"response_action": "errors", ...}`."""
    status: int = 0
    """The HTTP status, when sent over HTTP."""
    on_answer: Callable[[Json], None] | None = None
    done: asyncio.Future[Json] = field(repr=False)

    @property
    def event_type(self) -> str:
        """`message`, `reaction_added`, `block_actions`, `/goodbot`, ..."""
        if self.kind == "events_api":
            return str(self.payload.get("event", self.payload).get("type", ""))
        return str(self.payload.get("command") or self.payload.get("type", ""))

    @property
    def event_id(self) -> str:
        """The id to tell repetitions by; empty for interactive payloads."""
        return str(self.payload.get("event_id", ""))

    async def answered(self, timeout_s: float = 10.0) -> Json:
        """The acknowledgement's payload, `{}` when it had none. Raises `TimeoutError`, naming the event."""
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.shield(self.done)
        except TimeoutError as exc:
            raise TimeoutError(f"{self.event_type} {self.envelope_id} was not acknowledged in {timeout_s:g} s") from exc


class Deliveries:
    """The queue of everything that goes to the app, with faults of delivery on request."""

    def __init__(self, stamps: Stamps, watch: Watch) -> None:
        self._stamps = stamps
        self._watch = watch
        self.waiting: deque[Delivery] = deque()
        """Not sent yet: nobody is connected."""
        self.held: list[Delivery] = []
        """Not sent yet: `hold` was called."""
        self.sent: list[Delivery] = []
        self.ready = asyncio.Event()
        self._holding = False

    def send(
        self, workspace: Workspace, kind: str, payload: Json, on_answer: Callable[[Json], None] | None
    ) -> Delivery:
        """Queue one payload."""
        return self._queue(
            Delivery(
                kind=kind,
                payload=payload,
                workspace=workspace,
                envelope_id=self._stamps.id("envelope-"),
                on_answer=on_answer,
                done=asyncio.get_running_loop().create_future(),
            )
        )

    def hold(self) -> None:
        """From now on nothing is sent: Slack is slow."""
        self._holding = True

    def release(self, order: Iterable[int] | None = None) -> None:
        """Send what was held, in the order given by places in `held` (`[2, 0, 1]`), else as it came."""
        self._holding = False
        held, self.held = self.held, []
        places = list(range(len(held)) if order is None else order)
        if sorted(places) != list(range(len(held))):
            raise CannotDo(f"{len(held)} deliveries are held; the order {places} does not name each once")
        for place in places:
            self._queue(held[place])

    def repeat(self, delivery: Delivery, times: int = 1, *, reason: str = "timeout") -> list[Delivery]:
        """Send the same event again, as Slack does when it saw no acknowledgement."""
        last = max(
            d.attempt for d in [*self.sent, *self.waiting, *self.held, delivery] if d.payload is delivery.payload
        )
        return [
            self._queue(
                Delivery(
                    kind=delivery.kind,
                    payload=delivery.payload,
                    workspace=delivery.workspace,
                    envelope_id=self._stamps.id("envelope-"),
                    attempt=last + number,
                    reason=reason,
                    done=asyncio.get_running_loop().create_future(),
                )
            )
            for number in range(1, times + 1)
        ]

    def redeliver_unacked(self) -> list[Delivery]:
        """Send every event again that no delivery of was acknowledged, oldest first."""
        return [again for delivery in self.unacked() for again in self.repeat(delivery)]

    def unacked(self) -> list[Delivery]:
        """The first delivery of every event that was sent and never acknowledged."""
        settled = {id(delivery.payload) for delivery in self.sent if delivery.acked}
        firsts = {id(delivery.payload): delivery for delivery in reversed(self.sent) if delivery.kind == "events_api"}
        return sorted((d for key, d in firsts.items() if key not in settled), key=lambda d: d.sent)

    def outstanding(self) -> list[Delivery]:
        """Every event that was sent and not acknowledged since, repetitions included."""
        settled = {id(delivery.payload): delivery.sent for delivery in self.sent if delivery.acked}
        return [d for d in self.sent if d.kind == "events_api" and d.sent > settled.get(id(d.payload), 0)]

    def of(self, event_type: str) -> list[Delivery]:
        """What was sent of one type, in the order it was sent."""
        return [delivery for delivery in self.sent if delivery.event_type == event_type]

    def now_sent(self, delivery: Delivery, connection: str) -> None:
        """It left for the app."""
        delivery.connection = connection
        delivery.sent = self._stamps.number()
        self.sent.append(delivery)
        self._watch.changed()

    def now_acked(self, envelope_id: str, answer: Json) -> None:
        """The app acknowledged an envelope. A second acknowledgement of it changes nothing."""
        for delivery in reversed(self.sent):
            if delivery.envelope_id == envelope_id and not delivery.acked:
                delivery.acked = self._stamps.number()
                delivery.answer = answer
                if delivery.on_answer is not None:
                    delivery.on_answer(answer)
                if not delivery.done.done():
                    delivery.done.set_result(answer)
                break
        self._watch.changed()

    def take_back(self, delivery: Delivery) -> None:
        """It could not be written to the connection: it waits for another one."""
        self.sent.remove(delivery)
        delivery.connection, delivery.sent = "", 0
        self.waiting.appendleft(delivery)

    def _queue(self, delivery: Delivery) -> Delivery:
        if self._holding:
            self.held.append(delivery)
        else:
            self.waiting.append(delivery)
            self.ready.set()
        self._watch.changed()
        return delivery

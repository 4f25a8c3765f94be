"""What a test can make go wrong."""

from collections.abc import Callable, Iterable

from tests.doubles.discord import handshake
from tests.doubles.discord.backstage import Backstage
from tests.doubles.discord.faults import Fault, Trouble
from tests.doubles.discord.gateway import Event
from tests.doubles.discord.stage import on_loop


def backwards(events: list[Event]) -> Iterable[Event]:
    """Latest first."""
    return reversed(events)


def unchanged(events: list[Event]) -> Iterable[Event]:
    """In the order they happened."""
    return events


class Breaking(Backstage):
    """Troubles of single calls, and of the gateway."""

    @on_loop
    def fault(self, route: str, trouble: Trouble, times: int | None = 1) -> Fault:
        """The next `times` calls of a route (None: all until cleared) meet a trouble.

        Routes are as in `calls`; `WS /gateway/**` is a connection to the gateway. The handle's `hits` counts.
        """
        return self.faults.order(route, trouble, times)

    @on_loop
    def release(self, fault: Fault) -> None:
        """Let the calls that hang go on, and later ones pass."""
        fault.left = 0
        fault.released.set()

    @on_loop
    def clear_faults(self) -> None:
        """No more troubles of calls."""
        self.faults.clear()

    # the gateway

    @on_loop
    def closes_gateway(self, code: int = 4000) -> None:
        """Close every connection; after 4000 the app may resume."""
        for connection in self.gateway.connections:
            connection.close(code)

    @on_loop
    def cuts_gateway(self) -> None:
        """Every connection breaks without a word."""
        for connection in self.gateway.connections:
            connection.cut()

    @on_loop
    def asks_to_reconnect(self) -> None:
        """Op 7 to everyone connected."""
        handshake.reconnect(self.gateway)

    @on_loop
    def invalidates_sessions(self, *, resumable: bool = False) -> None:
        """Op 9 to everyone connected."""
        handshake.invalidate(self.gateway, resumable)

    @on_loop
    def forgets_sessions(self) -> None:
        """No earlier session can be resumed: the next resume is answered with op 9, and what was missed is lost."""
        self.gateway.forget()

    @on_loop
    def falls_silent(self) -> None:
        """Present connections stay open and say nothing more, not even to heartbeats. New ones are well."""
        for connection in self.gateway.connections:
            connection.is_silent = True

    @on_loop
    def repeats_events(self, copies: int = 3, events: int = 1) -> None:
        """Each of the next events is sent so many times."""
        self.gateway.repeat(copies, events)

    @on_loop
    def redelivers(self, name: str = "MESSAGE_CREATE", times: int = 1) -> None:
        """The latest event of a kind is sent again, now, to whoever is connected: also after a restart."""
        self.gateway.redeliver(name, times)

    @on_loop
    def replays_again(self, events: int) -> None:
        """Each resume brings so many events again that the app had already seen."""
        self.gateway.replays_again = events

    @on_loop
    def holds_events(self) -> None:
        """Keep back what happens, until `lets_events_go`."""
        self.gateway.hold()

    @on_loop
    def lets_events_go(self, order: Callable[[list[Event]], Iterable[Event]] = unchanged) -> None:
        """Send what was kept back in any order, for example `backwards`."""
        self.gateway.release(order)

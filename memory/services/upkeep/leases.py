"""Leases: named locks that expire, shares of work split fairly among processes, and the turns of conversations."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from memory.model import Incoming, Scope
from memory.model.scope import platform_of
from memory.model.upkeep import Lease
from memory.ports import LeasedMessage
from memory.services.core import Core


@dataclass(frozen=True, slots=True)
class Leases:
    """Named leases of the whole database, each held by one process for as long as it renews it."""

    _core: Core

    def take(self, name: str, owner: str, lasts: timedelta) -> Lease:
        """Take or renew a lease. Returns the lease as it is now, which may be another owner's."""
        now = self._core.clock()
        mine = Lease(name=name, owner=owner, until=now + lasts)
        with self._core.store.write() as tx:
            return mine if tx.upkeep.take_lease(mine, now) else tx.upkeep.lease(name) or mine

    def hold(self, name: str, owner: str, lasts: timedelta) -> bool:
        """Take or renew a lease. False while another owner holds it."""
        return self.take(name, owner, lasts).owner == owner

    def owner(self, name: str) -> str:
        """The last owner of a lease, expired or not; empty if there was none."""
        with self._core.store.read() as tx:
            lease = tx.upkeep.lease(name)
        return lease.owner if lease is not None else ""

    def holder(self, name: str) -> str:
        """The current owner of a lease; empty if there is none."""
        with self._core.store.read() as tx:
            lease = tx.upkeep.lease(name)
        return lease.owner if lease is not None and lease.until > self._core.clock() else ""

    def release(self, name: str, owner: str) -> None:
        """Release a lease, if this owner holds it."""
        with self._core.store.write() as tx:
            tx.upkeep.release_lease(name, owner)


SHARE_FOR = timedelta(seconds=4)
"""How long a silent member keeps its shares."""


@dataclass(frozen=True, slots=True)
class SharedLeases:
    """Numbered shares of a group's work, split fairly among its live members."""

    _core: Core

    def renew_and_take(
        self, group: str, number: int, member: str, own_shares: Collection[int] = (), *, takes: bool = True
    ) -> frozenset[int]:
        """Renew this member and its shares, take free shares, and give up those beyond its fair part.

        Returns the member's shares. `own_shares` are those that it believes to hold, which it keeps if nobody took them
        meanwhile. With `takes` off it takes no new ones.
        """
        now = self._core.clock()
        until = now + SHARE_FOR
        with self._core.store.write() as tx:
            tx.upkeep.take_lease(Lease(name=f"{group}/member/{member}", owner=member, until=until), now)
            leases = [each for each in tx.upkeep.leases(f"{group}/") if each.until > now]
            holders = dict.fromkeys(own_shares, member) | _holders(group, leases)
            members = {each.owner for each in leases if each.name.startswith(f"{group}/member/")}
            shares = shares_of(member, number, holders, members, takes=takes)
            for share in shares:
                tx.upkeep.take_lease(Lease(name=f"{group}/share/{share}", owner=member, until=until), now)
        return shares

    def give_up(self, group: str, member: str, shares: Collection[int]) -> None:
        """Release these shares for other members."""
        with self._core.store.write() as tx:
            for share in shares:
                tx.upkeep.release_lease(f"{group}/share/{share}", member)

    def leave(self, group: str, member: str) -> None:
        """Leave the group, releasing all shares of this member."""
        with self._core.store.write() as tx:
            for lease in tx.upkeep.leases(f"{group}/"):
                tx.upkeep.release_lease(lease.name, member)

    def holders(self, group: str) -> dict[int, str]:
        """The current holder of each share."""
        now = self._core.clock()
        with self._core.store.read() as tx:
            return _holders(group, [each for each in tx.upkeep.leases(f"{group}/") if each.until > now])


def _holders(group: str, leases: Collection[Lease]) -> dict[int, str]:
    """The holder of each share whose lease has not expired."""
    start = f"{group}/share/"
    return {int(each.name.removeprefix(start)): each.owner for each in leases if each.name.startswith(start)}


def most_of_one(number: int, members: int) -> int:
    """The most shares that one member may have."""
    return ceil(number / max(members, 1))


def shares_of(
    member: str, number: int, holders: Mapping[int, str], members: Collection[str], *, takes: bool = True
) -> frozenset[int]:
    """The shares, of 0 to `number` - 1, that a member has from now on: its own and free ones, up to its fair part.

    `holders` are the current holders, `members` the live members. Beyond its fair part a member gives up the last.
    """
    own = [share for share in range(number) if holders.get(share) == member]
    free = [share for share in range(number) if share not in holders] if takes else []
    return frozenset([*own, *free][: most_of_one(number, len({*members, member}))])


PROCESS_FOR = timedelta(seconds=6)
"""How long a silent process keeps its messages."""
_AT_ONCE = 100
STOP, WAITING, FREE = "stop", "waiting", "free"
"""The kinds of news: a person asked to stop; a message waits for its turn; a turn has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseUpdate:
    """The messages that a process holds after it renewed its lease."""

    taken: tuple[LeasedMessage, ...]
    """The messages that this process is to answer now."""
    unfinished: tuple[LeasedMessage, ...]
    """Its earlier messages that are unfinished."""


@dataclass(frozen=True, slots=True)
class ConversationLeases:
    """Distributes the messages of one platform among several processes that answer them.

    Each process has a lease that it renews with every `renew_and_take`. Once it expires, others take over what it held.
    """

    _core: Core

    def renew_and_take(
        self,
        process: str,
        workspaces: Sequence[str],
        left: Collection[tuple[str, str]] = (),
        platforms: Collection[str] = (),
    ) -> LeaseUpdate:
        """Renew this process's lease, release what it could not finish, and take free messages.

        It takes messages of these workspaces, and of all workspaces of these platforms.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            tx.upkeep.take_lease(Lease(name=f"process/{process}", owner=process, until=now + PROCESS_FOR), now)
            tx.conversation_leases.release_dead(now)
            tx.conversation_leases.leave(process, left)
            unfinished = tx.conversation_leases.held(process)
            if platforms or len(workspaces) > 1:  # usually nothing waits in any of them
                waiting_in = sorted(tx.conversation_leases.unfinished_in())
                workspaces = [each for each in waiting_in if each in workspaces or platform_of(each) in platforms]
            taken = [
                each
                for workspace in workspaces
                for each in tx.conversation_leases.take(process, workspace, now, _AT_ONCE)
            ]
        return LeaseUpdate(taken=tuple(taken), unfinished=tuple(unfinished))

    def end(self, process: str) -> None:
        """End this process's lease, so that others can take what it holds at once."""
        with self._core.store.write() as tx:
            tx.upkeep.release_lease(f"process/{process}", process)
            tx.conversation_leases.announce(FREE)

    def read(self, messages: Collection[LeasedMessage]) -> list[Incoming]:
        """The current state of these messages, without those that were deleted."""
        with self._core.store.read() as tx:
            found = (tx.deliveries.incoming(each.workspace, each.event_id) for each in messages)
            return [each for each in found if each is not None]

    def running_in(self, scope: Scope) -> Incoming | None:
        """The message that any process is answering in a place: the person's own, else the latest."""
        with self._core.store.read() as tx:
            now = self._core.clock()
            here = tx.deliveries.being_answered(scope.workspace, scope.channel, scope.thread, now)
        own = [each for each in here if each.scope.person == scope.person]
        return next(reversed(own or here), None)

    def stop(self, message: Incoming) -> bool:
        """Ask the process that answers a message to stop with what it has. False if it has finished."""
        with self._core.store.write() as tx:
            is_asked = tx.conversation_leases.stop(message.scope.workspace, message.event_id)
            tx.conversation_leases.announce(STOP)
            return is_asked

    def announce(self, news: str) -> None:
        """Wake the other processes."""
        with self._core.store.write() as tx:
            tx.conversation_leases.announce(news)

    def processes(self) -> list[str]:
        """The processes that answer messages now."""
        with self._core.store.read() as tx:
            return tx.conversation_leases.alive(self._core.clock())

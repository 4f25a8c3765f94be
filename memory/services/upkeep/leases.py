"""Leases: what one process at a time may do, by name, for as long as it renews it; and numbered ones in fair shares."""

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
    """Takes, renews and gives back leases of the whole database."""

    _core: Core

    def take(self, name: str, owner: str, lasts: timedelta) -> Lease:
        """Take it or renew it; returns the lease as it is now, which is another owner's until that one has run out."""
        now = self._core.clock()
        mine = Lease(name=name, owner=owner, until=now + lasts)
        with self._core.store.write() as tx:
            return mine if tx.upkeep.take_lease(mine, now) else tx.upkeep.lease(name) or mine

    def hold(self, name: str, owner: str, lasts: timedelta) -> bool:
        """Take it or renew it. False while it is another owner's."""
        return self.take(name, owner, lasts).owner == owner

    def owner(self, name: str) -> str:
        """Whose it was last, run out or not; empty if nobody's."""
        with self._core.store.read() as tx:
            lease = tx.upkeep.lease(name)
        return lease.owner if lease is not None else ""

    def holder(self, name: str) -> str:
        """Whose it is now; empty if nobody's."""
        with self._core.store.read() as tx:
            lease = tx.upkeep.lease(name)
        return lease.owner if lease is not None and lease.until > self._core.clock() else ""

    def release(self, name: str, owner: str) -> None:
        """Give it up, if it is this owner's."""
        with self._core.store.write() as tx:
            tx.upkeep.release_lease(name, owner)


SHARE_FOR = timedelta(seconds=4)
"""For how long others wait for a member that they do not hear of."""


@dataclass(frozen=True, slots=True)
class SharedLeases:
    """Shares of groups, by the group's name and the share's number."""

    _core: Core

    def look(
        self, group: str, number: int, member: str, held: Collection[int] = (), *, takes: bool = True
    ) -> frozenset[int]:
        """Say that this member lives, and renew what it holds, take what is free and give up what others should have.

        Returns the shares that are its own now. `held` are those it holds as far as it knows: they are still its own
        if nobody took them meanwhile. With `takes` off it only keeps.
        """
        now = self._core.clock()
        until = now + SHARE_FOR
        with self._core.store.write() as tx:
            tx.upkeep.take_lease(Lease(name=f"{group}/member/{member}", owner=member, until=until), now)
            leases = [each for each in tx.upkeep.leases(f"{group}/") if each.until > now]
            holders = dict.fromkeys(held, member) | _holders(group, leases)
            members = {each.owner for each in leases if each.name.startswith(f"{group}/member/")}
            shares = shares_of(member, number, holders, members, takes=takes)
            for share in shares:
                tx.upkeep.take_lease(Lease(name=f"{group}/share/{share}", owner=member, until=until), now)
        return shares

    def give_up(self, group: str, member: str, shares: Collection[int]) -> None:
        """Let others have these shares at once."""
        with self._core.store.write() as tx:
            for share in shares:
                tx.upkeep.release_lease(f"{group}/share/{share}", member)

    def leave(self, group: str, member: str) -> None:
        """Let others have all that this member holds, and count it no more."""
        with self._core.store.write() as tx:
            for lease in tx.upkeep.leases(f"{group}/"):
                tx.upkeep.release_lease(lease.name, member)

    def holders(self, group: str) -> dict[int, str]:
        """Who holds which share now."""
        now = self._core.clock()
        with self._core.store.read() as tx:
            return _holders(group, [each for each in tx.upkeep.leases(f"{group}/") if each.until > now])


def _holders(group: str, leases: Collection[Lease]) -> dict[int, str]:
    """Of leases that have not run out."""
    start = f"{group}/share/"
    return {int(each.name.removeprefix(start)): each.owner for each in leases if each.name.startswith(start)}


def most_of_one(number: int, members: int) -> int:
    """How many of so many shares one of so many members may have."""
    return ceil(number / max(members, 1))


def shares_of(
    member: str, number: int, holders: Mapping[int, str], members: Collection[str], *, takes: bool = True
) -> frozenset[int]:
    """Which of the shares 0 to `number` - 1 a member has from now on: of its own and the free ones as many as are fair.

    `holders` are those of now, `members` whoever lives. Whoever has more than is fair gives up the last of them.
    """
    own = [share for share in range(number) if holders.get(share) == member]
    free = [share for share in range(number) if share not in holders] if takes else []
    return frozenset([*own, *free][: most_of_one(number, len({*members, member}))])


PROCESS_FOR = timedelta(seconds=6)
"""For how long others wait for a process that they do not hear of."""
_AT_ONCE = 100
STOP, WAITING, FREE = "stop", "waiting", "free"
"""News: somebody asks to stop; a message waits for its turn; a turn is over that somebody may wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseUpdate:
    """What a process holds after it renewed its lease."""

    taken: tuple[LeasedMessage, ...]
    """Whose turn it is now by this process."""
    held: tuple[LeasedMessage, ...]
    """Those of before that are unfinished."""


@dataclass(frozen=True, slots=True)
class ConversationLeases:
    """Whose turn it is, where several processes answer the messages of one platform.

    Each process lives by a lease that it renews with every look. What it holds is for others once that has run out.
    """

    _core: Core

    def look(
        self,
        process: str,
        workspaces: Sequence[str],
        left: Collection[tuple[str, str]] = (),
        platforms: Collection[str] = (),
    ) -> LeaseUpdate:
        """Say that this process lives, leave what it could not finish, and take what is free.

        It takes of these workspaces, and of every one of these platforms.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            tx.upkeep.take_lease(Lease(name=f"process/{process}", owner=process, until=now + PROCESS_FOR), now)
            tx.conversation_leases.release_dead(now)
            tx.conversation_leases.leave(process, left)
            held = tx.conversation_leases.held(process)
            if platforms or len(workspaces) > 1:  # nearly always nothing waits in any of them
                unfinished = sorted(tx.conversation_leases.unfinished_in())
                workspaces = [each for each in unfinished if each in workspaces or platform_of(each) in platforms]
            taken = [
                each
                for workspace in workspaces
                for each in tx.conversation_leases.take(process, workspace, now, _AT_ONCE)
            ]
        return LeaseUpdate(taken=tuple(taken), held=tuple(held))

    def end(self, process: str) -> None:
        """Answer no more: what this process holds is for others at once."""
        with self._core.store.write() as tx:
            tx.upkeep.release_lease(f"process/{process}", process)
            tx.conversation_leases.announce(FREE)

    def read(self, messages: Collection[LeasedMessage]) -> list[Incoming]:
        """These messages as they are now, without those that are gone."""
        with self._core.store.read() as tx:
            found = (tx.deliveries.incoming(each.workspace, each.event_id) for each in messages)
            return [each for each in found if each is not None]

    def running_in(self, scope: Scope) -> Incoming | None:
        """What any process answers in a place: the person's own, else what was written last."""
        with self._core.store.read() as tx:
            now = self._core.clock()
            here = tx.deliveries.being_answered(scope.workspace, scope.channel, scope.thread, now)
        own = [each for each in here if each.scope.person == scope.person]
        return next(reversed(own or here), None)

    def stop(self, message: Incoming) -> bool:
        """Have the process that answers a message end with what there is. False if it is over."""
        with self._core.store.write() as tx:
            is_asked = tx.conversation_leases.stop(message.scope.workspace, message.event_id)
            tx.conversation_leases.announce(STOP)
            return is_asked

    def announce(self, news: str) -> None:
        """Wake the other processes."""
        with self._core.store.write() as tx:
            tx.conversation_leases.announce(news)

    def processes(self) -> list[str]:
        """Who answers now."""
        with self._core.store.read() as tx:
            return tx.conversation_leases.alive(self._core.clock())

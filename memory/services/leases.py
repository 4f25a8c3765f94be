"""Leases: what one process at a time may do, by name, for as long as it renews it; and numbered ones in fair shares."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from memory.model.upkeep import Lease
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

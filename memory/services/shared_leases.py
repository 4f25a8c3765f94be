"""Numbered leases that the processes of a group share out among them, as many to each."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from memory.model.upkeep import Lease
from memory.rules.fair_shares import shares_of
from memory.services.core import Core

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

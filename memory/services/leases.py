"""Leases: what one process at a time may do, by name, for as long as it renews it."""

from dataclasses import dataclass
from datetime import timedelta

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

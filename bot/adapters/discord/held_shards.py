"""The shards whose events this process takes in, while other processes take in those of the others."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol


class Sessions(Protocol):
    """A client, which has a session for each shard that it hears of."""

    @property
    def open_shards(self) -> frozenset[int]:
        """Those with a session now."""
        ...

    async def begin_shard(self, shard: int) -> None:
        """Begin one. May take long."""
        ...

    async def end_shard(self, shard: int) -> None:
        """End one."""
        ...


class HeldShards:
    """Has whichever client is logged in begin and end sessions, so that they are those of the held shards."""

    def __init__(self) -> None:
        self.shards = frozenset[int]()
        self.before_session: Callable[[int], Awaitable[None]] = _at_once
        """Waited for before a session begins, with the number of its bucket."""
        self._client: Sessions | None = None
        self._beginning: dict[int, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def hold(self, shards: frozenset[int]) -> None:
        """From now on these. To be called now and then: a session that the library resumed too late ends then."""
        self.shards = shards
        if (client := self._client) is None:
            return
        for shard in self._beginning.keys() - shards:
            self._beginning.pop(shard).cancel()
        for shard in client.open_shards - shards:
            task = asyncio.create_task(client.end_shard(shard))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
        for shard in sorted(shards - self._beginning.keys()):
            self._beginning[shard] = asyncio.create_task(client.begin_shard(shard))

    def open(self, client: Sessions) -> None:
        """A client is logged in."""
        self._client = client
        self._beginning.clear()
        self.hold(self.shards)

    def close(self) -> None:
        """It logs out, which ends its sessions."""
        self._client = None
        for task in self._beginning.values():
            task.cancel()
        self._beginning.clear()


async def _at_once(bucket: int) -> None:
    """Without others nobody is waited for."""

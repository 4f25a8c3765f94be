"""Distributes the shards of a platform among processes: each process gets the events of its shards' servers."""

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from typing import Self

from bot.adapters.flow_control import Sleep
from bot.app.processes.logins import lease_name
from bot.config import Settings
from bot.conversation.executor import Executor
from bot.ports import HoldsShards
from memory.errors import MemoryFault
from memory.services import Memory
from memory.services.upkeep.leases import SHARE_FOR

log = logging.getLogger(__name__)

POLL_S = 1.0
"""How often a process renews its shards and checks whether it should hold others."""
_TURN_S = 0.2
"""How often it checks whether a session may begin."""
_MISSED_S = SHARE_FOR.total_seconds()
"""A process that could not renew for this long takes no new shards at first, until the others have renewed."""


class ShardKeeper:
    """Lets a messenger hold the shards of this process, named `owner`, while the context lasts.

    `group` names the bot's login, `number` is the number of shards. Sessions of one bucket begin at least `pause_s`
    apart, across processes.
    """

    def __init__(
        self,
        memory: Memory,
        messenger: HoldsShards,
        *,
        group: str,
        number: int,
        owner: str,
        pause_s: float,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._memory = memory
        self._messenger = messenger
        self._group, self._number, self._owner = group, number, owner
        self._pause = timedelta(seconds=pause_s)
        self._sleep = sleep
        self._executor = Executor(threads=1)
        self._polled_at = float("-inf")
        self._keeping: asyncio.Task[None] | None = None
        self.held = frozenset[int]()
        """The shards of this process."""

    async def poll(self) -> None:
        """Renew, take and give up shards. Never raises; shards are kept while the database does not answer."""
        if not self._messenger.is_connected:
            await self._hold(frozenset())
            return
        now, leases = asyncio.get_running_loop().time(), self._memory.shared_leases
        takes = now - self._polled_at < _MISSED_S
        try:
            shards = await self._executor(
                leases.renew_and_take, self._group, self._number, self._owner, self.held, takes=takes
            )
            self._polled_at = now
            if shards != self.held:
                log.info("serving %s of %d", named(shards), self._number)
            await self._hold(shards)
        except Exception as error:
            # A job boundary: any error is logged, and the next call tries again.
            is_fault = isinstance(error, MemoryFault)
            log.error("the shards of this process are not renewed: %s", error, exc_info=None if is_fault else error)

    async def _hold(self, shards: frozenset[int]) -> None:
        """Let the messenger hold exactly these shards, and release the others."""
        given_up, self.held = self.held - shards, shards
        self._messenger.hold(shards, self._until_turn)
        if given_up:
            with suppress(MemoryFault):  # the leases expire
                await self._executor(self._memory.shared_leases.give_up, self._group, self._owner, given_up)

    async def _until_turn(self, bucket: int) -> None:
        """Wait until a session of this bucket may begin; if the database does not answer, for the pause."""
        if not self._pause:
            return
        name, owner = f"{self._group}/session/{bucket}", f"{self._owner}/{self._memory.new_id()}"
        while True:
            try:
                lease = await self._executor(self._memory.leases.take, name, owner, self._pause)
            except MemoryFault:
                await self._sleep(self._pause.total_seconds())
                return
            if lease.owner == owner:
                return
            await self._sleep(_TURN_S)

    async def _keep(self) -> None:
        while True:
            await self.poll()
            await self._sleep(POLL_S)

    async def __aenter__(self) -> Self:
        self._keeping = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait({self._keeping})
        self.held = frozenset()
        try:
            await self._executor(self._memory.shared_leases.leave, self._group, self._owner)
        except MemoryFault as error:
            log.warning("the shards of this process were not released and will expire: %s", error)
        self._executor.close()


def shard_keeper(settings: Settings, memory: Memory, messenger: HoldsShards, owner: str) -> ShardKeeper:
    """The keeper of Discord's shards for this process."""
    discord = settings.discord
    return ShardKeeper(
        memory,
        messenger,
        group=group_of(settings),
        number=discord.shards,
        owner=owner,
        pause_s=discord.identify_pause_s,
    )


def group_of(settings: Settings) -> str:
    """The name of the group of processes that share one login's shards; it includes the number of shards."""
    return f"{lease_name(settings, 'discord')}/{settings.discord.shards}"


def named(shards: frozenset[int]) -> str:
    """`shards 0, 2`."""
    if not shards:
        return "no shard"
    return f"shard{'' if len(shards) == 1 else 's'} {', '.join(map(str, sorted(shards)))}"

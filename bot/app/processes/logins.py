"""Logins: one process at a time is connected with a platform's token, by a lease in the database; others stand by.

The holder also has a lock of the operating system. So a process on the same machine takes over as soon as the holder
dies, and one on another machine when the lease expires.
"""

import asyncio
import hashlib
import logging
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Self

from bot.adapters.flow_control import Sleep
from bot.app.processes.lock import only_one
from bot.config import Settings
from bot.conversation.executor import Executor
from memory.errors import MemoryFault
from memory.services.upkeep.leases import Leases

log = logging.getLogger(__name__)

LEASE_FOR = timedelta(seconds=6)
"""How long a dead holder on another machine blocks its login."""
RENEW_S = 2.0
POLL_S = 1.0
"""How often a standby process checks whether the login is free."""


class Login:
    """The right of this process, named `owner`, to connect with a platform's token. A context manager.

    `sleep` waits between two checks.
    """

    def __init__(
        self, settings: Settings, platform: str, leases: Leases, owner: str, *, sleep: Sleep = asyncio.sleep
    ) -> None:
        self.platform = platform
        self._part, self._lease = f"{platform}-{_digest(settings, platform)}", lease_name(settings, platform)
        self._settings = settings
        self._leases = leases
        self._owner = owner
        self._sleep = sleep
        self._holding = AsyncExitStack()
        self._renewing: asyncio.Task[None] | None = None
        self._trouble = ""
        """What keeps this process from the lease, logged once, not every second that it lasts."""
        self._executor = Executor(threads=1)

    @property
    def is_held(self) -> bool:
        """Whether this process holds the login."""
        return self._renewing is not None and not self._renewing.done()

    async def take(self) -> str:
        """Take the login. Returns an empty text if this process holds it now, else the name of the holder."""
        async with AsyncExitStack() as stack:
            is_locked = stack.enter_context(only_one(self._settings, self._part))
            if is_locked is False:
                return await self._executor(self._leases.owner, self._lease) or "starting"
            lease = await self._executor(self._leases.take, self._lease, self._owner, LEASE_FOR)
            if is_locked and lease.owner != self._owner and _machine(lease.owner) == _machine(self._owner):
                # Its holder had the lock that this process has now, so it is dead.
                await self._executor(self._leases.release, self._lease, lease.owner)
                lease = await self._executor(self._leases.take, self._lease, self._owner, LEASE_FOR)
            if lease.owner != self._owner:
                return lease.owner
            self._holding = stack.pop_all()
            self._renewing = asyncio.create_task(self._renew())
        return ""

    async def taken(self) -> None:
        """Wait until the login is free and take it. Logs once that another process has it."""
        is_told = False
        while (holder := await self._holder()) != "":
            if holder is not None and not is_told:
                is_told = True
                log.warning(
                    "another process (%s) is on %s with the same token and database: this one stands by, and takes "
                    "over when that one ends",
                    holder,
                    self.platform,
                )
            await self._sleep(POLL_S)
        if is_told:
            log.info("the other process on %s has ended: this one takes over", self.platform)

    async def lost(self) -> None:
        """Return when another process has taken the login from this one."""
        if self._renewing is not None:
            await asyncio.wait({self._renewing})

    async def _renew(self) -> None:
        while True:
            await self._sleep(RENEW_S)
            try:
                lease = await self._executor(self._leases.take, self._lease, self._owner, LEASE_FOR)
            except MemoryFault as error:
                if str(error) != self._trouble:
                    log.warning("the login on %s is not renewed for now: %s", self.platform, error)
                self._trouble = str(error)
                continue
            if self._trouble:
                log.info("the login on %s is renewed again", self.platform)
            self._trouble = ""
            if lease.owner != self._owner:
                log.error("%s took over on %s while this process did not answer", lease.owner, self.platform)
                return

    async def _holder(self) -> str | None:
        """Take the login. Returns what `take` does, or None if it is not known who has it."""
        try:
            holder = await self.take()
        except MemoryFault as error:
            if str(error) != self._trouble:
                log.warning("it is not known who is on %s: %s", self.platform, error)
            self._trouble = str(error)
            return None
        self._trouble = ""
        return holder

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.wait({self._renewing})
            try:
                await self._executor(self._leases.release, self._lease, self._owner)
            except MemoryFault as error:
                log.warning("the login on %s was not released and will expire: %s", self.platform, error)
        await self._holding.aclose()
        self._executor.close()


class SharedLogin:
    """A login that all processes may use at the same time (`bot.app.processes.sharing`)."""

    is_held = True

    async def take(self) -> str:
        """Return an empty text: it is always available."""
        return ""

    async def taken(self) -> None:
        """Return at once: it is always available."""

    async def lost(self) -> None:
        """Never returns."""
        await asyncio.Event().wait()


def lease_name(settings: Settings, platform: str) -> str:
    """The name of the lease for the configured login; empty if none is configured."""
    digest = _digest(settings, platform)
    return f"login/{platform}/{digest}" if digest else ""


def _digest(settings: Settings, platform: str) -> str:
    """The digest of the token, from which the token cannot be derived."""
    tokens = {
        "slack": settings.slack.bot_token.get_secret_value() or settings.slack.client_id,
        "discord": settings.discord.token.get_secret_value(),
    }
    return hashlib.sha256(tokens[platform].encode()).hexdigest()[:12] if tokens[platform] else ""


def _machine(owner: str) -> str:
    """The machine in a process's name (`bot.app.processes.scheduler.owner_name`)."""
    return owner.partition("/")[0]

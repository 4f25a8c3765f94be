"""Upkeep's jobs on APScheduler, in whichever process holds the lease.

The times stand in the database, so APScheduler only asks every minute whether a job is due: what was missed while no
process ran is made up for at once, and when the owner dies another process takes over.
"""

import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from bot.app.periodic import run_periodically
from bot.conversation.executor import Executor
from memory.errors import MemoryFault
from memory.ports import Clock, NewId
from memory.services import Upkeep
from memory.services.upkeep import JOBS

log = logging.getLogger(__name__)

LOOK_S = 60.0
"""How often each job is looked at."""
SHARED_LOOK_S = 3.0
"""The same where other processes see at once that whoever ran the jobs is dead (`bot.app.sharing`)."""


def owner_name(new_id: NewId) -> str:
    """Who this process is: readable, and different from every process before it."""
    return f"{socket.gethostname()}/{os.getpid()}/{new_id()[-6:]}"


@asynccontextmanager
async def jobs_running(upkeep: Upkeep, owner: str, *, clock: Clock, look_s: float = LOOK_S) -> AsyncIterator[None]:
    """Run due jobs beside whatever else the event loop does; give the lease back at the end.

    They have a thread of their own, so no message waits for one. A job that is under way at the end is waited for:
    each takes one short transaction for each workspace.
    """
    executor = Executor(threads=1)

    async def look(name: str) -> None:
        try:
            done = await executor(upkeep.run_due, name, owner)
        except MemoryFault as error:
            log.error("job %s was not looked at: %s", name, error)
            return
        if done is not None and not done.error:
            log.info("job %s: %s", name, done.summary)

    try:
        async with run_periodically({job.name: partial(look, job.name) for job in JOBS}, every_s=look_s, clock=clock):
            yield
    finally:
        try:
            await executor(upkeep.release, owner)
        except MemoryFault as error:
            log.warning("the lease of the jobs was not released and will expire: %s", error)
        executor.close()

"""Periodic tasks on APScheduler: upkeep's jobs, reminders, and the grading model.

The jobs run in the process that holds the lease. Their times are in the database, and APScheduler only checks every
minute whether one is due. So jobs missed while no process ran are run at once, and when the process dies another takes
over.
"""

import logging
import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

from bot.app.wiring.build import Running
from bot.app.wiring.models import make_one_model
from bot.app.wiring.periodic import run_periodically
from bot.config import Settings
from bot.conversation.executor import Executor
from bot.conversation.feedback.model_grading import ModelGrading
from bot.conversation.notices.reminders import ReminderNotifier
from bot.ports import Messenger
from memory.adapters.system import utc_now
from memory.errors import MemoryFault
from memory.ports import Clock, NewId
from memory.services import Memory, Upkeep
from memory.services.upkeep import JOBS

log = logging.getLogger(__name__)

JOBS_S = 60.0
"""How often to check whether a job is due."""
SHARED_JOBS_S = 3.0
"""The same where processes notice each other's death at once (`bot.app.processes.sharing`)."""
REMINDERS_S = 10.0
"""How often to check whether a reminder is due."""
GRADING_S = 60.0
"""How often to look for answers to grade. Grading is off by default."""


def owner_name(new_id: NewId) -> str:
    """A readable and unique name of this process."""
    return f"{socket.gethostname()}/{os.getpid()}/{new_id()[-6:]}"


@asynccontextmanager
async def jobs_running(upkeep: Upkeep, owner: str, *, clock: Clock, every_s: float = JOBS_S) -> AsyncIterator[None]:
    """Run due jobs in the background; release the lease at the end. Also drop what other processes have erased.

    They run in a thread of their own, so that no message waits for them. A job that is running at the end is waited
    for: it takes one short transaction for each workspace.
    """
    executor = Executor(threads=1)

    async def run_due(name: str) -> None:
        try:
            done = await executor(upkeep.run_due, name, owner)
        except MemoryFault as error:
            log.error("job %s was not looked at: %s", name, error)
            return
        if done is not None and not done.error:
            log.info("job %s: %s", name, done.summary)

    async def drop_erased() -> None:
        try:
            await executor(upkeep.drop_erased)
        except MemoryFault as error:
            log.error("what was erased was not looked for: %s", error)

    jobs = {job.name: partial(run_due, job.name) for job in JOBS}
    try:
        async with run_periodically({**jobs, "erased": drop_erased}, every_s=every_s, clock=clock):
            yield
    finally:
        try:
            await executor(upkeep.release, owner)
        except MemoryFault as error:
            log.warning("the lease of the jobs was not released and will expire: %s", error)
        executor.close()


@asynccontextmanager
async def reminders_running(running: Running, memory: Memory, messengers: Sequence[Messenger]) -> AsyncIterator[None]:
    """Post due reminders on these platforms, whose list may grow. Missed reminders are posted late, once."""
    teller = ReminderNotifier(memory, running.executor, running.goodbot.recovery.redeliver, messengers)
    async with run_periodically({"reminders": teller.post_due}, every_s=REMINDERS_S, clock=memory.clock):
        yield


@asynccontextmanager
async def grading_running(
    settings: Settings, memory: Memory, owner: str, *, every_s: float = GRADING_S
) -> AsyncIterator[None]:
    """Grade waiting answers in the background, if grading is on. Raises `ConfigError` for an unknown model."""
    grading = settings.grading
    name = settings.model.name if grading.model == "same" else grading.model
    if name == "offline":
        log.warning("the offline model is no language model and judges nothing; set [grading] model to PROVIDER:NAME")
    if name in ("off", "offline"):
        yield
        return
    model, executor = make_one_model(settings, memory.embedder, name), Executor(threads=1)
    judge = ModelGrading(
        memory=memory,
        executor=executor,
        model=model,
        idle=timedelta(minutes=grading.idle_minutes),
        per_run=grading.per_run,
        owner=owner,
    )

    async def grade() -> None:
        try:
            count = await judge.run()
        except MemoryFault as error:
            log.error("answers nobody reacted to are not judged for now: %s", error)
            return
        if count:
            log.info("%s judged %d answers nobody reacted to", name, count)

    try:
        # Cancelled at the end, because a model may take a minute to reply; the answer is graded another time.
        async with run_periodically({"grading": grade}, every_s=every_s, clock=utc_now, break_off=True):
            yield
    finally:
        try:
            await judge.release()
        except MemoryFault as error:
            log.warning("the grading lease was not released and will expire: %s", error)
        await model.close()
        executor.close()

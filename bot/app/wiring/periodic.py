"""Runs functions periodically on APScheduler, and stops them at the end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from memory.ports import Clock

PeriodicJob = Callable[[], Awaitable[None]]


@asynccontextmanager
async def run_periodically(
    jobs: Mapping[str, PeriodicJob], *, every_s: float, clock: Clock, break_off: bool = False
) -> AsyncIterator[None]:
    """Call each of `jobs` now and every so many seconds, never twice at once; missed calls count once.

    At the end running calls are waited for, or cancelled. (APScheduler alone would cancel them and log a failure.)
    """
    under_way: set[asyncio.Task[None]] = set()
    is_over = asyncio.Event()

    async def run_once(job: PeriodicJob) -> None:
        if is_over.is_set():
            return
        task = asyncio.ensure_future(job())
        under_way.add(task)
        task.add_done_callback(under_way.discard)
        await asyncio.wait({task})
        if not task.cancelled():
            task.result()

    scheduler = AsyncIOScheduler(timezone="UTC", job_defaults={"coalesce": True, "misfire_grace_time": None})
    for name, job in jobs.items():
        once = partial(run_once, job)
        scheduler.add_job(once, "interval", seconds=every_s, id=name, name=name, next_run_time=clock())
    scheduler.start()
    try:
        yield
    finally:
        is_over.set()
        scheduler.pause()
        while under_way:
            for task in under_way if break_off else ():
                task.cancel()
            await asyncio.wait(set(under_way))
        await asyncio.sleep(0)  # whoever waited for them comes to an end, too
        scheduler.shutdown(wait=False)

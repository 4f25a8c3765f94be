"""Runs the grading model on APScheduler, every minute, on answers nobody reacted to. Off by default."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from bot.app.models import make_one_model
from bot.app.periodic import run_periodically
from bot.config import Settings
from bot.conversation.executor import Executor
from bot.conversation.model_grading import ModelGrading
from memory.adapters.system import utc_now
from memory.errors import MemoryFault
from memory.services import Memory

log = logging.getLogger(__name__)

LOOK_S = 60.0
"""How often it is looked for answers to judge."""


@asynccontextmanager
async def grading_running(
    settings: Settings, memory: Memory, owner: str, *, look_s: float = LOOK_S
) -> AsyncIterator[None]:
    """Judge what waits beside whatever else the event loop does. Nothing at all while it is off.

    Raises `ConfigError` for a model that is not known.
    """
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

    async def look() -> None:
        try:
            count = await judge.run()
        except MemoryFault as error:
            log.error("answers nobody reacted to are not judged for now: %s", error)
            return
        if count:
            log.info("%s judged %d answers nobody reacted to", name, count)

    try:
        # A model may take a minute to answer; what was being judged is judged another time.
        async with run_periodically({"grading": look}, every_s=look_s, clock=utc_now, break_off=True):
            yield
    finally:
        try:
            await judge.release()
        except MemoryFault as error:
            log.warning("the grading lease was not released and will expire: %s", error)
        await model.close()
        executor.close()

"""`goodbot chat`: the bot in one terminal."""

import asyncio
import os
import signal
import sys
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

from bot.app.processes.lock import only_one
from bot.app.processes.scheduler import reminders_running
from bot.app.processes.watchdog import reporting, watching
from bot.app.wiring.build import Running, assemble
from bot.app.wiring.knowledge import reloading
from bot.config import Settings
from memory.adapters.system import utc_now
from memory.services import Memory


async def chat(settings: Settings, memory: Memory, *, teacher: bool, admin: bool) -> None:
    """Talk in this terminal until the person leaves."""
    async with AsyncExitStack() as stack:
        report = stack.enter_context(reporting(settings, memory))
        running = assemble(settings, memory, report.record_in_progress)
        await stack.enter_async_context(watching(running, limit_s=settings.limits.frozen_after_s, trace=report.trace))
        await _talk(settings, memory, running, teacher=teacher, admin=admin)


async def _talk(settings: Settings, memory: Memory, running: Running, *, teacher: bool, admin: bool) -> None:
    from bot.adapters.terminal.messenger import TerminalMessenger
    from bot.adapters.terminal.streams import standard_streams

    goodbot, streams = running.goodbot, standard_streams(os.environ)

    async def stop() -> None:
        goodbot.conversations.stop_all()

    messenger = TerminalMessenger(
        streams=streams,
        settings=settings.terminal,
        clock=utc_now,
        new_id=memory.new_id,
        folder=Path.cwd(),
        teacher=teacher,
        admin=admin,
        greeting=f"Goodbot ({settings.model.name} model). Memory: {settings.storage.place}",
        wait_until_answered=goodbot.idle,
        stop=stop,
        is_vote=goodbot.is_vote,
    )

    async def end() -> None:
        goodbot.shut_down()
        await messenger.close()

    ending: set[asyncio.Task[None]] = set()
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        if sys.platform != "win32":
            loop.add_signal_handler(signal.SIGTERM, lambda: ending.add(loop.create_task(end())))
        try:
            if stack.enter_context(only_one(settings, "chat")):
                await goodbot.recovery.answer_suspects(messenger)
                await goodbot.recovery.resume(messenger)
            async with (
                reminders_running(running, memory, [messenger]),
                reloading(running.agent_tools.knowledge, utc_now),
            ):
                await messenger.run(running.sink(messenger))
            if not streams.interactive:
                # A pipe may end before what an earlier process left is answered; nobody is there to be impatient.
                await goodbot.idle()
        finally:
            await running.close()

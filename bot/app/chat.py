"""`goodbot chat`: the bot in one terminal."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from bot.app.build import assemble
from bot.app.lock import only_one
from bot.config import Settings
from memory.adapters.system import utc_now
from memory.service import Memory


async def chat(settings: Settings, memory: Memory, *, teacher: bool, environ: Mapping[str, str] | None = None) -> None:
    """Talk in this terminal until the person leaves."""
    from bot.adapters.terminal.messenger import TerminalMessenger
    from bot.adapters.terminal.streams import standard_streams

    running = assemble(settings, memory)
    goodbot = running.goodbot

    async def stop() -> None:
        goodbot.stop_all()

    streams = standard_streams(os.environ if environ is None else environ)
    messenger = TerminalMessenger(
        streams=streams,
        settings=settings.terminal,
        clock=utc_now,
        new_id=memory.new_id,
        folder=Path.cwd(),
        teacher=teacher,
        greeting=f"Goodbot ({settings.model.name} model). Memory: {settings.storage.place}",
        wait_until_answered=goodbot.idle,
        stop=stop,
        teaches=goodbot.teaches,
    )

    async def end() -> None:
        goodbot.leave()
        await messenger.close()

    ending: set[asyncio.Task[None]] = set()
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        if sys.platform != "win32":
            loop.add_signal_handler(signal.SIGTERM, lambda: ending.add(loop.create_task(end())))
        if stack.enter_context(only_one(settings, "chat")):
            await goodbot.recover(messenger)
        try:
            await messenger.run(goodbot.sink(messenger))
            if not streams.interactive:
                # A pipe may end before what an earlier process left is answered; nobody is there to be impatient.
                await goodbot.idle()
        finally:
            await running.close()

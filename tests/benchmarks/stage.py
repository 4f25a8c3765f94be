"""The bot in this process, and what it is measured with in others: a crowd on a platform, an idle process."""

import asyncio
import multiprocessing
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from bot.app.processes.gc_tuning import keep_pauses_short
from bot.app.serve import make_messenger
from bot.app.wiring.build import assemble, open_memory
from bot.config import Settings, load_settings
from memory.services import Memory

TICK_S = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a measurement works with: `crowd` and `idle` are the pipes to the other processes."""

    settings: Settings
    memory: Memory
    crowd: Connection
    idle: Connection

    @asynccontextmanager
    async def bot(self, platform: str) -> AsyncIterator[None]:
        """The bot on this platform, warmed up."""
        running = assemble(self.settings, self.memory)
        messenger = make_messenger(self.settings, platform, self.memory, running.goodbot)
        serving = asyncio.create_task(messenger.run(running.goodbot.sink(messenger)))
        await keep_pauses_short(running.warm_up)
        yield
        await messenger.close()
        await serving
        await running.close()


@contextmanager
def beside(crowd: Callable[..., None], *arguments: object, embedder: str) -> Iterator[Stage]:
    """Start a crowd, which first sends its platform's environment, and an idle process; both end with the block."""
    spawn = multiprocessing.get_context("spawn")
    pipe, theirs = spawn.Pipe()
    people = spawn.Process(target=crowd, args=(theirs, *arguments))
    people.start()
    theirs.close()  # so that its end is noticed
    control, elsewhere = spawn.Pipe()
    idle = spawn.Process(target=idle_process, args=(elsewhere,))
    idle.start()
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **pipe.recv(),
            "DATABASE_URL": f"sqlite:///{Path(folder) / 'bench.db'}",
            "GOODBOT_LOG_FILE": str(Path(folder) / "goodbot.log"),
            "GOODBOT_EMBEDDER_NAME": embedder,
            "GOODBOT_LISTENING_WELCOME": "off",  # a crowd takes what is posted for an answer
        }
        settings = load_settings(environment, config_path=None, cwd=Path(folder), data_dir=Path(folder))
        with open_memory(settings) as memory:
            yield Stage(settings=settings, memory=memory, crowd=pipe, idle=control)
    people.join()
    control.send("leave")
    idle.join()


def idle_process(pipe: Connection) -> None:
    """Does nothing but to wake every 5 ms; each time it is asked, it tells how late it was at worst since then."""
    worst = 0.0
    while True:
        before = time.perf_counter()
        time.sleep(TICK_S)
        worst = max(worst, time.perf_counter() - before - TICK_S)
        if pipe.poll():
            if pipe.recv() == "leave":
                return
            pipe.send(worst)
            worst = 0.0

"""A whole bot that knows nothing yet, in a temporary folder, with a clock that is moved by hand."""

import random
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.agent.tools.registry import ToolRegistry
from bot.app.bench.messenger import BenchMessenger
from bot.app.wiring.build import Running, assemble, make_memory
from bot.config import Settings
from bot.model import PersonEvent
from bot.ports import LanguageModel
from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds
from memory.ports import Embedder
from memory.services import Memory


class SimulatedClock:
    """A clock that stands still until it is advanced."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 5, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        """The current time of the simulation."""
        return self._now

    def advance(self, by: timedelta) -> None:
        """Advance the clock by this time."""
        self._now += by


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshBot:
    """A bot, its memory, and its messenger."""

    memory: Memory
    running: Running
    messenger: BenchMessenger

    async def send(self, event: PersonEvent) -> None:
        """Hand over an event, and wait until it is handled completely."""
        await self.running.goodbot.sink(self.messenger)(event)
        await self.running.goodbot.idle()


@asynccontextmanager
async def fresh_bot(
    settings: Settings,
    embedder: Embedder,
    clock: SimulatedClock,
    model: LanguageModel,
    *,
    seed: int = 0,
    tools: ToolRegistry | None = None,
) -> AsyncIterator[FreshBot]:
    """A bot with the given settings and an empty memory, which is deleted afterwards.

    `tools` replace those of the settings. Ids depend only on clock and seed.
    """
    with (
        tempfile.TemporaryDirectory(prefix="goodbot-bench-") as folder,
        closing(SqlStore.open(f"sqlite:///{Path(folder) / 'bench.db'}")) as store,
    ):
        ids = TimeOrderedIds(clock, random.Random(seed).getrandbits)
        memory = make_memory(settings, store, embedder, clock, ids)
        running = assemble(settings, memory, model=model, tools=tools)
        try:
            await running.warm_up
            yield FreshBot(memory=memory, running=running, messenger=BenchMessenger())
        finally:
            await running.close()

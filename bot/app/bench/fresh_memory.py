"""An empty memory on a database file in a temporary folder, with a clock that is moved by hand."""

import random
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.app.wiring.build import make_memory
from bot.config import Settings
from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds
from memory.ports import Embedder
from memory.services import Memory


class SimulatedClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 5, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        """The present moment of the simulation."""
        return self._now

    def advance(self, by: timedelta) -> None:
        """Let this time pass."""
        self._now += by


@contextmanager
def fresh_memory(settings: Settings, embedder: Embedder, clock: SimulatedClock, seed: int) -> Iterator[Memory]:
    """The memory as the settings make it, but empty; it is deleted afterwards. Ids depend on clock and seed alone."""
    with (
        tempfile.TemporaryDirectory(prefix="goodbot-bench-") as folder,
        closing(SqlStore.open(f"sqlite:///{Path(folder) / 'bench.db'}")) as store,
    ):
        yield make_memory(settings, store, embedder, clock, TimeOrderedIds(clock, random.Random(seed).getrandbits))

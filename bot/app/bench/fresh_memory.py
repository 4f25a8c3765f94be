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
    """A clock that stands still until it is advanced."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 5, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        """The current time of the simulation."""
        return self._now

    def advance(self, by: timedelta) -> None:
        """Advance the clock by this time."""
        self._now += by


@contextmanager
def fresh_memory(settings: Settings, embedder: Embedder, clock: SimulatedClock, seed: int) -> Iterator[Memory]:
    """An empty memory with the given settings, deleted afterwards. Ids depend only on clock and seed."""
    with (
        tempfile.TemporaryDirectory(prefix="goodbot-bench-") as folder,
        closing(SqlStore.open(f"sqlite:///{Path(folder) / 'bench.db'}")) as store,
    ):
        yield make_memory(settings, store, embedder, clock, TimeOrderedIds(clock, random.Random(seed).getrandbits))

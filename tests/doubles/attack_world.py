"""The same small world on both stores, for those who attack it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.adapters.inmemory import InMemoryStore
from memory.adapters.sql import SqlStore
from memory.model import TeachingPolicy
from memory.ports import Store
from tests.doubles.memory_world import World


def open_store(kind: str, folder: Path) -> Store:
    return InMemoryStore() if kind == "memory" else SqlStore.open(f"sqlite:///{folder / 'attacked.db'}")


class Attacked:
    """Subclass it: `world` is a fresh one on each store, proven afterwards to be what its log says."""

    policy = TeachingPolicy()

    @pytest.fixture(params=["memory", "sqlite"])
    def world(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
        store = open_store(request.param, tmp_path)
        world = World(store, policy=self.policy)
        yield world
        assert world.memory.audit.check() == []
        store.close()

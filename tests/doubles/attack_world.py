"""A small world for those who attack it."""

from collections.abc import Iterator

import pytest

from memory.adapters.sql import SqlStore
from memory.model import TeachingPolicy
from tests.doubles.memory_world import World


class Attacked:
    """Subclass it: `world` is a fresh one, proven afterwards to be what its log says."""

    policy = TeachingPolicy()

    @pytest.fixture
    def world(self) -> Iterator[World]:
        store = SqlStore.in_memory()
        world = World(store, policy=self.policy)
        yield world
        assert world.memory.audit.check() == []
        store.close()

"""A world with pages, and who visits them."""

import pytest

from memory.adapters.sql import SqlStore
from tests.doubles.memory_world import World
from tests.doubles.pages import Visitor, site_parts


@pytest.fixture
def store() -> SqlStore:
    return SqlStore.in_memory()


@pytest.fixture
def world(store: SqlStore) -> World:
    return World(store)


@pytest.fixture
def nobody(world: World) -> Visitor:
    """Somebody who has not logged in."""
    world.ask("where is the key?", "under the mat")
    return Visitor(world.memory, site_parts(world.memory))


@pytest.fixture
def admin(nobody: Visitor) -> Visitor:
    """An administrator."""
    nobody.log_in()
    return nobody

"""A store for tests of topics."""

from collections.abc import Iterator

import pytest

from memory.adapters.sql import SqlStore
from memory.ports import Store


@pytest.fixture
def store() -> Iterator[Store]:
    store = SqlStore.in_memory()
    yield store
    store.close()

"""What few searches use takes little memory, and is found as before."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memory.adapters.sql import SqlStore
from memory.adapters.sql.recall.partition_cache import IDLE, PartitionCache
from tests.memory.adapters.store_contract_recall import learn, near
from tests.memory.adapters.store_samples import CHANNEL, EVERYONE


@pytest.fixture
def store(path: Path) -> Iterator[SqlStore]:
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        learn(store, "a", (1, 0, 0), EVERYONE, CHANNEL)
        learn(store, "b", (1, 1, 0), EVERYONE, CHANNEL)
        yield store


def narrow(cache: PartitionCache) -> set[str]:
    return {key.partition for key, (copy, _) in cache._kept.items() if copy.vectors.is_narrow}


def nbytes(cache: PartitionCache) -> int:
    return sum(copy.vectors.nbytes + 1000 for copy, _ in cache._kept.values())


def test_what_was_not_used_for_long_takes_half_of_the_memory_until_it_is_used_twice(store: SqlStore) -> None:
    cache = store._recall._copies
    assert near(store, "workspace") == ["a", "b"]
    for _ in range(IDLE):
        assert not narrow(cache)
        near(store, "channel/C1")
    assert narrow(cache) == {"workspace"}
    assert cache._nbytes == nbytes(cache)
    assert near(store, "workspace") == ["a", "b"]
    assert narrow(cache) == {"workspace"}
    assert near(store, "workspace") == ["a", "b"]
    assert not narrow(cache)
    assert cache._nbytes == nbytes(cache)


@pytest.mark.parametrize("is_theirs", [False, True])
def test_what_changes_is_found_wherever_it_is(store: SqlStore, path: Path, is_theirs: bool) -> None:
    cache = store._recall._copies
    near(store, "workspace")
    for _ in range(IDLE):
        near(store, "channel/C1")
    assert narrow(cache) == {"workspace"}
    with closing(SqlStore.open(f"sqlite:///{path}")) as other:
        learn(other if is_theirs else store, "c", (1, 0.1, 0))
    assert near(store, "workspace") == ["a", "c", "b"]
    assert not narrow(cache)
    with store.write() as tx:
        tx.episodes.set_index("w", "a", [])
    assert near(store, "workspace") == ["c", "b"]
    assert cache._nbytes == nbytes(cache)

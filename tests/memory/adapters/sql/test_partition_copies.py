"""How the copies of partitions are checked: by one statement each time, and a narrow one where nothing changed."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from memory.adapters.sql import SqlStore
from tests.doubles.pages import counted_statements
from tests.memory.adapters.store_contract_recall import learn, near
from tests.memory.adapters.store_samples import CHANNEL, EVERYONE

PARTITIONS = ("workspace", "channel/C1", "person/U1")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "goodbot.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqlStore]:
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        learn(store, "a", (1, 0, 0), EVERYONE, CHANNEL)
        yield store


def searched(store: SqlStore) -> tuple[list[str], list[str]]:
    """What is found, and by which statements."""
    with counted_statements(store) as statements:
        found = near(store, *PARTITIONS)
    return found, [each for each in statements if each.startswith("SELECT")]


def test_where_nothing_changed_no_rows_are_looked_for(store: SqlStore) -> None:
    found, first = searched(store)
    assert len(first) == 1
    assert "vector" in first[0]
    for _ in range(2):
        again, later = searched(store)
        assert again == found
        assert len(later) == 1
        assert "vector" not in later[0]


def test_what_this_process_changed_takes_no_statement_more(store: SqlStore) -> None:
    searched(store)
    learn(store, "b", (1, 0, 0))
    found, statements = searched(store)
    assert found == ["b", "a"]
    assert len(statements) == 1


def test_what_is_rolled_back_is_no_change(store: SqlStore) -> None:
    searched(store)
    with pytest.raises(ZeroDivisionError), store.write() as tx:
        tx.episodes.set_index("w", "a", [])
        raise ZeroDivisionError
    found, [statement] = searched(store)
    assert found == ["a"]
    assert "vector" not in statement


@pytest.mark.parametrize("sweeps", [False, True])
def test_what_another_process_changed_is_found_by_the_next_search(store: SqlStore, path: Path, sweeps: bool) -> None:
    searched(store)
    with closing(SqlStore.open(f"sqlite:///{path}")) as other:
        learn(other, "b", (1, 0, 0), EVERYONE, CHANNEL)
        assert searched(store)[0] == ["b", "a"]
        with other.write() as tx:
            tx.episodes.set_index("w", "b", [])
        if sweeps:
            other.erase_free_space()
        assert searched(store)[0] == ["a"]


def test_a_partition_that_was_empty_is_looked_at_again(store: SqlStore, path: Path) -> None:
    for _ in range(2):
        assert near(store, "person/U1") == []
    with closing(SqlStore.open(f"sqlite:///{path}")) as other:
        learn(other, "b", (1, 0, 0), replace(CHANNEL, partition="person/U1"))
    assert near(store, "person/U1") == ["b"]

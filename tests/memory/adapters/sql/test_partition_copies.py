"""How the copies of partitions are checked: by one statement each time, of which little runs where nothing changed."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memory.adapters.sql import SqlStore
from tests.doubles.pages import counted_statements
from tests.memory.adapters.store_contract_recall import learn, near
from tests.memory.adapters.store_samples import CHANNEL, EVERYONE

PARTITIONS = ("workspace", "channel/C1", "person/U1")


@pytest.fixture
def store(path: Path) -> Iterator[SqlStore]:
    with closing(SqlStore.open(f"sqlite:///{path}")) as store:
        learn(store, "a", (1, 0, 0), EVERYONE, CHANNEL)
        yield store


class Search(NamedTuple):
    found: list[str]
    statements: int
    steps: int
    """Of SQLite's machine."""


def searched(store: SqlStore) -> Search:
    """What is found, and what that takes."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    with store._session(writes=False) as (session, _):
        driver: Any = session._connection.connection.driver_connection  # the next transaction has the same one
    driver.set_progress_handler(step, 1)
    with counted_statements(store) as statements:
        found = near(store, *PARTITIONS)
    driver.set_progress_handler(None, 0)
    return Search(found, sum(each.startswith("SELECT") for each in statements), steps)


def test_where_nothing_changed_no_rows_are_looked_for(store: SqlStore) -> None:
    first = searched(store)
    assert (first.found, first.statements) == (["a"], 1)
    for _ in range(2):
        later = searched(store)
        assert (later.found, later.statements) == (["a"], 1)
        assert 0 < later.steps < first.steps / 2


def test_what_this_process_changed_takes_no_statement_more(store: SqlStore) -> None:
    searched(store)
    learn(store, "b", (1, 0, 0))
    assert searched(store)[:2] == (["b", "a"], 1)


def test_what_another_process_changed_takes_no_statement_more(store: SqlStore, path: Path) -> None:
    searched(store)
    with closing(SqlStore.open(f"sqlite:///{path}")) as other:
        for number in range(3):
            learn(other, f"b{number}", (1, 0, 0))
            found, statements, _ = searched(store)
            assert (len(found), statements) == (2 + number, 1)


def test_what_is_rolled_back_is_no_change(store: SqlStore) -> None:
    searched(store)
    before = searched(store)
    with pytest.raises(ZeroDivisionError), store.write() as tx:
        tx.episodes.set_index("w", "a", [])
        raise ZeroDivisionError
    assert searched(store) == before


@pytest.mark.parametrize("sweeps", [False, True])
def test_what_another_process_changed_is_found_by_the_next_search(store: SqlStore, path: Path, sweeps: bool) -> None:
    searched(store)
    with closing(SqlStore.open(f"sqlite:///{path}")) as other:
        learn(other, "b", (1, 0, 0), EVERYONE, CHANNEL)
        assert searched(store).found == ["b", "a"]
        with other.write() as tx:
            tx.episodes.set_index("w", "b", [])
        if sweeps:
            other.erase_free_space()
        assert searched(store).found == ["a"]


def test_a_partition_that_was_empty_is_looked_at_again(store: SqlStore, path: Path) -> None:
    for _ in range(2):
        assert near(store, "person/U1") == []
    with closing(SqlStore.open(f"sqlite:///{path}")) as other:
        learn(other, "b", (1, 0, 0), replace(CHANNEL, partition="person/U1"))
    assert near(store, "person/U1") == ["b"]

"""The store in this process's memory keeps the contract, and what holds for it alone."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memory.adapters.sql import SqlStore
from memory.ports import Store
from tests.memory.adapters.store_contract import CHANGES, StoreContract
from tests.memory.adapters.store_contract_channels import ChannelsContract
from tests.memory.adapters.store_contract_deliveries import DeliveriesContract
from tests.memory.adapters.store_contract_episodes import EpisodesContract
from tests.memory.adapters.store_contract_judgements import JudgementsContract
from tests.memory.adapters.store_contract_recall import RecallContract
from tests.memory.adapters.store_contract_steps import StepsContract
from tests.memory.adapters.store_contract_tables import TablesContract
from tests.memory.adapters.store_contract_topics import WorldContract
from tests.memory.adapters.store_contract_turns import TurnsContract
from tests.memory.adapters.store_contract_upkeep import UpkeepContract
from tests.memory.adapters.store_samples import ALL, aborted, dump, dump_within, episode, fill, is_empty


class TestInMemoryStore(StoreContract):
    def make_store(self, folder: Path) -> Store:
        return SqlStore.in_memory()


class TestInMemoryRecall(RecallContract):
    def make_store(self, folder: Path) -> Store:
        return SqlStore.in_memory()


class TestInMemoryChannels(ChannelsContract):
    def make_store(self, folder: Path) -> Store:
        return SqlStore.in_memory()


class TestInMemoryJudgements(JudgementsContract):
    def make_store(self, folder: Path) -> Store:
        return SqlStore.in_memory()


class TestInMemorySteps(StepsContract):
    def make_store(self, folder: Path) -> Store:
        return SqlStore.in_memory()


class TestInMemoryTables(TablesContract):
    def make_store(self, folder: Path) -> Store:
        return SqlStore.in_memory()


class TestInMemoryDeliveries(DeliveriesContract):
    def make_store(self, folder: Path) -> Store:
        return SqlStore.in_memory()


class TestInMemoryEpisodes(EpisodesContract):
    def make_store(self, folder: Path) -> Store:
        return SqlStore.in_memory()


class TestInMemoryUpkeep(UpkeepContract):
    def make_store(self, folder: Path) -> Store:
        return SqlStore.in_memory()


class TestInMemoryTurns(TurnsContract):
    def make_store(self, folder: Path) -> Store:
        return SqlStore.in_memory()


class TestInMemoryWorld(WorldContract):
    def make_store(self, folder: Path) -> Store:
        return SqlStore.in_memory()


@pytest.fixture
def store() -> Iterator[SqlStore]:
    with closing(SqlStore.in_memory()) as store:
        yield store


def test_each_is_a_database_of_its_own(store: SqlStore) -> None:
    with closing(SqlStore.in_memory()) as other:
        with store.write() as tx:
            fill(tx, "w")
        assert is_empty(dump(other, "w"))
    assert not is_empty(dump(store, "w"))


def test_is_gone_when_it_is_closed(store: SqlStore) -> None:
    with store.write() as tx:
        fill(tx, "w")
    driver = store._engine.raw_connection().driver_connection
    assert driver is not None
    store.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        driver.execute("SELECT * FROM episodes")


def test_nothing_is_on_disk(store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with store.write() as tx:
        fill(tx, "w")
    store.erase_free_space()
    assert store.damage(limit=9) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("outer", ["read", "write"])
@pytest.mark.parametrize("inner", ["read", "write", "workspaces", "erase_free_space"])
def test_a_transaction_inside_another_of_the_same_thread_is_refused(store: SqlStore, outer: str, inner: str) -> None:
    def use() -> None:
        if inner in ("read", "write"):
            with getattr(store, inner)():
                pass
        else:
            getattr(store, inner)()

    with getattr(store, outer)() as tx:
        with pytest.raises(RuntimeError, match="inside another"):
            use()
        assert len(tx.episodes.search("w", ALL)) == 0
    use()


def test_a_write_of_another_thread_waits_for_a_read_to_end(store: SqlStore) -> None:
    begun, ended = threading.Event(), threading.Event()

    def write() -> None:
        begun.set()
        with store.write() as tx:
            tx.episodes.put(episode("e1"))
        ended.set()

    writing = threading.Thread(target=write)
    with store.read() as tx:
        writing.start()
        assert begun.wait(60)
        for _ in range(100):
            assert len(tx.episodes.search("w", ALL)) == 0
        assert not ended.is_set()
    writing.join()
    with store.read() as tx:
        assert len(tx.episodes.search("w", ALL)) == 1


def test_threads_open_stores_at_once() -> None:
    opened: list[SqlStore] = []

    def work() -> None:
        store = SqlStore.in_memory()
        with store.write() as tx:
            fill(tx, "w")
        opened.append(store)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 8
    for store in opened:
        assert not is_empty(dump(store, "w"))
        store.close()


def test_each_change_that_the_contract_makes_changes_what_is_read() -> None:
    store = SqlStore.in_memory()
    with store.write() as tx:
        fill(tx, "w")
    before = dump(store, "w")
    for name, change in CHANGES.items():
        with aborted(store) as tx:
            change(tx, "w")
            assert dump_within(tx, "w") != before or name == "claim", name

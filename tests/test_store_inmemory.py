"""The in-process store keeps the contract."""

from pathlib import Path

from memory.adapters.inmemory import InMemoryStore
from memory.ports import Store
from tests.store_contract import StoreContract
from tests.store_contract_recall import RecallContract
from tests.store_contract_tables import TablesContract


class TestInMemoryStore(StoreContract):
    def make_store(self, folder: Path) -> Store:
        return InMemoryStore()


class TestInMemoryRecall(RecallContract):
    def make_store(self, folder: Path) -> Store:
        return InMemoryStore()


class TestInMemoryTables(TablesContract):
    def make_store(self, folder: Path) -> Store:
        return InMemoryStore()

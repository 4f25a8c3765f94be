"""The in-process store keeps the contract."""

from pathlib import Path

from memory.adapters.inmemory import InMemoryStore
from memory.ports import Store
from tests.memory.adapters.store_contract import StoreContract
from tests.memory.adapters.store_contract_channels import ChannelsContract
from tests.memory.adapters.store_contract_recall import RecallContract
from tests.memory.adapters.store_contract_steps import StepsContract
from tests.memory.adapters.store_contract_tables import TablesContract
from tests.memory.adapters.store_contract_topics import WorldContract
from tests.memory.adapters.store_contract_upkeep import UpkeepContract


class TestInMemoryStore(StoreContract):
    def make_store(self, folder: Path) -> Store:
        return InMemoryStore()


class TestInMemoryRecall(RecallContract):
    def make_store(self, folder: Path) -> Store:
        return InMemoryStore()


class TestInMemoryChannels(ChannelsContract):
    def make_store(self, folder: Path) -> Store:
        return InMemoryStore()


class TestInMemorySteps(StepsContract):
    def make_store(self, folder: Path) -> Store:
        return InMemoryStore()


class TestInMemoryTables(TablesContract):
    def make_store(self, folder: Path) -> Store:
        return InMemoryStore()


class TestInMemoryUpkeep(UpkeepContract):
    def make_store(self, folder: Path) -> Store:
        return InMemoryStore()


class TestInMemoryWorld(WorldContract):
    def make_store(self, folder: Path) -> Store:
        return InMemoryStore()

"""What every suite of store tests begins with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.ports import Store


class StoreCase:
    """Subclass, and say how to make an empty store in an empty folder."""

    def make_store(self, folder: Path) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = self.make_store(tmp_path)
        yield store
        store.close()

"""A store that keeps nothing: each transaction is rolled back at its end."""

from contextlib import AbstractContextManager

from memory.model.upkeep import DamagedRow
from memory.ports import Store, Transaction, rolled_back


class DryRunStore:
    """Reads another store and rolls back every write to it, to try something out on real data."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def write(self) -> AbstractContextManager[Transaction]:
        """A transaction that sees its own writes and is rolled back at its end."""
        return rolled_back(self._store)

    def read(self) -> AbstractContextManager[Transaction]:
        """As `Store`, on the other store."""
        return self._store.read()

    def workspaces(self) -> list[str]:
        """As `Store`, on the other store."""
        return self._store.workspaces()

    def schema(self) -> str:
        """As `Store`, on the other store."""
        return self._store.schema()

    def erase_free_space(self) -> None:
        """Does nothing, as nothing was deleted."""

    def drop_erased(self) -> None:
        """As `Store`, on the other store."""
        self._store.drop_erased()

    def damage(self, *, limit: int) -> list[DamagedRow]:
        """As `Store`, on the other store."""
        return self._store.damage(limit=limit)

    def close(self) -> None:
        """As `Store`, on the other store."""
        self._store.close()

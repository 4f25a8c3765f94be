"""What the store asks of a database: the kinds differ in how a transaction begins, who waits, and what is on disk."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from sqlalchemy import Connection, Engine, RootTransaction, TextClause

from memory.adapters.sql.transaction.driver import Where
from memory.model.upkeep import DamagedRow

RECOUNT = "; then run `goodbot rebuild`"
"""What ends the remedy for a damaged row: what was counted from it has to be counted anew."""


class Database(Protocol):
    """One database of one kind. Safe for threads."""

    @property
    def engine(self) -> Engine:
        """Its connections."""
        ...

    @property
    def where(self) -> Where:
        """What messages call it."""
        ...

    @property
    def address(self) -> str:
        """What tells it from every other database; no password is in it."""
        ...

    @property
    def another(self) -> str:
        """What to name instead of it in DATABASE_URL."""
        ...

    @property
    def tables(self) -> TextClause:
        """A query of the names of its tables."""
        ...

    def require_ready(self, replaced: Callable[[], None]) -> None:
        """Before each transaction. Calls `replaced` if it is another database than at the last time.

        Raises `StoreUnavailable` if it is gone.
        """
        ...

    def turn(self, *, writes: bool) -> AbstractContextManager[None]:
        """Waits until this thread may begin a transaction."""
        ...

    def begin(self, *, writes: bool) -> tuple[Connection, RootTransaction]:
        """A connection in a transaction of its own. Raises the driver's errors."""
        ...

    def commit(self, connection: Connection, transaction: RootTransaction) -> None:
        """End a transaction. Raises the driver's errors, and `Conflict` where it cannot be but rolled back."""
        ...

    def release(self, connection: Connection) -> None:
        """Give back what `begin` gave, once. A transaction that did not end is rolled back."""
        ...

    def upgrading(self) -> AbstractContextManager[Connection]:
        """A writing transaction in which the schema may be changed by one process at a time."""
        ...

    def erase_free_space(self) -> None:
        """Overwrite what deletions left behind on the disk."""
        ...

    def damage(self, *, limit: int) -> list[DamagedRow]:
        """Rows that cannot be read."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...

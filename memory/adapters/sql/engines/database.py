"""The interface of a database. SQLite and PostgreSQL differ in how transactions begin and wait, and in storage."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from sqlalchemy import Connection, Engine, RootTransaction, TextClause

from memory.adapters.sql.transaction.driver import Where
from memory.model.upkeep import DamagedRow

RECOUNT = "; then run `goodbot rebuild`"
"""The end of the remedy for a damaged row: values that were computed from the row are computed again."""


class Database(Protocol):
    """A database. Safe for threads."""

    @property
    def engine(self) -> Engine:
        """The engine that connects to it."""

    @property
    def where(self) -> Where:
        """The database's name in messages."""

    @property
    def address(self) -> str:
        """The database's unique address, without user and password."""

    @property
    def another(self) -> str:
        """The words for another DATABASE_URL in error messages."""

    @property
    def tables(self) -> TextClause:
        """A query of the names of its tables."""

    @property
    def columns(self) -> TextClause:
        """A query of the columns of its tables: (table, column)."""

    @property
    def triggers(self) -> TextClause:
        """A query of its triggers that are in effect: (name, form), as `lesson_versions.forms` has them."""

    def require_ready(self, replaced: Callable[[], None]) -> None:
        """Check the database before a transaction. Calls `replaced` if it is another one than at the last check.

        Raises `StoreUnavailable` if it is gone.
        """

    def transaction_slot(self, *, writes: bool) -> AbstractContextManager[None]:
        """A context for one transaction, which waits until this thread may begin it.

        Raises `RuntimeError` if the thread would wait for itself.
        """

    def begin(self, *, writes: bool) -> tuple[Connection, RootTransaction]:
        """A connection with a new transaction. Raises the driver's errors."""

    def commit(self, connection: Connection, transaction: RootTransaction) -> None:
        """Commit a transaction. Raises the driver's errors, and `Conflict` if it can only be rolled back."""

    def release(self, connection: Connection) -> None:
        """Give back a connection from `begin`, once. An open transaction is rolled back."""

    def upgrading(self) -> AbstractContextManager[Connection]:
        """A writing transaction that may change the schema, in one process at a time."""

    def erase_free_space(self) -> None:
        """Overwrite deleted content on the disk."""

    def damage(self, *, limit: int) -> list[DamagedRow]:
        """At most `limit` rows that cannot be read."""

    def close(self) -> None:
        """Close all connections."""

"""Every error the memory package raises on purpose.

    MemoryFault
    ├─ NotFound            no such episode, run or retrieval in this workspace
    ├─ Conflict            the write contradicts what is stored
    ├─ InvalidInput        the caller's text, number or name cannot be accepted; also a `ValueError`
    ├─ NotAdmitted         the lists that people keep in chat do not let somebody use the bot there
    ├─ StoreUnavailable *  the database cannot be opened, read or written now
    │  ├─ StoreFull *      its disk has no room left
    │  ├─ StoreReadOnly    the file or its folder refuses writes
    │  ├─ NotADatabase     the file is something else, or is damaged
    │  └─ SchemaMismatch   the database is older or newer than this code
    │     └─ MoveUnfinished  a move into it broke off
    ├─ EmbeddingFailed *   the embedder could not be loaded or could not embed
    ├─ JobFailed           an upkeep job failed in some workspaces
    └─ GraderMissing       no grader was set

`*` = worth trying again later (`retryable`). Messages say what was tried, on what, and what to do.
Wrong arguments that only a programmer can make are `ValueError` / `TypeError`, not these.
"""

from typing import ClassVar


class MemoryFault(Exception):
    """Root of the package's errors."""

    retryable: ClassVar[bool] = False


class NotFound(MemoryFault):
    """There is nothing with this id in this workspace."""


class Conflict(MemoryFault):
    """The write contradicts what is stored, for example two different runs for one message."""


class InvalidInput(MemoryFault, ValueError):
    """A person's or a program's input cannot be accepted; the message may be shown to that person."""


class NotAdmitted(MemoryFault):
    """The lists that people keep in chat do not let somebody use the bot in a place."""


class StoreUnavailable(MemoryFault):
    """The database cannot be opened, read or written at the moment."""

    retryable = True


class StoreFull(StoreUnavailable):
    """The disk of the database has no room left."""


class StoreReadOnly(StoreUnavailable):
    """The database file or its folder cannot be written."""

    retryable = False


class NotADatabase(StoreUnavailable):
    """The file is not a database, or is damaged."""

    retryable = False


class SchemaMismatch(StoreUnavailable):
    """The database's schema is older or newer than this code expects."""

    retryable = False


class MoveUnfinished(SchemaMismatch):
    """A move into the database broke off; `revision` names the move."""

    def __init__(self, message: str, revision: str) -> None:
        self.revision = revision
        super().__init__(message)


class EmbeddingFailed(MemoryFault):
    """The embedder could not be loaded, or failed on a text."""

    retryable = True


class JobFailed(MemoryFault):
    """An upkeep job failed in some workspaces; in the others it was done."""


class GraderMissing(MemoryFault):
    """`get_grader()` was called before `set_grader()`."""

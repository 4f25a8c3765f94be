"""The store: atomic transactions over the tables."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from memory.errors import MemoryFault
from memory.model.upkeep import DamagedRow
from memory.ports.administration import ApiKeyTable, BatchTable, ChatSettingTable, ConversationLeaseTable, UpkeepTable
from memory.ports.episodes import EpisodeTable
from memory.ports.people import ChannelTable, PeopleTable
from memory.ports.runs import DeliveryTable, EventLog, RetrievalTable
from memory.ports.steps import ShortMemoryTable, StepTable
from memory.ports.teaching import JudgementTable, SavedMessageTable, TeachingTable
from memory.ports.topics import TopicTable
from memory.ports.totals import TotalsTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """The tables within one transaction, which commits as a whole or not at all."""

    episodes: EpisodeTable
    """Episodes, vectors, links."""
    log: EventLog
    """Events."""
    teaching: TeachingTable
    """Reactions, votes, ledger."""
    channels: ChannelTable
    """Who can read which channel."""
    settings: ChatSettingTable
    """Settings changed in chat."""
    people: PeopleTable
    """People: since when they are known."""
    deliveries: DeliveryTable
    """Messages in and out."""
    conversation_leases: ConversationLeaseTable
    """Which process answers which message, where there are several."""
    retrievals: RetrievalTable
    """Recalls."""
    judgements: JudgementTable
    """Judgements of the best candidates by votes, and thresholds."""
    topics: TopicTable
    """Topics."""
    steps: StepTable
    """Runs recorded step by step, and their grades."""
    short: ShortMemoryTable
    """Values that expire."""
    upkeep: UpkeepTable
    """Jobs, leases, rules."""
    api_keys: ApiKeyTable
    """API keys."""
    saved: SavedMessageTable
    """People's messages saved as lessons."""
    batches: BatchTable
    """Imported files."""
    totals: TotalsTable
    """Counts over a whole workspace."""


class Store(Protocol):
    """The database. Thread-safe; several processes may use one database.

    A thread must not begin a transaction inside another one, because a store may serialise them.
    """

    def write(self) -> AbstractContextManager[Transaction]:
        """One atomic, durable, serialised transaction. An exception inside rolls everything back and passes on.

        Raises `StoreUnavailable` (or one of its kinds) when the database cannot be written.
        """

    def read(self) -> AbstractContextManager[Transaction]:
        """A transaction on one consistent snapshot. Writing in it is a bug and fails."""

    def workspaces(self) -> list[str]:
        """Every workspace that has an episode, a message, a topic or a log, in alphabetical order."""

    def schema(self) -> str:
        """The name of this version's schema. Raises `SchemaMismatch` if the database has another one."""

    def erase_free_space(self) -> None:
        """Overwrite the free space, so that no byte of deleted rows remains in the database's files."""

    def drop_erased(self) -> None:
        """Drop what this process has cached and any process has erased since. Cheap enough for every minute."""

    def damage(self, *, limit: int) -> list[DamagedRow]:
        """Up to `limit` rows that cannot be read, because something other than this store changed them.

        Reads all rows. Raises `StoreUnavailable`.
        """

    def close(self) -> None:
        """Release all resources. Idempotent."""


@contextmanager
def rolled_back(store: Store) -> Iterator[Transaction]:
    """A writing transaction that is rolled back at the end, to try something out."""
    undo = MemoryFault("rolled back")
    try:
        with store.write() as tx:
            yield tx
            raise undo
    except MemoryFault as fault:
        if fault is not undo:
            raise

"""The store itself: atomic transactions over the tables."""

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
    """Everything inside commits together or not at all."""

    episodes: EpisodeTable
    """Episodes, vectors, links."""
    log: EventLog
    """Events."""
    teaching: TeachingTable
    """Reactions, votes, ledger."""
    channels: ChannelTable
    """Who can read which channel."""
    settings: ChatSettingTable
    """What was changed in chat."""
    people: PeopleTable
    """Since when people are known."""
    deliveries: DeliveryTable
    """Messages in and out."""
    conversation_leases: ConversationLeaseTable
    """Which process answers which message, where several may."""
    retrievals: RetrievalTable
    """Recalls."""
    judgements: JudgementTable
    """What votes say of the best candidates, and thresholds."""
    topics: TopicTable
    """Topics."""
    steps: StepTable
    """Runs taken step by step, and their grades."""
    short: ShortMemoryTable
    """Values that expire."""
    upkeep: UpkeepTable
    """Jobs, leases, rules."""
    api_keys: ApiKeyTable
    """Keys of programs."""
    saved: SavedMessageTable
    """Messages of people that became lessons."""
    batches: BatchTable
    """Files that lessons were learned from."""
    totals: TotalsTable
    """Counts over a whole workspace."""


class Store(Protocol):
    """Persistence. Safe to share between threads; several processes may use one database.

    A thread begins no transaction inside another one: a store may have them take turns.
    """

    def write(self) -> AbstractContextManager[Transaction]:
        """One atomic, durable, serialised transaction. An exception inside rolls everything back and passes on.

        Raises `StoreUnavailable` (or one of its kinds) when the database cannot be written.
        """
        ...

    def read(self) -> AbstractContextManager[Transaction]:
        """One consistent snapshot. Writing through it is a bug and fails."""
        ...

    def workspaces(self) -> list[str]:
        """Every workspace that has an episode, a message or a topic, in alphabetical order."""
        ...

    def schema(self) -> str:
        """The name of the schema, which is this version's. Raises `SchemaMismatch` where another one has changed it."""
        ...

    def erase_free_space(self) -> None:
        """Overwrite what deletions left behind, so that no byte of it remains in the database's files."""
        ...

    def damage(self, *, limit: int) -> list[DamagedRow]:
        """Up to `limit` rows that cannot be read, because something else than this store changed them.

        Reads everything there is. Raises `StoreUnavailable`.
        """
        ...

    def close(self) -> None:
        """Release everything. Closing twice is fine."""
        ...


@contextmanager
def rolled_back(store: Store) -> Iterator[Transaction]:
    """A writing transaction that sees its own writes and takes them back at the end: for trying something out."""
    undo = MemoryFault("rolled back")
    try:
        with store.write() as tx:
            yield tx
            raise undo
    except MemoryFault as fault:
        if fault is not undo:
            raise

"""The doors to the outside: a store, an embedder, a clock and a source of ids.

Each has an adapter that needs nothing outside the process (`memory.adapters`), and one contract suite that every
implementation passes.
No vendor type and no vendor exception crosses a port.
"""

from memory.ports.api_keys import ApiKeyTable
from memory.ports.batches import BatchTable
from memory.ports.chat_settings import ChatSettingTable
from memory.ports.conversation_leases import ConversationLeaseTable, LeasedMessage
from memory.ports.episodes import (
    ActionFit,
    Attention,
    Ballot,
    EpisodeFilter,
    EpisodeTable,
    IndexEntry,
    LessonSummary,
    LessonUse,
    Neighbour,
    Neighbourhood,
    WeighingInput,
)
from memory.ports.judgements import JudgementTable
from memory.ports.people import ChannelTable, PeopleTable
from memory.ports.runtime import Clock, Embedder, NewId, Secret, SecretFinder
from memory.ports.saved import SavedMessageTable
from memory.ports.steps import ShortMemoryTable, StepTable
from memory.ports.store import Store, Transaction, rolled_back
from memory.ports.tables import DeliveryTable, EventLog, RetrievalTable, TeachingTable
from memory.ports.topics import TopicTable
from memory.ports.totals import (
    ArmCount,
    NodeCount,
    RecallCount,
    SpendingCount,
    TotalsTable,
    VerdictCount,
    VoteCount,
)
from memory.ports.upkeep import UpkeepTable

__all__ = [
    "ActionFit",
    "ApiKeyTable",
    "ArmCount",
    "Attention",
    "Ballot",
    "BatchTable",
    "ChannelTable",
    "ChatSettingTable",
    "Clock",
    "ConversationLeaseTable",
    "DeliveryTable",
    "Embedder",
    "EpisodeFilter",
    "EpisodeTable",
    "EventLog",
    "IndexEntry",
    "JudgementTable",
    "LeasedMessage",
    "LessonSummary",
    "LessonUse",
    "Neighbour",
    "Neighbourhood",
    "NewId",
    "NodeCount",
    "PeopleTable",
    "RecallCount",
    "RetrievalTable",
    "SavedMessageTable",
    "Secret",
    "SecretFinder",
    "ShortMemoryTable",
    "SpendingCount",
    "StepTable",
    "Store",
    "TeachingTable",
    "TopicTable",
    "TotalsTable",
    "Transaction",
    "UpkeepTable",
    "VerdictCount",
    "VoteCount",
    "WeighingInput",
    "rolled_back",
]

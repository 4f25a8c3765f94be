"""The ports: interfaces of the store, the embedder, the clock and the source of ids.

Each has an adapter that needs nothing outside the process (`memory.adapters`), and one contract test suite that every
implementation passes. No vendor type and no vendor exception crosses a port.
"""

from memory.ports.administration import (
    ApiKeyTable as ApiKeyTable,
    BatchTable as BatchTable,
    ChatSettingTable as ChatSettingTable,
    ConversationLeaseTable as ConversationLeaseTable,
    LeasedMessage as LeasedMessage,
    UpkeepTable as UpkeepTable,
)
from memory.ports.episodes import (
    ActionFit as ActionFit,
    Ballot as Ballot,
    EpisodeFilter as EpisodeFilter,
    EpisodeTable as EpisodeTable,
    IndexEntry as IndexEntry,
    LessonSummary as LessonSummary,
    Neighbour as Neighbour,
    Neighbourhood as Neighbourhood,
    WeighingInput as WeighingInput,
)
from memory.ports.people import ChannelTable as ChannelTable, PeopleTable as PeopleTable
from memory.ports.runs import (
    Attention as Attention,
    DeliveryTable as DeliveryTable,
    EventLog as EventLog,
    LessonUse as LessonUse,
    RetrievalTable as RetrievalTable,
)
from memory.ports.runtime import (
    Clock as Clock,
    Embedder as Embedder,
    NewId as NewId,
    Secret as Secret,
    SecretFinder as SecretFinder,
)
from memory.ports.steps import ShortMemoryTable as ShortMemoryTable, StepTable as StepTable
from memory.ports.store import Store as Store, Transaction as Transaction, rolled_back as rolled_back
from memory.ports.teaching import (
    JudgementTable as JudgementTable,
    SavedMessageTable as SavedMessageTable,
    TeachingTable as TeachingTable,
)
from memory.ports.topics import TopicTable as TopicTable
from memory.ports.totals import (
    ArmCount as ArmCount,
    NodeCount as NodeCount,
    RecallCount as RecallCount,
    SpendingCount as SpendingCount,
    TotalsTable as TotalsTable,
    VerdictCount as VerdictCount,
    VoteCount as VoteCount,
)

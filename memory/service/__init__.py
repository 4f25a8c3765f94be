"""The use cases of memory, grouped by who has them. `Memory` is what an agent is given."""

from memory.model import TeachingPolicy
from memory.ports import Clock, Embedder, NewId, Store
from memory.retrieval.config import RetrievalConfig
from memory.service.audit import Audit, Difference, RunView
from memory.service.core import Core
from memory.service.correcting import CORRECTION_CHARACTERS, Corrected
from memory.service.privacy import Erased, Holdings, Privacy
from memory.service.purging import Purge, Purging
from memory.service.rating import Rating, Ratings
from memory.service.recalling import Recalled, Recalling
from memory.service.recording import FinishedRun, NodeRecall, Recording, Unsent, UsedLesson
from memory.service.teaching import Teaching, Undone
from memory.service.voting import Taught


class Memory:
    """Everything an agent, its people and its administrators do with memory.

    Synchronous and thread-safe; every use case is one transaction. `candidates` is how many of the nearest episodes
    enter the pipeline: the similarity gate comes first, so few goals have more.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        clock: Clock,
        new_id: NewId,
        policy: TeachingPolicy | None = None,
        retrieval: RetrievalConfig | None = None,
        candidates: int = 64,
        ledger_days: int = 30,
    ) -> None:
        core = Core(
            store=store,
            embedder=embedder,
            clock=clock,
            new_id=new_id,
            policy=policy or TeachingPolicy(),
            ledger_days=ledger_days,
        )
        self.clock = clock
        self.new_id = new_id
        self.store = store
        self.embedder = embedder
        self.recording = Recording(core)
        self.teaching = Teaching(core)
        self.recalling = Recalling(core, retrieval or RetrievalConfig(), candidates)
        self.privacy = Privacy(core)
        self.purging = Purging(core)
        self.ratings = Ratings(core)
        self.audit = Audit(core)


__all__ = [
    "CORRECTION_CHARACTERS",
    "Audit",
    "Corrected",
    "Difference",
    "Erased",
    "FinishedRun",
    "Holdings",
    "Memory",
    "NodeRecall",
    "Privacy",
    "Purge",
    "Purging",
    "Rating",
    "Ratings",
    "Recalled",
    "Recalling",
    "Recording",
    "RunView",
    "Taught",
    "Teaching",
    "Undone",
    "Unsent",
    "UsedLesson",
]

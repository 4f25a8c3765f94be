"""Everything the in-process store holds, and the access of one transaction to it."""

from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING

from memory.errors import StoreUnavailable
from memory.model import (
    Channel,
    Episode,
    Event,
    Incoming,
    LedgerEntry,
    Link,
    LinkKind,
    Outgoing,
    Reaction,
    Retrieval,
    RetrievalItem,
    SessionRun,
    ShortMemory,
    StoredGrade,
    StoredStep,
    TrustEvidence,
    Visibility,
    Vote,
)
from memory.model.topic import Revision, Topic, TopicEvent, TopicField, TopicLink
from memory.model.upkeep import Erasure, JobRun, Lease, Rule
from memory.ports import IndexEntry

if TYPE_CHECKING:
    from memory.model import Vector

EpisodeKey = tuple[str, str]
"""(workspace, episode id)"""
RunKey = tuple[str, str]
"""(workspace, run id)"""


@dataclass(slots=True)
class State:
    """One dictionary per table, keyed as the tables are. Values are frozen: copied dictionaries are a snapshot."""

    episodes: dict[EpisodeKey, Episode] = field(default_factory=dict)
    vectors: "dict[EpisodeKey, tuple[str, Vector]]" = field(default_factory=dict)
    words: dict[EpisodeKey, frozenset[str]] = field(default_factory=dict)
    index: dict[EpisodeKey, tuple[IndexEntry, ...]] = field(default_factory=dict)
    links: dict[tuple[str, str, str, LinkKind], Link] = field(default_factory=dict)
    events: dict[tuple[str, int], Event] = field(default_factory=dict)
    claimed: dict[tuple[str, str], datetime] = field(default_factory=dict)
    reactions: dict[tuple[str, str, str, str, str, str], Reaction] = field(default_factory=dict)
    votes: dict[RunKey, tuple[Vote, ...]] = field(default_factory=dict)
    evidence: dict[RunKey, tuple[TrustEvidence, ...]] = field(default_factory=dict)
    ledger: dict[tuple[str, str, str], LedgerEntry] = field(default_factory=dict)
    channels: dict[tuple[str, str], Channel] = field(default_factory=dict)
    incoming: dict[tuple[str, str], Incoming] = field(default_factory=dict)
    outgoing: dict[tuple[str, str, int], Outgoing] = field(default_factory=dict)
    retrievals: dict[tuple[str, str], Retrieval] = field(default_factory=dict)
    items: dict[tuple[str, str], tuple[RetrievalItem, ...]] = field(default_factory=dict)
    session_runs: dict[tuple[str, str, str, str, str], SessionRun] = field(default_factory=dict)
    steps: dict[EpisodeKey, StoredStep] = field(default_factory=dict)
    grades: dict[tuple[str, int], StoredGrade] = field(default_factory=dict)
    short: dict[tuple[str, str, str], ShortMemory] = field(default_factory=dict)
    topics: dict[tuple[str, str], Topic] = field(default_factory=dict)
    topic_vectors: dict[tuple[str, str], tuple[str, bytes]] = field(default_factory=dict)
    topic_fields: dict[tuple[str, str, str], TopicField] = field(default_factory=dict)
    revisions: dict[tuple[str, str, str, str, str], Revision] = field(default_factory=dict)
    topic_links: dict[tuple[str, str, str, str], TopicLink] = field(default_factory=dict)
    topic_events: dict[tuple[str, int], TopicEvent] = field(default_factory=dict)
    leases: dict[str, Lease] = field(default_factory=dict)
    job_runs: dict[str, JobRun] = field(default_factory=dict)
    rules: dict[tuple[str, str], Rule] = field(default_factory=dict)
    erasures: dict[tuple[str, str], Erasure] = field(default_factory=dict)
    counters: dict[tuple[str, str], int] = field(default_factory=dict)

    def copy(self) -> "State":
        """The same content in dictionaries of its own."""
        return State(**{table.name: dict(getattr(self, table.name)) for table in fields(self)})


class Access:
    """What one transaction may do with a state: read it, and change it if it is a writing one, until it ends."""

    def __init__(self, state: State, *, writes: bool) -> None:
        self._state = state
        self._writes = writes
        self._is_open = True

    def end(self) -> None:
        """No more access."""
        self._is_open = False

    @property
    def state(self) -> State:
        """For reading. Raises `StoreUnavailable` after the transaction's end."""
        if not self._is_open:
            raise StoreUnavailable("This transaction has ended; begin another one with store.read() or store.write().")
        return self._state

    @property
    def changing(self) -> State:
        """For writing. Raises `RuntimeError` in a reading transaction."""
        if not self._writes:
            raise RuntimeError("a reading transaction cannot write; use store.write()")
        return self.state

    def channel_visibility(self, workspace: str, channel: str) -> Visibility | None:
        """Who can read a channel now; None where nothing is known of it."""
        known = self.state.channels.get((workspace, channel))
        return known.visibility if known is not None else None

    def next_number(self, workspace: str, counter: str) -> int:
        """The next number of a workspace's counter, from 1."""
        counters = self.changing.counters
        counters[workspace, counter] = counters.get((workspace, counter), 0) + 1
        return counters[workspace, counter]

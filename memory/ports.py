"""The doors to the outside: a store, an embedder, a clock and a source of ids.

Each has an in-process double that ships (`memory.adapters`), and one contract suite that every implementation passes.
No vendor type and no vendor exception crosses a port.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memory.model import (
    Audience,
    Episode,
    EpisodeStatus,
    Event,
    EventKind,
    Incoming,
    LedgerEntry,
    Link,
    Outgoing,
    Progress,
    Reaction,
    Retrieval,
    RetrievalItem,
    Vector,
    Verdict,
    Vote,
)

Clock = Callable[[], datetime]
"""The present moment, aware, in UTC."""

NewId = Callable[[], str]
"""A fresh id that sorts after every earlier one."""


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """Identity of the model; vectors of different names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order, unit length (all zero for a text without content).

        Blocking, safe to call from several threads. Raises `EmbeddingFailed`.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeFilter:
    """Which episodes a list shows. Empty fields do not filter."""

    run_id: str = ""
    channel: str = ""
    person: str = ""
    author: str = ""
    status: EpisodeStatus | None = None
    verdict: Verdict | None = None
    text: str = ""
    """Part of the goal or the output, ignoring case."""
    roots_only: bool = False
    include_archived: bool = False
    limit: int | None = 50
    newest_first: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """One episode's place in one partition of the recall index."""

    partition: str
    """Who may find it there (`memory.audience.partitions_of`)."""
    audience: Audience
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """One hit of a vector search."""

    episode_id: str
    cosine: float
    audience: Audience
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """The hits, best first (ties: the later id first), and how many rows were searched."""

    searched: int
    hits: tuple[Neighbour, ...]


class EpisodeTable(Protocol):
    """Episodes with their vectors, links and log. Every call names the workspace."""

    def put(self, episode: Episode) -> None:
        """Insert, or replace the episode with this workspace and id."""
        ...

    def get(self, workspace: str, episode_id: str) -> Episode | None:
        """The episode, or None."""
        ...

    def get_many(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, Episode]:
        """Those that exist, by id, in one statement."""
        ...

    def find_prefix(self, prefix: str, limit: int = 2) -> list[Episode]:
        """Episodes of any workspace whose id starts or ends with `prefix`; for administrators who type ids by hand."""
        ...

    def of_run(self, workspace: str, run_id: str) -> list[Episode]:
        """The run's nodes in order of step number: the root first."""
        ...

    def search(self, workspace: str, wanted: EpisodeFilter) -> list[Episode]:
        """Filtered episodes by creation (ties by id).

        Lists are narrow: trajectories, contexts and thoughts are left empty.
        """
        ...

    def count(self, workspace: str, wanted: EpisodeFilter) -> int:
        """How many `search` would find without its limit."""
        ...

    def attempts(self, workspace: str, person: str, channel: str, goal: str) -> int:
        """How many runs this person started in this channel with this goal, ignoring case and spaces.

        Lessons that a person wrote are no attempts.
        """
        ...

    def delete(self, workspace: str, episode_ids: Iterable[str]) -> int:
        """Erase episodes with vectors, index entries, links, log and retrieval items. Returns how many existed."""
        ...

    def put_vector(self, workspace: str, episode_id: str, model: str, vector: Vector) -> None:
        """Store or replace the episode's goal embedding."""
        ...

    def vectors(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, tuple[str, Vector]]:
        """(model, vector) by episode id, for those that have one."""
        ...

    def set_index(self, workspace: str, episode_id: str, entries: Sequence[IndexEntry]) -> None:
        """Make the episode findable in exactly these partitions (none = nowhere). Needs a stored vector."""
        ...

    def index_of(self, workspace: str, episode_id: str) -> list[IndexEntry]:
        """Where the episode is findable, by partition name."""
        ...

    def add_link(self, link: Link) -> None:
        """Add an edge; the same (from, to, kind) twice is one."""
        ...

    def remove_link(self, link: Link) -> None:
        """Remove an edge if it is there."""
        ...

    def links(self, workspace: str, episode_ids: Iterable[str]) -> list[Link]:
        """Every edge that touches one of these episodes."""
        ...


class EventLog(Protocol):
    """The append-only log and the register of platform events already handled."""

    def claim(self, workspace: str, source_event_id: str, at: datetime) -> bool:
        """Mark a platform event as handled in this transaction. False if it already was: do nothing then."""
        ...

    def append(self, event: Event) -> bool:
        """Append; returns False, and appends nothing, if an event of this source id, episode and kind exists."""
        ...

    def of_episode(self, workspace: str, episode_id: str) -> list[Event]:
        """The episode's events in order."""
        ...

    def of_run(self, workspace: str, run_id: str) -> list[Event]:
        """The events of all of the run's episodes in order."""
        ...

    def erase_actor(self, workspace: str, actor: str) -> list[str]:
        """Erase everything one person did from the log. Returns the episodes it was about, for refolding."""
        ...

    def by_actor(self, workspace: str, actor: str, kinds: Sequence[EventKind], limit: int = 100) -> list[Event]:
        """What one person did, newest first."""
        ...


class TeachingTable(Protocol):
    """Reactions (registers), votes (their fold), and the ledger of sent messages."""

    def put_reaction(self, reaction: Reaction) -> None:
        """Write a register; the caller has decided that this value is the latest one. Assigns `seq`."""
        ...

    def reaction(self, key: tuple[str, str, str, str, str, str]) -> Reaction | None:
        """The register's value, or None."""
        ...

    def reactions_of_run(self, workspace: str, run_id: str) -> list[Reaction]:
        """Every register, active or not, that points at this run, in arrival order."""
        ...

    def reactions_by(self, workspace: str, actor: str) -> list[Reaction]:
        """Every register of one person, newest first."""
        ...

    def unclaimed_reactions(self, workspace: str, channel: str, message_id: str) -> list[Reaction]:
        """Registers on a message that had no ledger row when they arrived."""
        ...

    def delete_reactions(self, workspace: str, actor: str) -> int:
        """Erase one person's registers."""
        ...

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        """Erase the ledger rows, registers and votes of these runs."""
        ...

    def set_votes(self, workspace: str, run_id: str, votes: Sequence[Vote]) -> None:
        """Replace the run's votes."""
        ...

    def votes(self, workspace: str, run_id: str) -> list[Vote]:
        """The run's votes by node, then actor."""
        ...

    def put_ledger(self, entry: LedgerEntry) -> None:
        """Insert; a second entry for the same message replaces it."""
        ...

    def ledger(self, workspace: str, channel: str, message_id: str, now: datetime) -> LedgerEntry | None:
        """The entry, unless there is none or it has expired."""
        ...

    def ledger_of_run(self, workspace: str, run_id: str) -> list[LedgerEntry]:
        """Every sent part of the answer, expired or not, by part."""
        ...

    def recent_ledger(self, workspace: str, channel: str, limit: int) -> list[LedgerEntry]:
        """The last answers' parts sent to a channel, newest first."""
        ...

    def sweep_ledger(self, now: datetime) -> int:
        """Delete expired entries of every workspace; returns how many."""
        ...


class DeliveryTable(Protocol):
    """Messages on their way: in from people, out to them."""

    def accept(self, message: Incoming) -> bool:
        """Store an incoming message. False if its event id or its message id is known: it is already being handled."""
        ...

    def incoming(self, workspace: str, event_id: str) -> Incoming | None:
        """The accepted message, or None."""
        ...

    def incoming_of_run(self, workspace: str, run_id: str) -> Incoming | None:
        """The message a run answers, or None."""
        ...

    def set_progress(self, workspace: str, event_id: str, progress: Progress, run_id: str = "") -> None:
        """Move an accepted message on; an empty `run_id` keeps the stored one."""
        ...

    def unfinished(self, workspace: str | None = None) -> list[Incoming]:
        """Messages accepted or answered but not delivered, oldest first: what a restart must finish."""
        ...

    def said_by(self, workspace: str, channel: str, person: str, limit: int) -> list[Incoming]:
        """What one person said in one channel, newest first; every channel if `channel` is empty."""
        ...

    def put_outgoing(self, part: Outgoing) -> None:
        """Insert or replace one part of an answer."""
        ...

    def outgoing(self, workspace: str, run_id: str) -> list[Outgoing]:
        """The answer's parts in order."""
        ...

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        """Erase the outgoing parts of these runs; the messages they answered stay."""
        ...

    def delete_by(self, workspace: str, person: str) -> int:
        """Erase what one person said and the answers to it. Returns how many messages."""
        ...


class RetrievalTable(Protocol):
    """What was injected where, and how it fared."""

    def put(self, retrieval: Retrieval, items: Sequence[RetrievalItem]) -> None:
        """Record a recall with its items."""
        ...

    def of_run(self, workspace: str, run_id: str) -> list[tuple[Retrieval, list[RetrievalItem]]]:
        """The run's recalls in order, items by rank."""
        ...

    def set_signal(self, item: RetrievalItem) -> None:
        """Store the item's signal and ratio."""
        ...

    def of_episode(self, workspace: str, episode_id: str, limit: int = 50) -> list[tuple[Retrieval, RetrievalItem]]:
        """Where an episode was injected, newest first."""
        ...

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        """Erase the recalls of these runs."""
        ...


class Transaction(Protocol):
    """Everything inside commits together or not at all."""

    @property
    def episodes(self) -> EpisodeTable:
        """Episodes, vectors, links."""
        ...

    @property
    def log(self) -> EventLog:
        """Events."""
        ...

    @property
    def teaching(self) -> TeachingTable:
        """Reactions, votes, ledger."""
        ...

    @property
    def deliveries(self) -> DeliveryTable:
        """Messages in and out."""
        ...

    @property
    def retrievals(self) -> RetrievalTable:
        """Recalls."""
        ...


class Store(Protocol):
    """Persistence. Safe to share between threads; several processes may use one database."""

    def write(self) -> AbstractContextManager[Transaction]:
        """One atomic, durable, serialised transaction. An exception inside rolls everything back and passes on.

        Raises `StoreUnavailable` (or one of its kinds) when the database cannot be written.
        """
        ...

    def read(self) -> AbstractContextManager[Transaction]:
        """One consistent snapshot. Writing through it is a bug and fails."""
        ...

    def nearest(
        self, workspace: str, partitions: Sequence[str], model: str, vector: Vector, k: int, min_cosine: float
    ) -> Neighbourhood:
        """The k entries of these partitions closest to `vector` with a cosine of at least `min_cosine`.

        An episode found in several partitions counts once, as its entry in the partition named first.
        Only vectors of `model` take part. Sees every transaction committed before the call, by any process.
        """
        ...

    def workspaces(self) -> list[str]:
        """Every workspace that has an episode or a message, in alphabetical order."""
        ...

    def erase_free_space(self) -> None:
        """Overwrite what deletions left behind, so that no byte of it remains in the database's files."""
        ...

    def close(self) -> None:
        """Release everything. Closing twice is fine."""
        ...

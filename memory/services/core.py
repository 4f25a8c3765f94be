"""The dependencies that all use cases share (`Core`), and the steps by which they write episodes and events."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from memory.errors import EmbeddingFailed, InvalidInput, NotFound
from memory.model import ApprovalPolicy, Episode, Event, EventKind, ShortMemory, TeachingPolicy, Vector, Verdicts
from memory.model.spending import Cap
from memory.ports import Clock, Embedder, IndexEntry, NewId, Store, Transaction
from memory.rules.audience import index_entries_of
from memory.rules.chat_settings import NAMES
from memory.rules.control_arm import Chance, hash_fraction
from memory.rules.evidence.posterior import EvidenceConfig
from memory.rules.fold import apply, with_verdicts
from memory.rules.redaction import Redactor
from memory.rules.use_detection import OverlapDetector
from memory.services.embedders import OtherEmbedders

MESSAGE_CHARACTERS = 100_000
"""The longest message accepted by default: one attached text in full, and a comment on it."""


ALL = 1_000_000
"""A limit that means "all": more rows than anybody has."""

ANSWER_BY = "answer_by"
"""In the detail of the event that made a lesson: whose words its answer was taken from, one id or several."""

_REWRITING = (EventKind.QUARANTINED, EventKind.RELEASED, EventKind.RESTATED)
"""Events that change what `EpisodeTable.update` does not store: an episode's question or its quarantine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """The ports and rules, shared by all use cases of one process."""

    store: Store
    embedder: Embedder
    other_embedders: OtherEmbedders
    """The embedders that were used before, as long as embeddings by them are stored."""
    clock: Clock
    new_id: NewId
    policy: TeachingPolicy = field(default_factory=TeachingPolicy)
    detector: OverlapDetector = field(default_factory=OverlapDetector)
    ledger_days: int = 30
    redactor: Redactor = field(default_factory=Redactor)
    settable: frozenset[str] = NAMES
    """Names of the settings that may be changed in chat; stored values of other settings have no effect."""
    message_characters: int = MESSAGE_CHARACTERS
    """The longest message accepted."""
    control_arm: float = 0.0
    """The share of runs that get no lessons, unless another is set in chat."""
    chance: Chance = hash_fraction
    """Draws the runs of the control arm."""
    caps: tuple[Cap, ...] = ()
    """Spending limits per day."""
    approvals: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    evidence: EvidenceConfig = field(default_factory=EvidenceConfig)

    def require_short(self, text: str) -> None:
        """Raise `InvalidInput` for a message that is too long."""
        if len(text) > self.message_characters:
            raise InvalidInput(
                f"this message has {len(text):,} characters, attached texts included; {self.message_characters:,} are "
                "taken, so nothing was done with it. Please shorten it."
            )

    def embedded(self, text: str) -> Vector | None:
        """The text's embedding; None if the embedder fails, so that the use case can go on without it."""
        try:
            return self.embedder.embed([text])[0]
        except EmbeddingFailed:
            return None


def record(tx: Transaction, episode: Episode, event: Event) -> Episode:
    """Append an event and store the episode with the event applied. A repeated source event changes nothing."""
    if not tx.log.append(event):
        return episode
    after = apply(episode, event)
    if after != episode:
        store = tx.episodes.put if event.kind in _REWRITING else tx.episodes.update
        store(after)
    return after


def event(
    episode: Episode,
    kind: EventKind,
    actor: str,
    at: datetime,
    *,
    source: str = "",
    detail: Mapping[str, object] | None = None,
) -> Event:
    """An event about an episode."""
    return Event(
        workspace=episode.workspace,
        episode_id=episode.id,
        kind=kind,
        actor=actor,
        at=at,
        source_event_id=source,
        detail=detail or {},
    )


def event_of_workspace(
    workspace: str, kind: EventKind, actor: str, at: datetime, detail: Mapping[str, object]
) -> Event:
    """An event that is about no episode."""
    return Event(workspace=workspace, episode_id="", kind=kind, actor=actor, at=at, detail=detail)


def put_short_memory(
    tx: Transaction,
    kind: str,
    key: str,
    value: Mapping[str, object],
    *,
    of: tuple[str, str],
    at: datetime,
    until: datetime,
) -> None:
    """Store a short memory `of` (workspace, person), with whom it is forgotten; it replaces the value before."""
    workspace, person = of
    tx.short.put(
        ShortMemory(
            workspace=workspace,
            kind=kind,
            key=key,
            value=value,
            person=person,
            created_at=at,
            expires_at=until,
        )
    )


def record_and_index(
    tx: Transaction,
    episode: Episode,
    kind: EventKind,
    actor: str,
    at: datetime,
    detail: Mapping[str, object] | None = None,
) -> Episode:
    """Record an event that changes who may find an episode, and update the index."""
    after = record(tx, episode, event(episode, kind, actor, at, detail=detail))
    update_index(tx, after)
    return after


def require_episode(tx: Transaction, workspace: str, episode_id: str) -> Episode:
    """The episode. Raises `NotFound`."""
    episode = tx.episodes.get(workspace, episode_id)
    if episode is None:
        raise NotFound(f"no episode {episode_id} in {workspace}; `goodbot episodes list` shows those that exist")
    return episode


def update_index(tx: Transaction, episode: Episode) -> None:
    """Update the index so that the episode is found where its verdicts allow, and nowhere else.

    An episode whose goal could not be embedded has no vector and is not indexed until it gets one.
    """
    with suppress(NotFound):
        tx.episodes.set_index(episode.workspace, episode.id, index_entries_of(episode))


class Cause(NamedTuple):
    """The cause of a change of verdicts."""

    by: str
    at: datetime
    reason: str = ""
    """The reason, in the words of the person who acts."""


@dataclass(slots=True, kw_only=True)
class Changes:
    """A unit of work: collects events and changed episodes, and writes them together."""

    events: list[Event] = field(default_factory=list[Event])
    _before: dict[str, Episode] = field(default_factory=dict[str, Episode])
    _after: dict[str, Episode] = field(default_factory=dict[str, Episode])
    _vectors: dict[str, Vector | None] = field(default_factory=dict[str, Vector | None])
    """The vectors of the new episodes."""

    def add(self, episode: Episode, vector: Vector | None) -> None:
        """Add a new episode, with the embedding of its goal if it has one. Later changes apply to it too."""
        self._after[episode.id] = episode
        self._vectors[episode.id] = vector

    def now(self, episode: Episode) -> Episode:
        """The episode with the changes so far applied."""
        return self._after.get(episode.id, episode)

    def make(self, episode: Episode, change: Event | None, verdicts: Verdicts | None = None) -> Episode:
        """Apply an event, if given, and set the verdicts, if given. Returns the changed episode."""
        if change is None:
            return episode
        self.events.append(change)
        self._before.setdefault(episode.id, episode)
        after = self._after[episode.id] = apply(episode, change, verdicts)
        return after

    def keep(self, episode: Episode, verdicts: Verdicts) -> Episode:
        """Set the episode's verdicts. Returns the changed episode."""
        self._before.setdefault(episode.id, episode)
        after = self._after[episode.id] = with_verdicts(episode, verdicts)
        return after

    def write(self, tx: Transaction, model: str = "") -> int:
        """Append the events, store the episodes, and update the index where their place changed.

        `model` is the embedder's name for new episodes. Returns how many of the log's newest events were written here.
        """
        logged = len(tx.log.append(*self.events))
        if self._vectors:
            self._write_new(tx, model)
        changed = [after for episode_id, after in self._after.items() if episode_id not in self._vectors]
        tx.episodes.update(*changed)
        put: list[tuple[str, IndexEntry]] = []
        remove: list[tuple[str, IndexEntry]] = []
        for after in changed:
            was = {entry.partition: entry for entry in index_entries_of(self._before[after.id])}
            now = {entry.partition: entry for entry in index_entries_of(after)}
            put += [(after.id, entry) for name, entry in now.items() if was.get(name) != entry]
            remove += [(after.id, entry) for name, entry in was.items() if name not in now]
        if put or remove:
            tx.episodes.change_index(changed[0].workspace, put=put, remove=remove)
        return logged

    def _write_new(self, tx: Transaction, model: str) -> None:
        """Store the new episodes with their embeddings, and index them."""
        tx.episodes.add(*(self._after[episode_id] for episode_id in self._vectors))
        embedded = {episode_id: vector for episode_id, vector in self._vectors.items() if vector is not None}
        if not embedded:
            return
        tx.episodes.add_vectors(self._after[next(iter(embedded))].workspace, model, embedded)
        findable = [(self._after[episode_id], vector) for episode_id, vector in embedded.items()]
        indexed = [(each, vector, entry) for each, vector in findable for entry in index_entries_of(each)]
        tx.episodes.index_new(model, indexed)


def note_words_of(tx: Transaction, episode: Episode, people: Iterable[str]) -> None:
    """Store that an episode contains words of these people besides its author, so that forgetting them covers it."""
    tx.episodes.note_words(episode.workspace, {episode.id: sorted({*people} - {"", episode.author})})


def people_in(tx: Transaction, episode: Episode) -> set[str]:
    """All people whose words are in an episode, as far as that is stored: its author, and those noted."""
    return {episode.author, *tx.episodes.words_of_others(episode.workspace, [episode.id]).get(episode.id, ())}


def answer_authors(tx: Transaction, lesson: Episode) -> set[str]:
    """Whose words the answer of a lesson of somebody else was taken from; empty if they are its author's own."""
    created = (each for each in tx.log.of_episode(lesson.workspace, lesson.id) if each.kind is EventKind.CREATED)
    found = next((each.detail.get(ANSWER_BY, ()) for each in created), ())
    return set(map(str, found)) if isinstance(found, list | tuple) else {str(found)} - {""}

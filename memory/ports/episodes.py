"""Episodes in a store: facts, vectors, the recall index, links; and what a list or a search asks for."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from memory.model import (
    Audience,
    Episode,
    EpisodeStatus,
    Link,
    LinkKind,
    Option,
    Origin,
    Role,
    Scope,
    Standing,
    Termination,
    Vector,
    Verdict,
    Visibility,
)
from memory.model.chat_setting import ChatSetting
from memory.model.evidence import Threshold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeFilter:
    """Which episodes a list shows. Empty fields do not filter."""

    channel: str = ""
    person: str = ""
    author: str = ""
    action: str = ""
    status: EpisodeStatus | None = None
    verdict: Verdict | None = None
    termination: Termination | None = None
    decided_in: Audience | None = None
    """People have decided what it is worth for this audience."""
    since: datetime | None = None
    until: datetime | None = None
    """Made from the first of these times on, and before the second."""
    text: str = ""
    """Part of the goal or the output, ignoring case."""
    roots_only: bool = False
    include_archived: bool = False
    quarantined_only: bool = False
    visibilities: tuple[Visibility, ...] = ()
    """Only what was visible as one of these when it was said."""
    public_only: bool = False
    """Only what everybody of the workspace could read then, and can now as far as is known."""
    judged_only: bool = False
    """Only what people said something about that decides: right, wrong or disputed."""
    to_decide: bool = False
    """Only what waits for somebody to decide: a dispute, a lesson that is held back, a correction nobody has judged."""
    batches: tuple[str, ...] = ()
    """Only the lessons of these batches."""
    unbatched: bool = False
    """Only what was learned from no file."""
    written_only: bool = False
    """Only lessons that people wrote: corrections, and what was taught without a question."""
    counting_for: Scope | None = None
    """Leaves out most of what cannot be filed where this person searches; `partitions_of` has the exact rule."""
    to_review_in: Scope | None = None
    """Leaves out most of what a teacher there could neither release nor widen."""
    newest: int | None = None
    """Only among so many of the workspace's newest episodes, so that a search for what is rare has an end."""
    limit: int | None = 50
    newest_first: bool = True
    after: str = ""
    """Id of the episode that the list goes on behind, in its order; empty: from the beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """One episode's place in one partition of the recall index."""

    partition: str
    """Who may find it there (`memory.rules.audience.index_entries_of`)."""
    audience: Audience
    verdict: Verdict


class Neighbour(NamedTuple):
    """One hit of a vector search. Two are compared without their vectors."""

    episode_id: str
    cosine: float
    audience: Audience
    verdict: Verdict
    vector: Vector | None = None
    """The one it was found by; None where it was found by its words."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Neighbour) and self[:4] == other[:4]

    def __hash__(self) -> int:
        return hash(self[:4])


class Ballot(NamedTuple):
    """One person's vote on a lesson, or on the answer it is a part of."""

    actor: str
    role: Role
    value: int
    is_limited: bool
    source: str = ""
    """How it came (`Reaction.source`)."""
    standing: Standing = Standing.DECIDES
    right: int = 0
    wrong: int = 0
    """How often the voter was proven right and wrong in the workspace."""
    at: datetime = datetime.min.replace(tzinfo=UTC)
    """When they said so."""


@dataclass(slots=True)
class LessonSummary:
    """What a lesson was for, what it did and who judged it, without its steps and context.

    Nobody changes it, but for what is kept in `judged`: to make a frozen one takes five times as long, and a recall may
    make 48.
    """

    id: str
    run_id: str
    goal: str
    origin: Origin
    author: str
    action: str
    output: str
    decided_at: datetime
    """When it was judged last; of one that never was, when it was made."""
    votes: tuple[Ballot, ...] = ()
    """Those that speak about it, one of each person."""
    offered: tuple[Option, ...] = ()
    """What it offered, where it is a question to the person."""
    corrected_by: tuple[str, ...] = ()
    """The episodes that correct it, if it bears a correction."""
    judged: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    """What was made of it to weigh it, each with what else that depends on: as good as itself, and kept as long."""


class WeighingInput(NamedTuple):
    """What lessons are weighed by, and what else a recall goes by."""

    lessons: Mapping[str, LessonSummary]
    """Those that exist and are not archived, by id."""
    threshold: Threshold | None
    """The workspace's; None where nobody judged anything yet."""
    settings: tuple[ChatSetting, ...]
    """What is set in chat for the workspace and the channel."""
    has_rules: bool
    """Whether the workspace has any rule."""


class ActionFit(NamedTuple):
    """How like a goal the lessons are that approve one action, all of those searched together."""

    lessons: float
    """How many there are, one for each partition that has it; more than ten of one author count as ten."""
    cosine: float
    """The mean of theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """The hits, best first (ties: the later id first), and how many rows were searched.

    They lie side by side: nearly all are weighed together, and few looked at one by one.
    """

    searched: int
    ids: Sequence[str] = ()
    cosines: Sequence[float] = ()
    audiences: Sequence[Audience] = ()
    verdicts: Sequence[Verdict] = ()
    vectors: "Sequence[Vector] | NDArray[np.float32]" = ()
    """One for each, as the rows of a matrix or by themselves; none where they were found by their words."""
    fits: Mapping[str, ActionFit] = field(default_factory=dict[str, ActionFit])
    """By action; of those that were asked about and that a lesson approves."""

    @classmethod
    def of(
        cls, searched: int, hits: Sequence[Neighbour], fits: Mapping[str, ActionFit] = MappingProxyType({})
    ) -> "Neighbourhood":
        """That of hits all of which were found by vectors, or all by words."""
        ids, cosines, audiences, verdicts, found_by = zip(*hits, strict=True) if hits else ((),) * 5
        vectors = [each for each in found_by if each is not None]
        return cls(
            searched=searched,
            ids=ids,
            cosines=cosines,
            audiences=audiences,
            verdicts=verdicts,
            vectors=vectors,
            fits=fits,
        )

    @property
    def hits(self) -> tuple[Neighbour, ...]:
        """One by one."""
        vectors = self.vectors if len(self.vectors) else repeat(None)
        return tuple(map(Neighbour, self.ids, self.cosines, self.audiences, self.verdicts, vectors))

    def hit(self, place: int) -> Neighbour:
        """The one at this place."""
        vector = self.vectors[place] if len(self.vectors) else None
        return Neighbour(self.ids[place], self.cosines[place], self.audiences[place], self.verdicts[place], vector)


class EpisodeTable(Protocol):
    """Episodes with their vectors, links and log. Every call names the workspace."""

    def put(self, *new: Episode) -> None:
        """Insert each, or replace the episode with its workspace and id."""
        ...

    def update(self, *changed: Episode) -> None:
        """Store what people and use make of episodes that exist: verdicts, strength, counts, corrections, archiving.

        Everything else of them (what was asked, done and answered; quarantine) stays as it is stored.
        """
        ...

    def add(self, *nodes: Episode) -> None:
        """The same for the nodes of a run that is over, none of them stored yet.

        The `rep` of a root becomes one more than the highest of the runs that this person started in this channel with
        this goal, ignoring case and spaces. Lessons that a person wrote are no attempts.
        """
        ...

    def get(self, workspace: str, episode_id: str) -> Episode | None:
        """The episode, or None."""
        ...

    def get_many(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, Episode]:
        """Those that exist, by id, in one statement."""
        ...

    def weighing_input(self, workspace: str, channel: str, episode_ids: Iterable[str]) -> WeighingInput:
        """The summaries of these lessons, and what holds in the channel, in one statement."""
        ...

    def find_prefix(self, prefix: str, limit: int = 2) -> list[Episode]:
        """Episodes of any workspace whose id starts or ends with `prefix`; for administrators who type ids by hand."""
        ...

    def of_run(self, workspace: str, run_id: str) -> list[Episode]:
        """The run's nodes in order of step number: the root first."""
        ...

    def of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, list[Episode]]:
        """The same of each of these runs that exists, in one statement."""
        ...

    def search(self, workspace: str, wanted: EpisodeFilter) -> list[Episode]:
        """Filtered episodes by creation (ties by id).

        Lists are narrow: trajectories, contexts and thoughts are left empty.
        """
        ...

    def outlines(self, workspace: str, wanted: EpisodeFilter) -> list[Episode]:
        """The same without any text: for whoever picks from a long list and then reads what is picked."""
        ...

    def delete(self, workspace: str, episode_ids: Iterable[str]) -> int:
        """Erase episodes with vectors, index entries, links, log and retrieval items. Returns how many existed."""
        ...

    def put_vector(self, workspace: str, episode_id: str, model: str, vector: Vector) -> None:
        """Store or replace the episode's goal embedding."""
        ...

    def add_vectors(self, workspace: str, model: str, vectors: Mapping[str, Vector]) -> None:
        """Store the goal embeddings of episodes that have none, by id. Raises `NotFound` without an episode."""
        ...

    def vectors(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, tuple[str, Vector]]:
        """(model, vector) by episode id, for those that have one."""
        ...

    def without_vector(self, workspace: str, model: str, *, after: str, limit: int) -> list[tuple[str, str]]:
        """(id, goal) of episodes with a goal but without a vector of `model`, by id, those after this one."""
        ...

    def count_without_vector(self, workspace: str, model: str) -> int:
        """How many of them there are."""
        ...

    def models(self, workspace: str) -> list[str]:
        """Those that made embeddings of the workspace's episodes, by name. Costs the same however many episodes."""
        ...

    def delete_vector(self, workspace: str, episode_id: str) -> None:
        """Erase the episode's goal embedding, if there is one: it is findable nowhere then."""
        ...

    def note_words(self, workspace: str, words: Mapping[str, Collection[str]]) -> None:
        """Note that episodes hold words of these people, who are not their authors, by episode. Twice is once.

        Raises `NotFound` without one of the episodes.
        """
        ...

    def clear_words(self, workspace: str, episode_id: str) -> None:
        """Nothing of others is left in the episode."""
        ...

    def words_of_others(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, list[str]]:
        """Whose words these episodes hold, in alphabetical order, by id, for those where it was noted."""
        ...

    def with_words_of(self, workspace: str, person: str) -> list[str]:
        """The episodes noted to hold this person's words, by id."""
        ...

    def set_index(self, workspace: str, episode_id: str, entries: Sequence[IndexEntry]) -> None:
        """Make the episode findable in exactly these partitions (none = nowhere). Needs a stored vector."""
        ...

    def change_index(
        self, workspace: str, *, put: Sequence[tuple[str, IndexEntry]], remove: Sequence[tuple[str, IndexEntry]]
    ) -> None:
        """File episodes under some entries, and no longer under others: by episode id, all in one statement.

        An episode without a vector is left as it is.
        """
        ...

    def file_new(self, model: str, new: Sequence[tuple[Episode, Vector, IndexEntry]]) -> None:
        """File episodes of one workspace that were added just now, with these embeddings by `model`, under entries.

        What `change_index` does, without reading anything of them.
        """
        ...

    def nearest(
        self,
        workspace: str,
        partitions: Sequence[str],
        model: str,
        vector: Vector,
        k: int,
        min_cosine: float,
        *,
        beside: Sequence[str] = (),
        actions: Sequence[str] = (),
        gave_up: bool = True,
    ) -> Neighbourhood:
        """The k entries of these partitions closest to `vector` with a cosine of at least `min_cosine`.

        An episode found in several partitions counts once, as its entry in the partition named first.
        Only vectors of `model` take part. `beside` names more partitions, behind the others, whose entries are found
        and are not counted among those searched. With `actions`, it is told of each how like `vector` the entries are
        that approve it, however far away, but for those beside. Without `gave_up`, entries of runs that found no answer
        (`GAVE_UP`) are not found. Quickest as the first thing a transaction reads.
        """
        ...

    def first_indexed(self, workspace: str, partitions: Sequence[str], limit: int) -> list[str]:
        """The ids of what is findable in any of these partitions, the oldest first."""
        ...

    def index_of(self, workspace: str, episode_id: str) -> list[IndexEntry]:
        """Where the episode is findable, by partition name."""
        ...

    def add_link(self, *new: Link) -> None:
        """Add edges; the same (from, to, kind) twice is one."""
        ...

    def remove_link(self, link: Link) -> None:
        """Remove an edge if it is there."""
        ...

    def links(self, workspace: str, episode_ids: Iterable[str], kind: LinkKind | None = None) -> list[Link]:
        """Every edge, or every one of this kind, that touches one of these episodes."""
        ...

"""The port of episodes: facts, vectors, the recall index, links; and the types of lists and searches."""

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
    """Which episodes a list shows. Empty fields do not filter.

    A search raises `InvalidInput` for a `limit` or `newest` that is no number of episodes.
    """

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
    archived_only: bool = False
    """Only what is archived; `include_archived` is not needed then."""
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
    """Leaves out most of what cannot be indexed where this person searches; `partitions_of` has the exact rule."""
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
    """The entry of an episode in one partition of the recall index."""

    partition: str
    """Who may find it there (`memory.rules.audience.index_entries_of`)."""
    audience: Audience
    verdict: Verdict


class Neighbour(NamedTuple):
    """A hit of a search. Vectors are not compared in equality."""

    episode_id: str
    cosine: float
    audience: Audience
    verdict: Verdict
    vector: Vector | None = None
    """The vector it was found by; None if it was found by words."""

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
    """The source of the reaction (`Reaction.source`)."""
    standing: Standing = Standing.DECIDES
    right: int = 0
    wrong: int = 0
    """How often the voter was proven right and wrong in the workspace."""
    at: datetime = datetime.min.replace(tzinfo=UTC)
    """The time of the vote."""


@dataclass(slots=True)
class LessonSummary:
    """A lesson with its goal, result and votes, without steps and context.

    It must not be changed, except for `judged`. It is not frozen, as that makes creating it five times slower, and a
    recall may create 48.
    """

    id: str
    run_id: str
    goal: str
    origin: Origin
    author: str
    action: str
    output: str
    decided_at: datetime
    """When it was last judged, or created if it never was."""
    votes: tuple[Ballot, ...] = ()
    """The votes about it, one of each person."""
    offered: tuple[Option, ...] = ()
    """The options, if it is a question to the person."""
    corrected_by: tuple[str, ...] = ()
    """The ids of the episodes that correct it, if it has a correction."""
    judged: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    """A cache of judged forms for the evidence rule, with their keys; valid as long as this summary."""


class WeighingInput(NamedTuple):
    """The data that a recall needs to weigh lessons."""

    lessons: Mapping[str, LessonSummary]
    """The lessons that exist and are not archived, by id."""
    threshold: Threshold | None
    """The workspace's threshold; None without judgements."""
    settings: tuple[ChatSetting, ...]
    """The chat settings of the workspace and the channel."""
    has_rules: bool
    """Whether the workspace has any rule."""


class ActionFit(NamedTuple):
    """How well the searched lessons that approve an action fit a goal."""

    lessons: float
    """Their number, counted in each partition; more than ten of one author count as ten."""
    cosine: float
    """The mean cosine of their goals with the goal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """The hits of a search, best first (ties: the later id first), and how many rows were searched.

    Hits are stored as columns, because most are only weighed together.
    """

    searched: int
    ids: Sequence[str] = ()
    cosines: Sequence[float] = ()
    audiences: Sequence[Audience] = ()
    verdicts: Sequence[Verdict] = ()
    vectors: "Sequence[Vector] | NDArray[np.float32]" = ()
    """One vector for each hit, as a matrix or a sequence; empty if hits were found by words."""
    fits: Mapping[str, ActionFit] = field(default_factory=dict[str, ActionFit])
    """The fits of the requested actions that any lesson approves."""

    @classmethod
    def of(
        cls, searched: int, hits: Sequence[Neighbour], fits: Mapping[str, ActionFit] = MappingProxyType({})
    ) -> "Neighbourhood":
        """The neighbourhood of these hits, which were either all found by vectors or all by words."""
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
        """The hits as a tuple."""
        vectors = self.vectors if len(self.vectors) else repeat(None)
        return tuple(map(Neighbour, self.ids, self.cosines, self.audiences, self.verdicts, vectors))

    def hit(self, place: int) -> Neighbour:
        """The hit at this place."""
        vector = self.vectors[place] if len(self.vectors) else None
        return Neighbour(self.ids[place], self.cosines[place], self.audiences[place], self.verdicts[place], vector)


class EpisodeTable(Protocol):
    """Episodes with their vectors, links and log. Every call names the workspace."""

    def put(self, *new: Episode) -> None:
        """Insert each, or replace the episode with its workspace and id."""

    def update(self, *changed: Episode) -> None:
        """Store verdicts, strength, counts, corrections and archiving of existing episodes.

        All other fields (goal, steps, answer, quarantine) stay as stored.
        """

    def add(self, *nodes: Episode) -> None:
        """Insert new episodes. Raises `Conflict` for an id that is stored already.

        The `rep` of a root becomes one more than the highest `rep` of this person's runs in this channel with the same
        goal, ignoring case and spaces. Lessons that a person wrote do not count.
        """

    def get(self, workspace: str, episode_id: str) -> Episode | None:
        """The episode, or None."""

    def get_many(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, Episode]:
        """The episodes that exist, by id, in one statement."""

    def weighing_input(self, workspace: str, channel: str, episode_ids: Iterable[str]) -> WeighingInput:
        """The summaries of these lessons, the threshold, and the channel's settings, in one statement."""

    def find_prefix(self, prefix: str, limit: int = 2) -> list[Episode]:
        """Episodes of any workspace whose id starts or ends with `prefix`; for administrators who type ids by hand."""

    def of_run(self, workspace: str, run_id: str) -> list[Episode]:
        """The run's nodes in order of step number: the root first."""

    def of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, list[Episode]]:
        """The nodes of each of these runs that exists, by run, in one statement."""

    def search(self, workspace: str, wanted: EpisodeFilter) -> list[Episode]:
        """The matching episodes by creation (ties by id), without trajectories, contexts and thoughts."""

    def outlines(self, workspace: str, wanted: EpisodeFilter) -> list[Episode]:
        """The matching episodes as `search` orders them, without any texts, for choosing what to read."""

    def delete(self, workspace: str, episode_ids: Iterable[str]) -> int:
        """Erase episodes with vectors, index entries, links, log and retrieval items. Returns how many existed."""

    def put_vector(self, workspace: str, episode_id: str, model: str, vector: Vector) -> None:
        """Store or replace the episode's goal embedding."""

    def add_vectors(self, workspace: str, model: str, vectors: Mapping[str, Vector]) -> None:
        """Store the goal embeddings of episodes that have none, by id. Raises `NotFound` without an episode."""

    def vectors(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, tuple[str, Vector]]:
        """(model, vector) by episode id, for those that have one."""

    def without_vector(self, workspace: str, model: str, *, after: str, limit: int) -> list[tuple[str, str]]:
        """(id, goal) of episodes with a goal but without a vector of `model`, by id, those after this one."""

    def count_without_vector(self, workspace: str, model: str) -> int:
        """The number of episodes with a goal but without a vector of `model`."""

    def models(self, workspace: str) -> list[str]:
        """The models with embeddings in the workspace, by name. The cost does not depend on the number of episodes."""

    def delete_vector(self, workspace: str, episode_id: str) -> None:
        """Erase the episode's goal embedding, if there is one, so that no search finds it."""

    def note_words(self, workspace: str, words: Mapping[str, Collection[str]]) -> None:
        """Note that episodes have words of these people, who are not their authors. Idempotent.

        `words` has the people by episode id. Raises `NotFound` if an episode does not exist.
        """

    def rename_place(self, workspace: str, channel: str, place: str) -> None:
        """Give the place where the channel's episodes came to be its new name, where they have one."""
        ...

    def clear_words(self, workspace: str, episode_id: str) -> None:
        """Delete the notes of whose words are in the episode."""

    def words_of_others(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, list[str]]:
        """The people whose words were noted in these episodes, in alphabetical order, by episode id."""

    def with_words_of(self, workspace: str, person: str) -> list[str]:
        """The ids of episodes noted to have this person's words, sorted."""

    def set_index(self, workspace: str, episode_id: str, entries: Sequence[IndexEntry]) -> None:
        """Make the episode findable in exactly these partitions (none = nowhere). Needs a stored vector."""

    def set_indexes(self, workspace: str, entries: Mapping[str, Sequence[IndexEntry]]) -> None:
        """Do `set_index` for many episodes, by id, whose vectors did not change. Those without one stay out."""

    def change_index(
        self, workspace: str, *, put: Sequence[tuple[str, IndexEntry]], remove: Sequence[tuple[str, IndexEntry]]
    ) -> None:
        """Add and remove index entries, given as (episode id, entry), in one statement.

        Episodes without a vector are not changed.
        """

    def index_new(self, model: str, new: Sequence[tuple[Episode, Vector, IndexEntry]]) -> None:
        """Add index entries of episodes that were just added, all of one workspace, with embeddings by `model`.

        Does the same as `change_index`, without reading the episodes.
        """

    def nearest(
        self,
        workspace: str,
        partitions: Sequence[str],
        model: str,
        vector: Vector,
        k: int,
        min_cosine: float,
        *,
        proposals: Sequence[str] = (),
        actions: Sequence[str] = (),
        include_gave_up: bool = True,
    ) -> Neighbourhood:
        """The k entries of these partitions nearest to `vector`, with a cosine of at least `min_cosine`.

        Only vectors of `model` are searched. An episode in several partitions counts once, as its entry in the first of
        them. `proposals` are further partitions, after the others, which do not count for `searched` and `fits`. With
        `actions`, the result has the fit of each, from all entries that approve it, at any distance. Without
        `include_gave_up`, entries of runs that found no answer (`GAVE_UP`) are left out. Fastest as the first read of
        a transaction.
        """

    def first_indexed(self, workspace: str, partitions: Sequence[str], limit: int) -> list[str]:
        """The ids of the oldest episodes in any of these partitions, oldest first."""

    def index_of(self, workspace: str, episode_id: str) -> list[IndexEntry]:
        """The episode's index entries, sorted by partition."""

    def add_link(self, *new: Link) -> None:
        """Add links. Adding the same (from, to, kind) again changes nothing."""

    def remove_link(self, link: Link) -> None:
        """Remove a link, if it exists."""

    def links(self, workspace: str, episode_ids: Iterable[str], kind: LinkKind | None = None) -> list[Link]:
        """All links, or those of one kind, from or to one of these episodes."""

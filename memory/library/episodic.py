"""Episodic memory for another agent: stores episodes, and retrieves the most similar ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from typing import NamedTuple

from memory.adapters.embedding import HashingEmbedder
from memory.adapters.secrets import FormatFinder
from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds, utc_now
from memory.errors import Conflict, InvalidInput
from memory.model import (
    Episode,
    EpisodeStatus,
    EventKind,
    Link,
    LinkKind,
    Origin,
    Reaction,
    Scope,
    Step,
    StepKind,
    Termination,
    Usage,
    Vector,
    Visibility,
)
from memory.model.validation import (
    require_instance,
    require_instances,
    require_integer,
    require_json,
    require_mapping,
    require_member,
    require_text,
    require_texts,
)
from memory.ports import Transaction
from memory.rules.fold import unjudged
from memory.rules.quarantine import flags_of
from memory.rules.retrieval.config import RetrievalConfig
from memory.services import Memory
from memory.services.core import event, put_short_memory, require_episode
from memory.services.verdicts.quarantine import hold_back
from memory.services.verdicts.verdicts import settle_joined

DEFAULT_APP = "goodbot"
DEFAULT_USER = "default"
_CHANNEL = "agent"


def in_memory() -> Memory:
    """A memory of this process, without installation or files."""
    return Memory(
        SqlStore.in_memory(),
        HashingEmbedder(),
        clock=utc_now,
        new_id=TimeOrderedIds(),
        secrets=FormatFinder(),
        retrieval=RetrievalConfig(env_threshold=0.0, top_k=None, env_weight=0.0, intent_weight=1.0, min_intent=0.0),
    )


class PreparedEpisode(NamedTuple):
    """A new episode that is to be stored."""

    given: Episode
    """The episode as the caller gave it."""
    made: Episode
    """The episode as it is stored."""
    vector: Vector | None
    """The embedding of its goal."""


class EpisodicMemory:
    """Stores completed episodes of one user, and finds the most similar validated ones."""

    def __init__(self, memory: Memory, scope: Scope) -> None:
        self.memory = require_instance(Memory, memory, "the service of a memory")
        self.scope = require_instance(Scope, scope, "the scope of a memory")

    def store(self, episode: Episode) -> Episode:
        """Store an episode; returns it as stored, with its id.

        A status other than pending is this user's own judgement. An episode without a goal is not stored, as it could
        not be found. One that is stored already is only judged. Raises `Conflict` for the id, the run or the parent of
        another user's episode, and `InvalidInput` (a `ValueError`) for an invalid episode or status.
        """
        _check(episode)
        episode = replace(episode, status=EpisodeStatus(episode.status))
        if not episode.goal.strip():
            return episode
        stored = self._known(episode.id)
        if stored is None:
            new = self.prepared(episode)
            with self.memory.store.write() as tx:
                stored = self.keep(tx, new)
        if episode.status not in (EpisodeStatus.PENDING, stored.status):
            self._judge(stored, -1 if episode.status is EpisodeStatus.FAILURE else 1)
        return self.memory.recalling.as_seen_by(self.scope, [self._known(stored.id) or stored])[0]

    def _known(self, episode_id: str) -> Episode | None:
        with self.memory.store.read() as tx:
            return self._known_in(tx, episode_id)

    def _known_in(self, tx: Transaction, episode_id: str) -> Episode | None:
        known = tx.episodes.get(self.scope.workspace, episode_id)
        if known is not None:
            self._require_own(known, "id", episode_id)
        return known

    def _require_own(self, known: Episode, what: str, name: str) -> None:
        if known.scope.session_key != self.scope.session_key:
            raise Conflict(f"the {what} {name} belongs to somebody else's episode; leave it empty to get a new one")

    def require_own_run(self, run_id: str) -> None:
        """Raises `Conflict` unless this user has a stored run with this id."""
        with self.memory.store.read() as tx:
            nodes = tx.episodes.of_run(self.scope.workspace, run_id)
        if not nodes:
            raise Conflict(f"there is no run {run_id} of this user's; store its episode first")
        self._require_own(nodes[0], "run", run_id)

    def _own_parent(self, tx: Transaction, episode: Episode) -> Episode | None:
        """The stored parent, if any. Raises `Conflict` if it or the run is another user's.

        Episodes may not join another user's run, as feedback on a run applies to all of its episodes.
        """
        for node in tx.episodes.of_run(self.scope.workspace, episode.run_id) if episode.run_id else ():
            self._require_own(node, "run", episode.run_id)
        parent = tx.episodes.get(self.scope.workspace, episode.parent_id) if episode.parent_id else None
        if parent is not None:
            self._require_own(parent, "parent", episode.parent_id)
        return parent

    def prepared(self, episode: Episode) -> PreparedEpisode:
        """Do the slow part of storing a new episode, before the writing transaction."""
        core = self.memory.core
        is_expand = episode.status is EpisodeStatus.EXPAND
        made = replace(
            episode,
            id=episode.id or core.new_id(),
            run_id=episode.run_id or core.new_id(),
            workspace=self.scope.workspace,
            channel=self.scope.channel,
            person=self.scope.person,
            author=self.scope.person,
            visibility=self.scope.visibility,
            action=episode.action or "answer",
            action_target=episode.action_target or episode.goal,
            termination=Termination.EXPAND if is_expand else episode.termination,
            created_at=self.memory.clock(),
        )
        made = core.redactor.episode(unjudged(made))
        return PreparedEpisode(given=episode, made=made, vector=core.embedded(episode.goal))

    def keep(self, tx: Transaction, new: PreparedEpisode) -> Episode:
        """Store a prepared episode within a transaction, unless it was stored meanwhile."""
        given, made = new.given, new.made
        known = self._known_in(tx, made.id)
        if known is not None:
            return known
        parent = self._own_parent(tx, given)
        tx.episodes.add(made)
        keep_new(tx, self.memory, require_episode(tx, made.workspace, made.id), new.vector)
        if given.run_id:
            settle_joined(self.memory.core, tx, made.workspace, made.run_id, made.author)
        stored = require_episode(tx, made.workspace, made.id)
        if parent is not None:
            workspace, kind, at = made.workspace, LinkKind.SUBGOAL_OF, made.created_at
            tx.episodes.add_link(Link(workspace=workspace, from_id=made.id, to_id=parent.id, kind=kind, at=at))
        return stored

    def _judge(self, episode: Episode, value: int) -> None:
        vote = Reaction.on_run(episode, self.scope.person, "stored", value, self.memory.clock())
        self.memory.teaching.vote(vote)

    def retrieve(self, goal: str, k: int = 3) -> list[Episode]:
        """The `k` validated episodes that are most similar to the goal, best first. Never returns pending ones."""
        require_integer(k, "k")
        if k <= 0 or not require_text(goal, "goal").strip():
            return []
        config = replace(self.memory.recalling.config, final_k=k)
        recollection = self.memory.recalling.recall(self.scope, goal, config=config)
        return [exemplar.episode for exemplar in recollection.exemplars][:k]


def keep_new(tx: Transaction, memory: Memory, episode: Episode, vector: Vector | None) -> None:
    """Log a newly stored episode, quarantine it if it is flagged, and store its goal's embedding."""
    tx.log.append(event(episode, EventKind.CREATED, episode.author, episode.created_at))
    hold_back(tx, episode, flags_of(episode), episode.created_at)
    if vector is not None:
        tx.episodes.put_vector(episode.workspace, episode.id, memory.embedder.name, vector)


def keep_for_a_while(
    tx: Transaction, episodic: EpisodicMemory, kind: str, key: str, value: Mapping[str, object], life: timedelta
) -> None:
    """Store a value for a time, as data of the person, which is erased when they are forgotten."""
    scope, now = episodic.scope, episodic.memory.clock()
    put_short_memory(tx, kind, key, value, of=(scope.workspace, scope.person), at=now, until=now + life)


def _check(episode: Episode) -> None:
    """Raises `InvalidInput` for an episode that a store could not keep and return unchanged."""
    require_instance(Episode, episode, "what is stored")
    require_member(EpisodeStatus, episode.status, "the status of an episode")
    require_member(Termination, episode.termination, "the termination of an episode")
    require_instance(Origin, episode.origin, "the origin of an episode")
    require_instance(Usage, episode.usage, "the usage of an episode")
    for each in fields(Episode):
        if each.name == "goal" or type(each.default) is str:
            require_text(getattr(episode, each.name), f"the {each.name} of an episode")
    for name in ("context_before", "context_after", "exemplar_ids"):
        require_texts(getattr(episode, name), f"the {name} of an episode")
    for step in require_instances(Step, episode.trajectory, "the trajectory of an episode"):
        require_instance(StepKind, step.kind, "the kind of a step")
        for name in ("text", "tool", "flow"):
            require_text(getattr(step, name), f"the {name} of a step")
        require_texts(step.subgoals, "the subgoals of a step")
        require_json(require_mapping(step.arguments, "the arguments of a step"), "the arguments of a step")


class NoOpEpisodicMemory:
    """Stores nothing and finds nothing, for an agent without a memory."""

    def store(self, episode: Episode) -> Episode:
        """Return the episode without storing it."""
        return episode

    def retrieve(self, goal: str, k: int = 3) -> list[Episode]:
        """An empty list."""
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodicMemoryConfig:
    """The configuration from which each user's memory is made; users do not see each other's episodes."""

    service: Memory = field(default_factory=in_memory)
    app_name: str = DEFAULT_APP
    user_id: str = DEFAULT_USER

    def __post_init__(self) -> None:
        require_instance(Memory, self.service, "the service of a memory")
        require_text(self.app_name, "app_name")
        if not require_text(self.user_id, "user_id").strip():
            raise InvalidInput("a user id cannot be empty: memory is kept apart by it")

    def with_user_id(self, user_id: str) -> "EpisodicMemoryConfig":
        """A copy for another user of the same service. Raises `InvalidInput` (a `ValueError`) for an empty id."""
        return replace(self, user_id=user_id)

    def new_episodic_memory(self) -> EpisodicMemory:
        """The memory of this user."""
        scope = Scope(
            workspace=f"library:{self.app_name}",
            channel=f"{_CHANNEL}/{self.user_id}",
            person=self.user_id,
            visibility=Visibility.DIRECT,
        )
        return EpisodicMemory(self.service, scope)

"""The small door to memory for another agent: store episodes, retrieve the most similar ones (seed 004)."""

from dataclasses import dataclass, field, fields, replace

from memory.adapters.embedding import HashingEmbedder
from memory.adapters.secrets import FormatFinder
from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds, utc_now
from memory.errors import Conflict, InvalidInput
from memory.model import Episode, EpisodeStatus, Reaction, Scope, Step, Termination, Visibility
from memory.model.validation import all_of, integer, json_value, mapping, one_of, text, texts, word
from memory.ports import Transaction
from memory.rules.retrieval.config import RetrievalConfig
from memory.services import FinishedRun, Memory

DEFAULT_APP = "goodbot"
DEFAULT_USER = "default"
_CHANNEL = "agent"


def in_memory() -> Memory:
    """A memory that lives as long as the process: nothing to install, nothing on disk."""
    return Memory(
        SqlStore.in_memory(),
        HashingEmbedder(),
        clock=utc_now,
        new_id=TimeOrderedIds(),
        secrets=FormatFinder(),
        retrieval=RetrievalConfig(env_threshold=0.0, top_k=None, env_weight=0.0, intent_weight=1.0, min_intent=0.0),
    )


class EpisodicMemory:
    """Stores completed episodes for one user and finds the most similar validated ones."""

    def __init__(self, memory: Memory, scope: Scope) -> None:
        self.memory = one_of(Memory, memory, "the service of a memory")
        self.scope = one_of(Scope, scope, "the scope of a memory")

    def store(self, episode: Episode) -> Episode:
        """Keep an episode; returns it as stored, with its id.

        A status other than pending is taken as this user's own judgement. An episode without a goal is not kept: it
        could never be found again. One that is stored already is only judged. Raises `Conflict` for the id, the run or
        the parent of another user's episode, and `InvalidInput` (a `ValueError`) for what is no episode or no status.
        """
        _check(episode)
        episode = replace(episode, status=EpisodeStatus(episode.status))
        if not episode.goal.strip():
            return episode
        stored = self._known(episode.id) or self._keep(episode)
        if episode.status not in (EpisodeStatus.PENDING, stored.status):
            self._judge(stored, -1 if episode.status is EpisodeStatus.FAILURE else 1)
        return self.memory.recalling.as_seen_by(self.scope, [self._known(stored.id) or stored])[0]

    def _known(self, episode_id: str) -> Episode | None:
        with self.memory.store.read() as tx:
            known = tx.episodes.get(self.scope.workspace, episode_id)
        if known is not None:
            self._require_own(known, "id", episode_id)
        return known

    def _require_own(self, known: Episode, what: str, name: str) -> None:
        if known.scope.session_key != self.scope.session_key:
            raise Conflict(f"the {what} {name} belongs to somebody else's episode; leave it empty to get a new one")

    def _require_own_run(self, tx: Transaction, episode: Episode) -> None:
        """Nobody's episode joins another's run: what is said of a run is said of all of its episodes."""
        for node in tx.episodes.of_run(self.scope.workspace, episode.run_id) if episode.run_id else ():
            self._require_own(node, "run", episode.run_id)
        parent = tx.episodes.get(self.scope.workspace, episode.parent_id) if episode.parent_id else None
        if parent is not None:
            self._require_own(parent, "parent", episode.parent_id)

    def _keep(self, episode: Episode) -> Episode:
        new_id, now = self.memory.new_id, self.memory.clock()
        with self.memory.store.read() as tx:
            self._require_own_run(tx, episode)
        is_expand = episode.status is EpisodeStatus.EXPAND
        stored = replace(
            episode,
            status=EpisodeStatus.PENDING,
            id=episode.id or new_id(),
            run_id=episode.run_id or new_id(),
            workspace=self.scope.workspace,
            channel=self.scope.channel,
            person=self.scope.person,
            author=self.scope.person,
            visibility=self.scope.visibility,
            action=episode.action or "answer",
            action_target=episode.action_target or episode.goal,
            termination=Termination.EXPAND if is_expand else episode.termination,
            created_at=now,
        )
        recollection = self.memory.recalling.recall(self.scope, stored.goal)
        self.memory.recording.finish(
            FinishedRun(
                workspace=stored.workspace,
                run_id=stored.run_id,
                event_id="",
                nodes=(stored,),
                recalls=(replace(recollection, node_path=stored.node_path, rules=()),),
                parts=(),
                embedding_model=self.memory.embedder.name,
            )
        )
        return stored

    def _judge(self, episode: Episode, value: int) -> None:
        self.memory.teaching.vote(
            Reaction(
                workspace=episode.workspace,
                channel=episode.channel,
                message_id=f"run/{episode.run_id}",
                actor=self.scope.person,
                source="stored",
                value=value,
                at=self.memory.clock(),
                run_id=episode.run_id,
            )
        )

    def retrieve(self, goal: str, k: int = 3) -> list[Episode]:
        """The `k` validated episodes most similar to the goal, best first. Pending ones are never returned."""
        integer(k, "k")
        if k <= 0 or not text(goal, "goal").strip():
            return []
        config = replace(self.memory.recalling.config, final_k=k)
        recollection = self.memory.recalling.recall(self.scope, goal, config=config)
        return [exemplar.episode for exemplar in recollection.exemplars][:k]


def _check(episode: Episode) -> None:
    """Raise `InvalidInput` for what a store could not keep, or could not give back as it was."""
    one_of(Episode, episode, "what is stored")
    word(EpisodeStatus, episode.status, "the status of an episode")
    word(Termination, episode.termination, "the termination of an episode")
    for each in fields(Episode):
        if each.name == "goal" or type(each.default) is str:
            text(getattr(episode, each.name), f"the {each.name} of an episode")
    for name in ("context_before", "context_after", "exemplar_ids"):
        texts(getattr(episode, name), f"the {name} of an episode")
    for step in all_of(Step, episode.trajectory, "the trajectory of an episode"):
        json_value(mapping(step.arguments, "the arguments of a step"), "the arguments of a step")


class NoOpEpisodicMemory:
    """Keeps nothing and finds nothing: for an agent that has no corpus yet."""

    def store(self, episode: Episode) -> Episode:
        """Do nothing."""
        return episode

    def retrieve(self, goal: str, k: int = 3) -> list[Episode]:
        """Find nothing."""
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodicMemoryConfig:
    """A shared base from which a memory per user is made; users never see each other's episodes."""

    service: Memory = field(default_factory=in_memory)
    app_name: str = DEFAULT_APP
    user_id: str = DEFAULT_USER

    def __post_init__(self) -> None:
        one_of(Memory, self.service, "the service of a memory")
        text(self.app_name, "app_name")
        if not text(self.user_id, "user_id").strip():
            raise InvalidInput("a user id cannot be empty: memory is kept apart by it")

    def with_user_id(self, user_id: str) -> "EpisodicMemoryConfig":
        """A copy for another user, over the same service. Raises `InvalidInput` (a `ValueError`) for an empty id."""
        return replace(self, user_id=user_id)

    def new_episodic_memory(self) -> EpisodicMemory:
        """The memory of this user."""
        scope = Scope(
            workspace=f"library:{self.app_name}",
            channel=_CHANNEL,
            person=self.user_id,
            visibility=Visibility.DIRECT,
        )
        return EpisodicMemory(self.service, replace(scope, channel=f"{_CHANNEL}/{self.user_id}"))

"""What every use case of the memory works with: the ports, the rules, and the two steps they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory.errors import EmbeddingFailed, InvalidInput, NotFound
from memory.model import Episode, Event, EventKind, TeachingPolicy, Vector, Verdicts, Vote
from memory.ports import Clock, Embedder, NewId, Store, Transaction
from memory.rules.feedback import OverlapDetector
from memory.rules.fold import apply, with_verdicts
from memory.rules.redaction import Redactor
from memory.rules.verdict import judge
from memory.services.tally import file_in_index, retally, weights_of

__all__ = ["Core", "event", "existing", "file_in_index", "record", "settle"]

MESSAGE_CHARACTERS = 100_000
"""The longest message that is taken in where nothing else is set: all of one attached text, and words about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """The ports and rules, shared by all use cases of one process."""

    store: Store
    embedder: Embedder
    clock: Clock
    new_id: NewId
    policy: TeachingPolicy = field(default_factory=TeachingPolicy)
    detector: OverlapDetector = field(default_factory=OverlapDetector)
    ledger_days: int = 30
    redactor: Redactor = field(default_factory=Redactor)
    message_characters: int = MESSAGE_CHARACTERS
    """The longest message that is taken in."""

    def require_short(self, text: str) -> None:
        """Raise `InvalidInput` for a message that is too long."""
        if len(text) > self.message_characters:
            raise InvalidInput(
                f"this message has {len(text):,} characters, attached texts included; {self.message_characters:,} are "
                "taken, so nothing was done with it. Please shorten it."
            )

    def embedded(self, text: str) -> Vector | None:
        """The text's embedding; None where the embedder fails, which must not keep anybody from being heard."""
        try:
            return self.embedder.embed([text])[0]
        except EmbeddingFailed:
            return None


def record(tx: Transaction, episode: Episode, event: Event) -> Episode:
    """Append an event and store the episode as the fold leaves it. A repeated source event changes nothing."""
    if not tx.log.append(event):
        return episode
    after = apply(episode, event)
    if after != episode:
        tx.episodes.put(after)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RegradeResult:
    """A run after its reactions were folded."""

    nodes: Sequence[tuple[Verdicts, Episode]]
    """(verdicts before, episode after) of every node, the root first."""
    before: Sequence[Vote]
    votes: Sequence[Vote]
    elsewhere: Sequence[tuple[Verdicts, Episode]] = ()
    """The same of every node of other runs whose verdicts moved with it."""


def settle(
    tx: Transaction,
    workspace: str,
    run_id: str,
    actor: str,
    at: datetime,
    policy: TeachingPolicy,
    reason: str = "",
    *,
    nodes: Sequence[Episode] = (),
) -> RegradeResult:
    """Fold a run's reactions into votes and verdicts, log what changed, and refile it; and what it touches elsewhere.

    `nodes` are the run's episodes, if they were read already.
    """
    tally = retally(tx, workspace, [run_id], policy)
    elsewhere: list[tuple[Verdicts, Episode]] = []
    for other in sorted(tally.elsewhere):
        theirs, cast = tx.episodes.of_run(workspace, other), tx.teaching.votes(workspace, other)
        rejudged = _rejudge(tx, theirs, cast, actor, at, policy, "")
        elsewhere += rejudged if any(was != now.verdicts for was, now in rejudged) else []
    votes = tally.votes[run_id]
    judged = _rejudge(tx, nodes or tx.episodes.of_run(workspace, run_id), votes, actor, at, policy, reason)
    return RegradeResult(nodes=judged, before=tally.before[run_id], votes=votes, elsewhere=elsewhere)


def _rejudge(
    tx: Transaction,
    nodes: Sequence[Episode],
    votes: Sequence[Vote],
    actor: str,
    at: datetime,
    policy: TeachingPolicy,
    reason: str,
) -> list[tuple[Verdicts, Episode]]:
    settled: list[tuple[Verdicts, Episode]] = []
    weights = weights_of(tx, nodes[0].workspace, votes, policy) if nodes else {}
    for episode in nodes:
        before, verdicts = episode.verdicts, judge(episode, votes, policy, weights)
        after = episode
        if verdicts != before:
            kind = EventKind.GRADED if episode.graded_at is None else EventKind.REGRADED
            detail = {"from": _words(before), "to": _words(verdicts)}
            if reason or not verdicts.overall.is_validated:
                detail["reason"] = reason if verdicts.overall.is_validated else ""
            change = event(episode, kind, actor, at, detail=detail)
            tx.log.append(change)
            after = with_verdicts(apply(episode, change), verdicts)
            tx.episodes.put(after)
            file_in_index(tx, after)
        settled.append((before, after))
    return settled


def _words(verdicts: Verdicts) -> str:
    return f"{verdicts.personal} {verdicts.channel} {verdicts.workspace}"


def existing(tx: Transaction, workspace: str, episode_id: str) -> Episode:
    """The episode. Raises `NotFound`."""
    episode = tx.episodes.get(workspace, episode_id)
    if episode is None:
        raise NotFound(f"no episode {episode_id} in {workspace}; `goodbot episodes list` shows those that exist")
    return episode

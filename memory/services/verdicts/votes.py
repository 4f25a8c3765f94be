"""A person's own votes: lists them, and takes one back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.model import Episode, Reaction, Vote
from memory.model.validation import require_whole
from memory.ports import Transaction
from memory.rules.verdict import CORRECTION, REVIEW, fold_votes
from memory.services.core import Core, require_episode
from memory.services.verdicts.promotion import undo_promotion
from memory.services.verdicts.reason import withdraw_reasons
from memory.services.verdicts.verdicts import VoteResult, withdraw_votes


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """A vote of a person with the judged episode."""

    vote: Vote
    episode: Episode
    """The answer's first node, or the single node that was judged."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """The use cases of a person's own votes."""

    _core: Core

    def count(self, workspace: str, person: str) -> int:
        """The number of the person's votes."""
        with self._core.store.read() as tx:
            return len(_votes(tx, workspace, person))

    def of(self, workspace: str, person: str, *, skip: int = 0, limit: int = 20) -> list[Rating]:
        """The person's votes, newest first, without those on erased answers."""
        require_whole(skip, "skip")
        require_whole(limit, "limit")
        with self._core.store.read() as tx:
            votes = _votes(tx, workspace, person)[skip : skip + limit]
            rated = [(vote, _judged(tx, vote)) for vote in votes]
        return [Rating(vote=vote, episode=episode) for vote, episode in rated if episode is not None]

    def is_active(self, reaction: Reaction) -> bool:
        """Whether the register of this reaction holds one that is not withdrawn."""
        with self._core.store.read() as tx:
            stored = tx.teaching.reaction(reaction.key)
        return stored is not None and stored.is_active

    def take_back(
        self, workspace: str, person: str, episode_id: str, *, at: datetime, event_id: str = ""
    ) -> tuple[Rating, VoteResult] | None:
        """Withdraw the person's vote on the episode whose id ends with `episode_id`, with all its reactions.

        An approval in a review takes its promotion along.

        None if no vote of the person matches, more than one does, or the event was handled before.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            rated = [(vote, _judged(tx, vote)) for vote in _votes(tx, workspace, person)]
            meant = [(vote, episode) for vote, episode in rated if episode and episode.id.endswith(episode_id)]
            if len(meant) != 1 or (event_id and not tx.log.claim(workspace, event_id, now)):
                return None
            (vote, episode) = meant[0]
            judgements = _judgements(tx.teaching.reactions_of_run(workspace, vote.run_id))
            own = [each for each in judgements if (each.actor, each.node_id) == (person, vote.node_id)]
            result = withdraw_votes(self._core, tx, now, *own, at=at)
            withdraw_reasons(tx, own, now)
            for approval in own:
                if approval.source == REVIEW:
                    lesson = require_episode(tx, workspace, episode.id)
                    undo_promotion(self._core, tx, lesson, person, approval.role, now)
            return Rating(vote=vote, episode=episode), result


def _judgements(reactions: Sequence[Reaction]) -> list[Reaction]:
    """Active reactions that judge an answer. An author's vote for their own lesson, cast by writing it, does not."""
    return [each for each in reactions if each.is_active and each.run_id and each.source != CORRECTION]


def _votes(tx: Transaction, workspace: str, person: str) -> list[Vote]:
    votes = fold_votes(_judgements(tx.teaching.reactions_by(workspace, person)))
    return sorted(votes, key=lambda vote: (vote.at, vote.run_id, vote.node_id), reverse=True)


def _judged(tx: Transaction, vote: Vote) -> Episode | None:
    if vote.node_id:
        return tx.episodes.get(vote.workspace, vote.node_id)
    nodes = tx.episodes.of_run(vote.workspace, vote.run_id)
    return nodes[0] if nodes else None

"""Bulk recording of new episodes with their events and votes, as a file import needs it.

The result is the same as if each were recorded alone: the same votes, verdicts with their times, and index entries. It
takes some twenty SQL statements, whatever the number of episodes, unless votes on one may change the verdict on
another: then they are recorded one by one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain

from memory.model import Episode, Event, PlacedVote, Reaction, TeachingPolicy, Vector, Visibility
from memory.ports import Transaction
from memory.rules.fold import apply
from memory.rules.verdict import fold_votes, is_beyond_limit
from memory.services.core import Changes, Core
from memory.services.verdicts.verdicts import ReactionSet, apply_reactions


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEpisode:
    """An episode that is not stored yet, with its events and votes."""

    episode: Episode
    """The episode as created (`memory.rules.fold.unjudged`)."""
    vector: Vector | None
    """The embedding of its goal."""
    before: Sequence[Event]
    """The events before the first vote, beginning with its creation."""
    reactions: Sequence[ReactionSet] = ()
    """The votes on it."""
    after: Sequence[Event] = ()
    """The events after the votes."""
    words_of: Iterable[str] = ()
    """People other than the author whose words it contains."""


def record_new(
    core: Core, tx: Transaction, new: Sequence[NewEpisode], stored: Mapping[str, Sequence[Episode]] | None = None
) -> None:
    """Record new episodes of one workspace. `stored` are the episodes that their runs already have, by run."""
    if len(new) > 1 and _may_affect_each_other(core, tx, new):
        for each in new:
            _record_together(core, tx, [each], {})
    elif new:
        _record_together(core, tx, new, stored or {})


def _record_together(
    core: Core, tx: Transaction, new: Sequence[NewEpisode], stored: Mapping[str, Sequence[Episode]]
) -> None:
    """`record_new` by as many statements as for a single episode: all are judged by all votes on them at once."""
    workspace = new[0].episode.workspace
    changes = Changes()
    readers = _Readers(tx, workspace)
    made: dict[str, list[Episode]] = {}
    for each in new:
        episode = reduce(apply, each.before, readers.noted(each.episode))
        changes.add(episode, each.vector)
        made.setdefault(episode.run_id, []).append(episode)
    tx.log.append(*(event for each in new for event in each.before))
    news = _judged(core, tx, [given for each in new for given in each.reactions], made, stored, changes)
    for each in new:
        for event in each.after:
            changes.make(changes.now(each.episode), event)
    tx.teaching.put_reactions(*news, events=changes.write(tx, core.embedder.name))
    foreign = {each.episode.id: sorted({*each.words_of} - {"", each.episode.author}) for each in new}
    tx.episodes.note_words(workspace, foreign)


def _judged(
    core: Core,
    tx: Transaction,
    reactions: Sequence[ReactionSet],
    made: Mapping[str, Sequence[Episode]],
    stored: Mapping[str, Sequence[Episode]],
    changes: Changes,
) -> Sequence[Reaction]:
    """Judge new episodes by their votes, into `changes`. Returns the vote registers to store."""
    if not reactions:
        return ()
    judged = list(dict.fromkeys(given.reactions[-1].run_id for given in reactions))
    workspace = reactions[0].reactions[-1].workspace
    if unread := [run_id for run_id in judged if run_id not in stored]:
        stored = {**stored, **tx.episodes.of_runs(workspace, unread)}
    nodes = {
        run_id: sorted((*stored.get(run_id, ()), *made[run_id]), key=lambda node: (node.step_number, node.id))
        for run_id in judged
    }
    return apply_reactions(core, tx, nodes, reactions, changes).news


def _may_affect_each_other(core: Core, tx: Transaction, new: Sequence[NewEpisode]) -> bool:
    """Whether votes on one of the episodes may change the verdict that those before it made.

    They may if they are about a run with several of the episodes, or tell whom to trust, as teachers and administrators
    do, or if somebody exceeds their limit by votes that do not come in order of time.
    """
    reactions = [(each.episode, one) for each in new for given in each.reactions for one in given.reactions]
    if not reactions:
        return False
    nodes = Counter(each.episode.run_id for each in new)
    if any(one.node_id != episode.id and nodes[one.run_id] > 1 for episode, one in reactions):
        return True
    workspace, runs = new[0].episode.workspace, {one.run_id for _, one in reactions}
    known = chain.from_iterable(tx.teaching.votes_of_runs(workspace, runs).values())
    if any(role.may_promote for role in {*(one.role for _, one in reactions), *(vote.role for vote in known)}):
        return True
    return _is_out_of_order(core.policy, tx, [one for _, one in reactions])


def _is_out_of_order(policy: TeachingPolicy, tx: Transaction, reactions: Sequence[Reaction]) -> bool:
    """Whether somebody exceeds their limit by these, and not only by those that come last."""
    votes = [vote for one in reactions for vote in fold_votes([one])]
    around: dict[str, list[PlacedVote]] = {}
    for each in tx.teaching.votes_around(votes, window=policy.window, limit=policy.votes_per_window):
        around.setdefault(each.actor, []).append(each)
    for vote in votes:
        placed = PlacedVote(vote.at, vote.run_id, vote.node_id, vote.actor, is_limited=False)
        around.setdefault(vote.actor, []).append(placed)
    for own in around.values():
        ordered = sorted(own)
        if ordered != own and any(is_beyond_limit(number, ordered, policy) for number in range(len(ordered))):
            return True
    return False


class _Readers:
    """The current readers of each channel, looked up once per channel."""

    def __init__(self, tx: Transaction, workspace: str) -> None:
        self._tx = tx
        self._workspace = workspace
        self._known: dict[str, Visibility | None] = {}

    def noted(self, episode: Episode) -> Episode:
        """The episode as the store would return it."""
        if episode.channel not in self._known:
            channel = self._tx.channels.get(self._workspace, episode.channel)
            self._known[episode.channel] = channel.visibility if channel else None
        now = self._known[episode.channel]
        return episode if now is episode.channel_visibility else replace(episode, channel_visibility=now)

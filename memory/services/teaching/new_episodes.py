"""Bulk recording of new episodes with their events and votes, as a file import needs it.

The result is the same as if each were recorded alone: the same events, votes, verdicts and index entries. It takes some
twenty SQL statements, whatever the number of episodes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from memory.model import Episode, Event, Reaction, Vector, Visibility
from memory.ports import Transaction
from memory.rules.fold import apply
from memory.services.core import Changes, Core
from memory.services.verdicts.verdicts import Signals, take_signals


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEpisode:
    """An episode that is not stored yet, with its events and votes."""

    episode: Episode
    """The episode as created (`memory.rules.fold.facts`)."""
    vector: Vector | None
    """The embedding of its goal."""
    before: Sequence[Event]
    """The events before the first vote, beginning with its creation."""
    signals: Sequence[Signals] = ()
    """The votes on it."""
    after: Sequence[Event] = ()
    """The events after the votes."""
    words_of: Iterable[str] = ()
    """People other than the author whose words it contains."""


def record_new(
    core: Core, tx: Transaction, new: Sequence[NewEpisode], stored: Mapping[str, Sequence[Episode]] | None = None
) -> None:
    """Record new episodes of one workspace. `stored` are the episodes that their runs already have, by run."""
    if not new:
        return
    workspace = new[0].episode.workspace
    changes = Changes()
    readers = _Readers(tx, workspace)
    made: dict[str, list[Episode]] = {}
    for each in new:
        episode = reduce(apply, each.before, readers.noted(each.episode))
        changes.add(episode, each.vector)
        made.setdefault(episode.run_id, []).append(episode)
    tx.log.append(*(event for each in new for event in each.before))
    news = _judged(core, tx, [signal for each in new for signal in each.signals], made, stored or {}, changes)
    for each in new:
        for event in each.after:
            changes.make(changes.now(each.episode), event)
    tx.teaching.put_reactions(*news, events=changes.write(tx, core.embedder.name))
    foreign = {each.episode.id: sorted({*each.words_of} - {"", each.episode.author}) for each in new}
    tx.episodes.note_words(workspace, foreign)


def _judged(
    core: Core,
    tx: Transaction,
    signals: Sequence[Signals],
    made: Mapping[str, Sequence[Episode]],
    stored: Mapping[str, Sequence[Episode]],
    changes: Changes,
) -> Sequence[Reaction]:
    """Judge new episodes by their votes, into `changes`. Returns the vote registers to store."""
    if not signals:
        return ()
    judged = list(dict.fromkeys(signal.reactions[-1].run_id for signal in signals))
    workspace = signals[0].reactions[-1].workspace
    if unread := [run_id for run_id in judged if run_id not in stored]:
        stored = {**stored, **tx.episodes.of_runs(workspace, unread)}
    nodes = {
        run_id: sorted((*stored.get(run_id, ()), *made[run_id]), key=lambda node: (node.step_number, node.id))
        for run_id in judged
    }
    return take_signals(core, tx, nodes, signals, changes).news


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

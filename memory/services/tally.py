"""Counting votes: which of them are within their voter's limit, what they prove about the voters, what they weigh.

All of it is a function of the votes that stand and of their times, whatever the order they arrived in. One vote can
touch answers elsewhere: a late one uses up a limit, an administrator's one changes how far other voters are trusted.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from memory.errors import NotFound
from memory.model import Episode, Role, TeachingPolicy, Vote
from memory.ports import Transaction
from memory.rules.audience import partitions_of
from memory.rules.fold import replay
from memory.rules.trust import evidence_of, weight
from memory.rules.verdict import fold_votes


def weights_of(tx: Transaction, workspace: str, votes: Iterable[Vote], policy: TeachingPolicy) -> dict[str, float]:
    """What each of these voters weighs for others."""
    roles = {vote.actor: vote.role for vote in votes}
    records = tx.teaching.record_of(workspace, roles)
    return {actor: weight(*records[actor], role, policy) for actor, role in roles.items()}


def with_limits(tx: Transaction, votes: Iterable[Vote], policy: TeachingPolicy) -> list[Vote]:
    """The same votes of one run, marked where their voter had said too much before. All of them must be stored."""
    return [replace(vote, is_limited=_is_limited(tx, vote, policy)) for vote in votes]


def _is_limited(tx: Transaction, vote: Vote, policy: TeachingPolicy) -> bool:
    return _fills_up(tx.teaching.times_before(vote, policy.votes_per_window), vote, policy)


def _fills_up(earlier: Sequence[datetime], vote: Vote, policy: TeachingPolicy) -> bool:
    """Whether the votes right before this one, the oldest first, leave no room for it in its window.

    As many as the limit are enough to tell: the oldest of them is within the window, or the window has room.
    """
    most = policy.votes_per_window
    return vote.role is not Role.ADMIN and len(earlier) >= most and earlier[-most] > vote.at - policy.window


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The votes of some runs, by run: as they stood, as they stand now, and the other runs that this touches."""

    before: Mapping[str, Sequence[Vote]]
    votes: Mapping[str, Sequence[Vote]]
    elsewhere: frozenset[str]
    """Where verdicts may be different now: a vote came into or went out of its voter's limit, or its voter is trusted
    more or less than before."""


def retally(
    tx: Transaction, workspace: str, run_ids: Collection[str], policy: TeachingPolicy, *, from_scratch: bool = False
) -> Tally:
    """Make votes and evidence of these runs what their registers say.

    What no changed vote can touch is taken to be right already, unless all is counted `from_scratch`.
    """
    before = {run_id: tx.teaching.votes(workspace, run_id) for run_id in run_ids}
    votes = {run_id: _recast(tx, workspace, run_id, stood) for run_id, stood in before.items()}
    for run_id, cast in votes.items():
        if cast != before[run_id]:
            tx.teaching.set_votes(workspace, run_id, cast)
    moved = _reprove(tx, workspace, before, votes, policy, from_scratch=from_scratch)
    moved |= _relimit(tx, workspace, votes, _changed(before, votes, from_scratch=from_scratch), policy)
    return Tally(before=before, votes=votes, elsewhere=frozenset(moved - set(run_ids)))


def _recast(tx: Transaction, workspace: str, run_id: str, stood: Sequence[Vote]) -> list[Vote]:
    """What the run's registers say, with the marks that its votes had."""
    marks = {(vote.node_id, vote.actor): vote.is_limited for vote in stood}
    cast = fold_votes(tx.teaching.reactions_of_run(workspace, run_id))
    return [replace(vote, is_limited=marks.get((vote.node_id, vote.actor), False)) for vote in cast]


def _reprove(
    tx: Transaction,
    workspace: str,
    before: Mapping[str, Sequence[Vote]],
    votes: Mapping[str, Sequence[Vote]],
    policy: TeachingPolicy,
    *,
    from_scratch: bool,
) -> set[str]:
    """Store what the votes prove about their voters. Returns the runs of those who weigh something else now."""
    changed = {}
    for run_id, cast in votes.items():
        # Only an administrator's vote proves anything, so without one there is nothing to read.
        if from_scratch or any(vote.role is Role.ADMIN for vote in (*before[run_id], *cast)):
            proven = evidence_of(cast)
            if proven != tx.teaching.evidence(workspace, run_id):
                changed[run_id] = proven
    if not changed:
        return set()
    # Of everybody who voted or votes now: a first vote here may prove somebody right or wrong who voted elsewhere.
    voters = {vote.actor for run_id in changed for vote in (*before[run_id], *votes[run_id])}
    known = tx.teaching.record_of(workspace, voters)
    for run_id, proven in changed.items():
        tx.teaching.set_evidence(workspace, run_id, proven)
    told = tx.teaching.record_of(workspace, voters)
    others = [actor for actor in voters if _weighs_otherwise(known[actor], told[actor], policy)]
    # What is beyond a limit counts for nobody else, whatever its voter weighs.
    return tx.teaching.runs_voted_on(workspace, others, within_limit=True)


def _weighs_otherwise(known: tuple[int, int], told: tuple[int, int], policy: TeachingPolicy) -> bool:
    """Whether a new record changes a vote's weight, in whatever role: elsewhere the voter may have had another one."""
    return any(weight(*known, role, policy) != weight(*told, role, policy) for role in (Role.MEMBER, Role.TEACHER))


def _changed(
    before: Mapping[str, Sequence[Vote]], votes: Mapping[str, Sequence[Vote]], *, from_scratch: bool
) -> dict[str, list[Vote]]:
    """The votes that came, went or moved, by voter, in order; all of them, if all is counted `from_scratch`."""
    stood, stand = ({(*_place(v), v.actor, v.role): v for each in by.values() for v in each} for by in (before, votes))
    found: dict[str, dict[tuple[datetime, str, str], Vote]] = {}
    for key in stood.keys() | stand.keys() if from_scratch else stood.keys() ^ stand.keys():
        vote = stood.get(key) or stand[key]
        found.setdefault(vote.actor, {})[_place(vote)] = vote
    return {actor: [vote for _, vote in sorted(own.items())] for actor, own in found.items()}


def _place(vote: Vote) -> tuple[datetime, str, str]:
    """Where the vote stands among those of its voter."""
    return vote.at, vote.run_id, vote.node_id


def _relimit(
    tx: Transaction,
    workspace: str,
    votes: dict[str, list[Vote]],
    changed: Mapping[str, Sequence[Vote]],
    policy: TeachingPolicy,
) -> set[str]:
    """Mark anew every vote that these changes, by voter, may push over its voter's limit, or back, also in `votes`.

    Returns the runs where a mark changed.
    """
    marks: dict[str, dict[tuple[str, str], bool]] = {}
    for own in changed.values():
        for vote, is_limited in _recounted(tx, own, policy):
            if is_limited != vote.is_limited:
                marks.setdefault(vote.run_id, {})[vote.node_id, vote.actor] = is_limited
    for run_id, remarked in marks.items():
        stand = votes[run_id] if run_id in votes else tx.teaching.votes(workspace, run_id)
        marked = [replace(v, is_limited=remarked.get((v.node_id, v.actor), v.is_limited)) for v in stand]
        tx.teaching.set_votes(workspace, run_id, marked)
        if run_id in votes:
            votes[run_id] = marked
    return set(marks)


def _recounted(tx: Transaction, changed: Sequence[Vote], policy: TeachingPolicy) -> Iterator[tuple[Vote, bool]]:
    """The votes of one voter that changes of theirs may touch, with whether each is beyond the limit now.

    The vote that fills up another one's window stands as many places before it as the limit says. So a change touches
    the vote itself and no more than that many after it, if they are within a window.
    """
    most = policy.votes_per_window
    waiting = deque(changed)
    while waiting:
        first = waiting.popleft()
        stretch = tx.teaching.votes_from(first, before=first.at + policy.window, limit=most + 1)
        times = tx.teaching.times_before(first, most) + [vote.at for vote in stretch]
        for earlier, vote in enumerate(stretch, len(times) - len(stretch)):
            yield vote, _fills_up(times[:earlier], vote, policy)
        # Of other changes in this stretch, the last one touches all beyond it that any of them does.
        end = _place((stretch or [first])[-1])
        while len(waiting) > 1 and _place(waiting[1]) <= end:
            waiting.popleft()


def refold(tx: Transaction, workspace: str, run_ids: Collection[str], policy: TeachingPolicy) -> None:
    """Make these runs, and all others that this touches, what the log says, without logging anything.

    For after an erasure, a purge or a repair: as if what is gone had never been there.
    """
    tally = retally(tx, workspace, run_ids, policy, from_scratch=True)
    for run_id in sorted({*run_ids, *tally.elsewhere}):
        log = tx.log.of_run(workspace, run_id)
        votes = tx.teaching.votes(workspace, run_id)
        weights = weights_of(tx, workspace, votes, policy)
        for episode in tx.episodes.of_run(workspace, run_id):
            after = replay(episode, log, policy, votes=votes, weights=weights)
            tx.episodes.put(after)
            file_in_index(tx, after)


def file_in_index(tx: Transaction, episode: Episode) -> None:
    """Make the episode findable where its verdicts allow, and nowhere else.

    An episode whose goal could not be embedded has no vector and stays unfiled until it gets one.
    """
    with suppress(NotFound):
        tx.episodes.set_index(episode.workspace, episode.id, partitions_of(episode))


def runs_of_voters(tx: Transaction, workspace: str, run_ids: Iterable[str]) -> set[str]:
    """Every run in which somebody voted who voted in one of these: what an erasure of these may touch."""
    voters = {vote.actor for run_id in run_ids for vote in tx.teaching.votes(workspace, run_id)}
    return tx.teaching.runs_voted_on(workspace, voters)

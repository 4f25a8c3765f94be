"""Counting votes: which of them are within their voter's limit, what they prove about the voters, what they weigh.

All of it is a function of the votes that stand and of their times, whatever the order they arrived in. One vote can
touch answers elsewhere: a late one uses up a limit, an administrator's one changes how far other voters are trusted.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from memory.audience import partitions_of
from memory.fold import replay
from memory.model import Episode, Role, TeachingPolicy, Vote
from memory.ports import Transaction
from memory.trust import evidence_of, weight
from memory.verdict import fold_votes

_INSTANT = timedelta(microseconds=1)


def weights_of(tx: Transaction, workspace: str, votes: Iterable[Vote], policy: TeachingPolicy) -> dict[str, float]:
    """What each of these voters weighs for others."""
    roles = {vote.actor: vote.role for vote in votes}
    records = tx.teaching.record_of(workspace, roles)
    return {actor: weight(*records[actor], role, policy) for actor, role in roles.items()}


def with_limits(tx: Transaction, votes: Iterable[Vote], policy: TeachingPolicy) -> list[Vote]:
    """The same votes of one run, marked where their voter had said too much before. All of them must be stored."""
    return [replace(vote, is_limited=_is_limited(tx, vote, policy)) for vote in votes]


def _is_limited(tx: Transaction, vote: Vote, policy: TeachingPolicy) -> bool:
    if vote.role is Role.ADMIN:
        return False
    window = tx.teaching.votes_by(vote.workspace, vote.actor, after=vote.at - policy.window, until=vote.at)
    key = (vote.at, vote.run_id, vote.node_id)
    earlier = sum((each.at, each.run_id, each.node_id) < key for each in window)
    return earlier >= policy.votes_per_window


def retally(tx: Transaction, workspace: str, run_ids: Collection[str], policy: TeachingPolicy) -> set[str]:
    """Make votes and evidence of these runs what their registers say.

    Returns the other runs whose verdicts may be different now, because a vote there came into or went out of its
    voter's limit, or its voter is trusted more or less than before.
    """
    before = {run_id: tx.teaching.votes(workspace, run_id) for run_id in run_ids}
    cast = {run_id: fold_votes(tx.teaching.reactions_of_run(workspace, run_id)) for run_id in run_ids}
    # Of everybody who voted or votes now: a first vote here may prove somebody right or wrong who voted elsewhere.
    voters = [*_of(before), *_of(cast)]
    weighed = weights_of(tx, workspace, voters, policy)
    after: dict[str, list[Vote]] = {}
    for run_id, votes in cast.items():
        flags = {(vote.node_id, vote.actor): vote.is_limited for vote in before[run_id]}
        after[run_id] = [replace(v, is_limited=flags.get((v.node_id, v.actor), False)) for v in votes]
        if after[run_id] != before[run_id]:
            tx.teaching.set_votes(workspace, run_id, after[run_id])
        evidence = evidence_of(votes)
        if evidence != tx.teaching.evidence(workspace, run_id):
            tx.teaching.set_evidence(workspace, run_id, evidence)
    moved = _relimit(tx, workspace, {*run_ids, *_in_reach(tx, workspace, before, after, policy)}, policy)
    for actor, now_weighs in sorted(weights_of(tx, workspace, voters, policy).items()):
        if now_weighs != weighed[actor]:
            moved.update(vote.run_id for vote in tx.teaching.votes_by(workspace, actor))
    return moved - set(run_ids)


def _of(votes_by_run: Mapping[str, Sequence[Vote]]) -> list[Vote]:
    return [vote for votes in votes_by_run.values() for vote in votes]


def _in_reach(
    tx: Transaction,
    workspace: str,
    before: dict[str, list[Vote]],
    after: dict[str, list[Vote]],
    policy: TeachingPolicy,
) -> set[str]:
    """Other runs with a vote that a change of these votes may push over its voter's limit, or back."""
    changed = {(v.actor, v.run_id, v.node_id, v.at) for v in _of(before)} ^ {
        (v.actor, v.run_id, v.node_id, v.at) for v in _of(after)
    }
    reach: set[str] = set()
    for actor in {each[0] for each in changed}:
        times = [each[3] for each in changed if each[0] == actor]
        later = tx.teaching.votes_by(workspace, actor, after=min(times) - _INSTANT, until=max(times) + policy.window)
        reach.update(vote.run_id for vote in later)
    return reach


def _relimit(tx: Transaction, workspace: str, run_ids: Iterable[str], policy: TeachingPolicy) -> set[str]:
    """Mark the votes of these runs anew; returns the runs where a mark changed."""
    moved: set[str] = set()
    for run_id in sorted(run_ids):
        votes = tx.teaching.votes(workspace, run_id)
        marked = with_limits(tx, votes, policy)
        if marked != votes:
            tx.teaching.set_votes(workspace, run_id, marked)
            moved.add(run_id)
    return moved


def refold(tx: Transaction, workspace: str, run_ids: Collection[str], policy: TeachingPolicy) -> None:
    """Make these runs, and all others that this touches, what the log says, without logging anything.

    For after an erasure, a purge or a repair: as if what is gone had never been there.
    """
    for run_id in sorted({*run_ids, *retally(tx, workspace, run_ids, policy)}):
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
    entries = partitions_of(episode)
    if entries and not tx.episodes.vectors(episode.workspace, [episode.id]):
        return
    if entries != tx.episodes.index_of(episode.workspace, episode.id):
        tx.episodes.set_index(episode.workspace, episode.id, entries)


def runs_of_voters(tx: Transaction, workspace: str, run_ids: Iterable[str]) -> set[str]:
    """Every run in which somebody voted who voted in one of these: what an erasure of these may touch."""
    voters = {vote.actor for run_id in run_ids for vote in tx.teaching.votes(workspace, run_id)}
    return {vote.run_id for actor in voters for vote in tx.teaching.votes_by(workspace, actor)}

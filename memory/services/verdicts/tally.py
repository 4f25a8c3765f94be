"""Turns registers into votes, trust evidence, limits, judgements and the workspace's threshold.

All results depend on the current votes and their times only, not on the order in which they arrived. A vote can affect
other answers: a late one uses up a limit, and an administrator's one changes the trust in other voters.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from memory.model import Episode, KnownPeople, PlacedVote, Poll, Reaction, Role, TeachingPolicy, TrustRecord, Vote
from memory.model.evidence import EvidenceRecord, Judgement, Threshold
from memory.ports import Transaction
from memory.rules.evidence.threshold import (
    counted_threshold,
    first_threshold,
    newest_counted,
    threshold,
)
from memory.rules.verdict import (
    fold_votes,
    is_beyond_limit,
    judgements_of,
    may_be_limited,
    standing,
    trust_evidence_of,
    weight,
    weights,
    without_implied,
)

_AT_ONCE = 2
"""For how many changes of one voter neighbouring votes are read at once; a moved vote has two places."""

_MANY = 16
"""From so many changes on, as in an import, the neighbours of all are read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The votes of some runs before and after an update, by run, and other runs that the update affects."""

    before: Mapping[str, Sequence[Vote]]
    votes: Mapping[str, Sequence[Vote]]
    records: Mapping[str, TrustRecord]
    """How often each voter was proven right and wrong."""
    other_runs: frozenset[str]
    """Other runs whose verdicts may change: a voter's limit now covers other votes, or a voter's standing or weight
    changed."""


def update_votes(
    tx: Transaction, workspace: str, polls: Mapping[str, Poll], policy: TeachingPolicy, *, from_scratch: bool = False
) -> Tally:
    """Update the stored votes and trust evidence of these runs from their registers.

    Only what changed votes can affect is recomputed, or everything with `from_scratch`.
    """
    before = {run_id: poll.votes for run_id, poll in polls.items()}
    votes = {run_id: _votes_of_registers(poll, poll.people) for run_id, poll in polls.items()}
    taught_from = next((poll.people.taught_from for poll in polls.values()), None)
    records = {actor: record for poll in polls.values() for actor, record in poll.records.items()}
    _store(tx, workspace, before, votes)
    moved = _update_standings(tx, workspace, before, votes, taught_from)
    moved |= _update_trust_evidence(tx, workspace, before, votes, records, policy, from_scratch=from_scratch)
    moved |= _update_limits(tx, workspace, votes, _changed(before, votes, from_scratch=from_scratch), policy)
    voters = {vote.actor for cast in votes.values() for vote in cast}
    if unknown := voters - records.keys():
        records.update(tx.teaching.record_of(workspace, unknown))
    return Tally(before=before, votes=votes, records=records, other_runs=frozenset(moved - set(polls)))


def _store(
    tx: Transaction, workspace: str, before: Mapping[str, Sequence[Vote]], votes: Mapping[str, Sequence[Vote]]
) -> None:
    """Write changed votes, all at once; the votes of a run that lost one are replaced."""
    new: list[Vote] = []
    for run_id, cast in votes.items():
        old = {(vote.node_id, vote.actor): vote for vote in before[run_id]}
        if old.keys() <= {(vote.node_id, vote.actor) for vote in cast}:
            new += [vote for vote in cast if old.get((vote.node_id, vote.actor)) != vote]
        else:
            tx.teaching.set_votes(workspace, run_id, cast, known=before[run_id])
    tx.teaching.put_votes(*new)


def _votes_of_registers(poll: Poll, known: KnownPeople) -> list[Vote]:
    """The votes of the registers. They keep their `is_limited` marks, except votes that cannot be limited any more."""
    limited = {(vote.node_id, vote.actor) for vote in poll.votes if vote.is_limited}
    votes: list[Vote] = []
    for vote in fold_votes(poll.reactions):
        is_limited = (vote.node_id, vote.actor) in limited and may_be_limited(vote)
        now = standing(vote, known)
        is_same = (is_limited, now) == (vote.is_limited, vote.standing)
        votes.append(vote if is_same else replace(vote, is_limited=is_limited, standing=now))
    return votes


def _update_standings(
    tx: Transaction,
    workspace: str,
    before: Mapping[str, Sequence[Vote]],
    votes: dict[str, list[Vote]],
    taught_from: datetime | None,
) -> set[str]:
    """Update the standings of votes, also in `votes`, if the time of the workspace's first teacher vote changed.

    Returns the runs with a changed standing.
    """
    taught = [vote.at for by in (before, votes) for cast in by.values() for vote in cast if vote.role is Role.TEACHER]
    if not taught or (taught_from is not None and min(taught) > taught_from):
        return set()  # the first teacher vote is not among them
    touched = _cast_between(tx, workspace, taught_from)
    if not touched:
        return set()
    known = tx.people.known_people(workspace, {vote.actor for vote in touched})
    marked = {
        (vote.run_id, vote.node_id, vote.actor): replace(vote, standing=now)
        for vote in touched
        if (now := standing(vote, known)) is not vote.standing
    }
    tx.teaching.put_votes(*marked.values())
    for run_id, run_votes in votes.items():
        votes[run_id] = [marked.get((run_id, vote.node_id, vote.actor), vote) for vote in run_votes]
    return {run_id for run_id, _, _ in marked}


def _cast_between(tx: Transaction, workspace: str, taught_from: datetime | None) -> Sequence[Vote]:
    """The votes between `taught_from` and the current time of the first teacher vote; none if these are equal."""
    times = {taught_from, tx.people.known_people(workspace, ()).taught_from}
    if len(times) == 1:
        return ()
    start, *later = sorted(at for at in times if at is not None)
    return tx.teaching.votes_between(workspace, start, later[0] if later else None)


def runs_with_changed_standing(tx: Transaction, workspace: str, taught_from: datetime | None) -> set[str]:
    """The runs with votes whose standing may have changed since the first teacher vote was at `taught_from`."""
    return {vote.run_id for vote in _cast_between(tx, workspace, taught_from)}


def _update_trust_evidence(
    tx: Transaction,
    workspace: str,
    before: Mapping[str, Sequence[Vote]],
    votes: Mapping[str, Sequence[Vote]],
    records: dict[str, TrustRecord],
    policy: TeachingPolicy,
    *,
    from_scratch: bool,
) -> set[str]:
    """Store what the votes prove about voters, also in `records`. Returns the runs of voters whose weight changed."""
    changed = {}
    for run_id, cast in votes.items():
        # Only the vote of an administrator or teacher proves anything, and only about others.
        all_votes = (*before[run_id], *cast)
        is_proof = len({vote.actor for vote in all_votes}) > 1 and any(vote.role.may_promote for vote in all_votes)
        if from_scratch or is_proof:
            proven = trust_evidence_of(cast)
            if proven != tx.teaching.trust_evidence(workspace, run_id):
                changed[run_id] = proven
    if not changed:
        return set()
    # All voters before and after: a first vote here may prove somebody right or wrong who also voted on other runs.
    voters = {vote.actor for run_id in changed for vote in (*before[run_id], *votes[run_id])}
    known = tx.teaching.record_of(workspace, voters)
    for run_id, proven in changed.items():
        tx.teaching.set_trust_evidence(workspace, run_id, proven)
    proven_now = tx.teaching.record_of(workspace, voters)
    records.update(proven_now)
    others = [actor for actor in voters if _weighs_otherwise(known[actor], proven_now[actor], policy)]
    # Votes beyond a limit never count for others, so a changed weight does not matter there.
    return tx.teaching.runs_voted_on(workspace, others, within_limit=True)


def _weighs_otherwise(known: TrustRecord, now: TrustRecord, policy: TeachingPolicy) -> bool:
    """Whether a new record changes the voter's weight in any role, as roles may differ between votes."""
    return any(weight(*known, role, policy) != weight(*now, role, policy) for role in (Role.MEMBER, Role.TEACHER))


def _changed(
    before: Mapping[str, Sequence[Vote]], votes: Mapping[str, Sequence[Vote]], *, from_scratch: bool
) -> dict[str, list[Vote]]:
    """Added, removed and moved votes by voter, in order; all votes if `from_scratch`.

    Only votes that may be limited, as others affect no limit.
    """
    old, new = (
        {(*_place(vote), vote.actor): vote for each in by.values() for vote in each if may_be_limited(vote)}
        for by in (before, votes)
    )
    found: dict[str, dict[tuple[datetime, str, str], Vote]] = {}
    for key in old.keys() | new.keys() if from_scratch else old.keys() ^ new.keys():
        vote = old.get(key) or new[key]
        found.setdefault(vote.actor, {})[_place(vote)] = vote
    return {actor: [vote for _, vote in sorted(own.items())] for actor, own in found.items()}


def _place(vote: Vote | PlacedVote) -> tuple[datetime, str, str]:
    """The sort key of a vote among those of its voter."""
    return vote.at, vote.run_id, vote.node_id


def _update_limits(
    tx: Transaction,
    workspace: str,
    votes: dict[str, list[Vote]],
    changed: Mapping[str, Sequence[Vote]],
    policy: TeachingPolicy,
) -> set[str]:
    """Update `is_limited` of all votes that these changes (by voter) may affect, also in `votes`.

    Returns the runs with a changed mark.
    """
    marks: dict[tuple[str, str, str], bool] = {}
    waiting = {actor: deque(own) for actor, own in changed.items()}
    at_once = _AT_ONCE if sum(map(len, waiting.values())) < _MANY else None
    while waiting:
        first = [vote for own in waiting.values() for vote in islice(own, at_once)]
        around: dict[str, list[PlacedVote]] = {actor: [] for actor in waiting}
        for each in tx.teaching.votes_around(first, window=policy.window, limit=policy.votes_per_window):
            around[each.actor].append(each)
        for actor, own in waiting.items():
            for vote, is_limited in _recounted(own, around[actor], policy, at_once):
                if is_limited != vote.is_limited:
                    marks[vote.run_id, vote.node_id, actor] = is_limited
        waiting = {actor: own for actor, own in waiting.items() if own}
    if marks:
        tx.teaching.mark_limited(workspace, marks)
        for run_id, run_votes in votes.items():
            votes[run_id] = [_marked(vote, marks) for vote in run_votes]
    return {run_id for run_id, _, _ in marks}


def _marked(vote: Vote, marks: Mapping[tuple[str, str, str], bool]) -> Vote:
    mark = marks.get((vote.run_id, vote.node_id, vote.actor), vote.is_limited)
    return vote if mark is vote.is_limited else replace(vote, is_limited=mark)


def _recounted(
    waiting: deque[Vote], around: Sequence[PlacedVote], policy: TeachingPolicy, at_once: int | None
) -> Iterator[tuple[PlacedVote, bool]]:
    """The votes of one voter that the first waiting changes affect, with whether each is beyond the limit now.

    A vote is limited by the vote `votes_per_window` places before it. So a change affects the vote itself and at most
    that many after it, within one window.
    """
    most = policy.votes_per_window
    for first in list(islice(waiting, at_once)):
        if not waiting or waiting[0] is not first:
            continue
        waiting.popleft()
        start = bisect_left(around, _place(first))
        stretch = [vote for vote in around[start : start + most + 1] if vote.at < first.at + policy.window]
        for number, vote in enumerate(stretch, start):
            yield vote, is_beyond_limit(number, around, policy)
        # Of further changes within this stretch, only the last one affects votes beyond it.
        end = _place(stretch[-1] if stretch else first)
        while len(waiting) > 1 and _place(waiting[1]) <= end:
            waiting.popleft()


def weights_of(tx: Transaction, workspace: str, votes: Sequence[Vote], policy: TeachingPolicy) -> dict[str, float]:
    """The weight for others of each of these voters."""
    return weights(votes, tx.teaching.record_of(workspace, [vote.actor for vote in votes]), policy)


def with_standings(tx: Transaction, workspace: str, votes: Sequence[Vote]) -> list[Vote]:
    """The same votes with their standings."""
    known = tx.people.known_people(workspace, {vote.actor for vote in votes})
    return [replace(vote, standing=standing(vote, known)) for vote in votes]


def with_limits(tx: Transaction, votes: Sequence[Vote], policy: TeachingPolicy) -> list[Vote]:
    """The same votes with `is_limited`. All of them must be stored."""
    counted = [vote for vote in votes if may_be_limited(vote)]
    around: dict[str, list[PlacedVote]] = {}
    for each in tx.teaching.votes_around(counted, window=policy.window, limit=policy.votes_per_window):
        around.setdefault(each.actor, []).append(each)
    limited = {
        (each.run_id, each.node_id, actor)
        for actor, own in around.items()
        for number, each in enumerate(own)
        if is_beyond_limit(number, own, policy)
    }
    return [replace(vote, is_limited=(vote.run_id, vote.node_id, vote.actor) in limited) for vote in votes]


def runs_of_voters(tx: Transaction, workspace: str, run_ids: Iterable[str]) -> set[str]:
    """All runs with votes of people who voted on these runs, which an erasure of these may affect."""
    polls = tx.teaching.polls(workspace, run_ids)
    return tx.teaching.runs_voted_on(workspace, {vote.actor for poll in polls.values() for vote in poll.votes})


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """An answer's first node, with the votes on the answer, the voters' weights for others, and the reactions."""

    root: Episode
    votes: Sequence[Vote]
    weights: Mapping[str, float]
    reactions: Sequence[Reaction]

    def judgements(self, evidence: EvidenceRecord) -> list[Judgement]:
        """The votes' judgements of the best candidate in this evidence."""
        return judgements_of(self.root, evidence, without_implied(self.votes, self.reactions), self.weights)


def fold_judgements(tx: Transaction, workspace: str, runs: Sequence[JudgedRun]) -> dict[str, list[Judgement]]:
    """The votes' judgements of the best candidates, by run; none for runs without evidence."""
    evidence = tx.retrievals.evidence_of_runs(workspace, [each.root.run_id for each in runs])
    nothing = EvidenceRecord()
    return {each.root.run_id: each.judgements(evidence.get(each.root.run_id, nothing)) for each in runs}


def keep_judgements(
    tx: Transaction, workspace: str, runs: Sequence[JudgedRun], polls: Mapping[str, Poll], budget: float
) -> None:
    """Update the stored judgements of these answers, and the threshold if any changed.

    `polls` has the stored state of each run.
    """
    stored = {each.root.run_id: polls[each.root.run_id].judgements for each in runs}
    judgements = {each.root.run_id: each.judgements(polls[each.root.run_id].evidence) for each in runs}
    if tx.judgements.set(workspace, judgements, stored=stored):
        count_threshold(tx, workspace, budget, stored=next((poll.threshold for poll in polls.values()), None))


def erase_judgements(tx: Transaction, workspace: str, run_ids: Collection[str], budget: float) -> None:
    """Erase the judgements of erased answers, and recompute the threshold."""
    if tx.judgements.delete_runs(workspace, run_ids):
        count_threshold(tx, workspace, budget, stored=tx.judgements.threshold(workspace))


def count_threshold(
    tx: Transaction, workspace: str, budget: float, *, stored: Threshold | None, confusion: float | None = None
) -> None:
    """Compute the workspace's threshold for this error budget, and store it unless it equals `stored`.

    `confusion` is the one of `stored` by default, or 1.
    """
    if confusion is None:
        confusion = stored.confusion if stored else 1.0
    new = counted_threshold(workspace, tx.judgements.counts(workspace, newest_counted(budget)), budget, confusion)
    if new != stored:
        tx.judgements.put_threshold(new)


def threshold_of(tx: Transaction, workspace: str, budget: float) -> float:
    """The workspace's threshold for this error budget: the stored one, or computed if stored for another budget."""
    stored = tx.judgements.threshold(workspace)
    if stored is not None and stored.budget == budget:
        return stored.value
    if stored is None:
        return first_threshold(budget)
    return threshold(tx.judgements.counts(workspace, newest_counted(budget)), budget, stored.confusion)

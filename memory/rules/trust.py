"""How much one person's vote weighs for others: anchored on what administrators verified, never on agreement alone.

A newcomer's weighs nothing, whatever it is, until the workspace knows them (`standing`), or a teacher or administrator
confirmed something of theirs. Where there is a teacher, members propose: only who is trusted most still decides.

Weights without verified items can fail badly, and anchored ones beat the majority with 5 % of the items verified. A
weight is the log-odds of Beta(2 + right, 1 + wrong): 1 for a newcomer, never below zero, for a bad voter counted in
reverse could be gamed, and never above `MAX_WEIGHT`, for an account can be stolen.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from memory.model import MAX_WEIGHT, KnownPeople, Role, Standing, TeachingPolicy, TrustEvidence, TrustRecord, Vote

CORRECTION = "correction"
"""Source of an author's own vote on a lesson that they wrote; with the lesson's id, of the 👎 this implies."""

REVIEW = "review"
"""Source of a teacher's vote that makes a lesson count which nobody had a say in yet."""


def evidence_of(votes: Iterable[Vote]) -> list[TrustEvidence]:
    """What a run's votes prove about its voters, by node, then actor. Pure; the order of the input does not matter.

    A vote that says the same as the administrator's counts only if it was cast before: agreeing with what is shown as
    verified proves nothing. One that says the opposite always counts. Where no administrator voted, a teacher confirms
    members in the same way, but proves nobody wrong: teachers may err.
    """
    cast = list(votes)
    decrees: dict[str, Vote] = {}
    taught: dict[tuple[str, int], Vote] = {}
    for vote in cast:
        known = decrees.get(vote.node_id)
        if vote.role is Role.ADMIN and (known is None or (vote.at, vote.actor) > (known.at, known.actor)):
            decrees[vote.node_id] = vote
        first = taught.get((vote.node_id, vote.value))
        if vote.role is Role.TEACHER and (first is None or vote.at < first.at):
            taught[vote.node_id, vote.value] = vote
    found: list[TrustEvidence] = []
    for vote in sorted(cast, key=lambda vote: (vote.node_id, vote.actor)):
        decree = decrees.get(vote.node_id)
        if decree is None and vote.role is Role.MEMBER:
            decree = taught.get((vote.node_id, vote.value))
        if decree is None or vote.role not in (Role.MEMBER, Role.TEACHER):
            continue
        agrees = vote.value == decree.value
        if agrees and vote.at >= decree.at:
            continue
        found.append(
            TrustEvidence(
                workspace=vote.workspace,
                run_id=vote.run_id,
                node_id=vote.node_id,
                actor=vote.actor,
                agrees=agrees,
            )
        )
    return found


@lru_cache(maxsize=4096)
def weight(right: int, wrong: int, role: Role, policy: TeachingPolicy) -> float:
    """What a vote of somebody with this record weighs for a channel or a workspace, 0..`MAX_WEIGHT`."""
    start = policy.trust_agree + (policy.trust_teacher if role is Role.TEACHER else 0.0)
    odds = math.log2((start + right) / (policy.trust_disagree + wrong))
    return round(min(MAX_WEIGHT, max(0.0, odds)), 6)


def weights(votes: Iterable[Vote], records: Mapping[str, TrustRecord], policy: TeachingPolicy) -> dict[str, float]:
    """What each of these voters weighs for others."""
    found: dict[str, float] = {}
    for vote in votes:
        own = voice_weight(vote.standing, *records.get(vote.actor, (0, 0)), vote.role, policy)
        found[vote.actor] = max(own, found.get(vote.actor, 0.0))
    return found


def voice_weight(standing: Standing, right: int, wrong: int, role: Role, policy: TeachingPolicy) -> float:
    """The weight of one vote: nothing for a guest, nor for a newcomer of whom nothing was confirmed."""
    if role in (Role.GUEST, Role.BOT):
        return 0.0
    return 0.0 if standing is Standing.NEWCOMER and not right else weight(right, wrong, role, policy)


def standing(vote: Vote, known: KnownPeople) -> Standing:
    """What a vote may do for others. Pure: it depends on when it was cast, not on when it is looked at."""
    if vote.role is not Role.MEMBER:
        return Standing.DECIDES
    if vote.actor in known.known_from and vote.at < known.known_from[vote.actor]:
        return Standing.NEWCOMER
    is_taught = known.taught_from is not None and vote.at >= known.taught_from
    return Standing.PROPOSES if is_taught else Standing.DECIDES


def may_be_limited(vote: Vote) -> bool:
    """Whether a vote can be beyond its voter's limit, and uses some of it up.

    Not an administrator's; nor what a teacher says by correcting, teaching or reviewing, which is their work. Stores
    read by the same rule (`TeachingTable.votes_around`).
    """
    kind = vote.source.partition(":")[0]
    return vote.role is not Role.ADMIN and not (vote.role.may_promote and kind in (CORRECTION, REVIEW))


def is_beyond_limit(earlier: Sequence[datetime], vote: Vote, policy: TeachingPolicy) -> bool:
    """Whether the times of its voter's votes right before this one, the oldest first, leave no room in its window.

    Of those that may be limited, as many as the limit are enough to tell: the oldest of them is within the window, or
    the window has room.
    """
    most = policy.votes_per_window
    return may_be_limited(vote) and len(earlier) >= most and earlier[-most] > vote.at - policy.window

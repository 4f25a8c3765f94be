"""Votes of the registers, what each weighs for others, and the verdict they make for each audience. Pure.

One person's weight is anchored on what administrators verified, never on agreement alone. A newcomer's is nothing,
whatever the vote, until the workspace knows them (`standing`), or a teacher or administrator confirmed something of
theirs. Where there is a teacher, members propose: only who is trusted most still decides.

Weights without verified items can fail badly, and anchored ones beat the majority with 5 % of the items verified. A
weight is the log-odds of Beta(2 + right, 1 + wrong): 1 for a newcomer, never below zero, for a bad voter counted in
reverse could be gamed, and never above `MAX_WEIGHT`, for an account can be stolen.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from memory.model import (
    MAX_WEIGHT,
    Audience,
    Episode,
    KnownPeople,
    PlacedVote,
    Reaction,
    Role,
    Standing,
    TeachingPolicy,
    Termination,
    TrustEvidence,
    TrustRecord,
    Verdict,
    Verdicts,
    Vote,
)

CORRECTION = "correction"
"""Source of an author's own vote on a lesson that they wrote; with the lesson's id, of the 👎 this implies."""

REVIEW = "review"
"""Source of a teacher's vote that makes a lesson count which nobody had a say in yet."""


def fold_votes(reactions: Iterable[Reaction]) -> list[Vote]:
    """One vote per person and target: their latest active signal that carries a judgement.

    Order of the input does not matter; ties of time go to the later arrival. Without such a signal there is no vote.
    """
    latest: dict[tuple[str, str, str], Reaction] = {}
    for reaction in reactions:
        if not reaction.is_active or reaction.value == 0 or reaction.role is Role.BOT:
            continue
        key = (reaction.run_id, reaction.node_id, reaction.actor)
        if key not in latest or (reaction.at, reaction.seq) > (latest[key].at, latest[key].seq):
            latest[key] = reaction
    return [
        Vote(
            workspace=reaction.workspace,
            run_id=reaction.run_id,
            node_id=reaction.node_id,
            actor=reaction.actor,
            role=reaction.role,
            value=reaction.value,
            at=reaction.at,
            source=reaction.source,
            event_id=reaction.event_id,
        )
        for _, reaction in sorted(latest.items())
    ]


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


def is_beyond_limit(number: int, votes: Sequence[PlacedVote], policy: TeachingPolicy) -> bool:
    """Whether the vote of this number has no room in its window, among those of its voter that may be limited.

    One before it is enough to tell, as many places as the limit says: it is within the window, or the window has room.
    """
    most = policy.votes_per_window
    return number >= most and votes[number - most].at > votes[number].at - policy.window


def is_news(reaction: Reaction, known: Reaction | None) -> bool:
    """Whether a signal says more than its register: later, or at the same moment something else.

    The register is last-writer-wins by the platform's time, so the order of delivery cannot matter.
    """
    if known is None or reaction.at != known.at:
        return known is None or reaction.at > known.at
    return (reaction.is_active, reaction.value, reaction.role) != (known.is_active, known.value, known.role)


def ballots(episode: Episode, votes: Iterable[Vote]) -> list[Vote]:
    """The votes that speak about this node.

    A vote on the node itself replaces the same person's vote on the whole answer. 👍 on the answer speaks for every
    node, 👎 only for the root and for nodes that failed by themselves: nobody said the others were wrong.
    """
    by_actor: dict[str, Vote] = {}
    for vote in sorted(votes, key=lambda vote: vote.node_id != ""):
        if vote.role in (Role.GUEST, Role.BOT):
            continue
        if vote.node_id == episode.id or (vote.node_id == "" and _reaches(episode, vote)):
            by_actor[vote.actor] = vote
    return list(by_actor.values())


def _reaches(episode: Episode, vote: Vote) -> bool:
    return vote.value > 0 or episode.is_root or episode.termination is Termination.FAILURE


def judge(
    episode: Episode, votes: Iterable[Vote], policy: TeachingPolicy, weights: Mapping[str, float] | None = None
) -> Verdicts:
    """The verdict in each audience. Pure: the same votes in any order give the same verdicts.

    `weights` says what each person's vote weighs for others (`memory.rules.verdict`); whoever is not in it weighs 1.
    For the asker's own scope neither weights nor limits matter.
    """
    cast = ballots(episode, votes)
    decree = _latest([vote for vote in cast if vote.role is Role.ADMIN])
    personal = decree or _of_value(next((vote.value for vote in cast if vote.actor == episode.person), 0))
    weighed = weights or {}
    counted = [vote for vote in cast if not vote.is_limited and weighed.get(vote.actor, 1.0) > 0]
    channel = decree or _channel(episode, counted, policy, weighed)
    if channel is Verdict.PENDING and episode.promoted is not None:
        channel = personal
    workspace = channel if episode.promoted is Audience.WORKSPACE and channel.is_validated else Verdict.PENDING
    proposed = Verdict.PENDING if channel.is_validated else _proposed(counted)
    return Verdicts(personal=personal, channel=channel, workspace=workspace, proposed=proposed)


def _channel(
    episode: Episode, counted: Sequence[Vote], policy: TeachingPolicy, weights: Mapping[str, float]
) -> Verdict:
    """Teachers decide if any voted; else enough others of one mind.

    Against a refusal nobody may be, the asker included. An approval holds against fewer who refuse than approve, so
    that one person alone unmakes nothing. Votes beyond a person's limit, of newcomers, and of people whose trust is
    used up are not among those counted; those of members where there is a teacher only propose.
    """
    taught = {vote.value for vote in counted if vote.role is Role.TEACHER}
    if taught:
        return Verdict.DISPUTED if len(taught) > 1 else _of_value(taught.pop())
    deciding = [(vote, weight) for vote in counted if vote.decides(weight := weights.get(vote.actor, 1.0))]
    ups = [weight for vote, weight in deciding if vote.value > 0]
    downs = [weight for vote, weight in deciding if vote.value < 0]
    others = [(vote.value, weight) for vote, weight in deciding if vote.actor != episode.person]
    if sum(ups) > sum(downs) and _is_quorum([weight for value, weight in others if value > 0], policy.quorum_up):
        return Verdict.SUCCESS
    if ups and downs:
        return Verdict.DISPUTED
    if downs and _is_quorum([weight for _, weight in others], policy.quorum_down):
        return Verdict.FAILURE
    return Verdict.PENDING


def _proposed(counted: Sequence[Vote]) -> Verdict:
    """What those say of whom no quorum, and no teacher, says more."""
    values = {vote.value for vote in counted}
    return Verdict.DISPUTED if len(values) > 1 else _of_value(next(iter(values), 0))


def _is_quorum(weights: Sequence[float], quorum: int) -> bool:
    """Whether enough weight came together, from at least two people unless one is asked for."""
    return len(weights) >= min(quorum, 2) and sum(weights) >= quorum


def _latest(votes: Sequence[Vote]) -> Verdict | None:
    """The newest of several administrators' decisions; ties go to the later name so that order cannot matter."""
    if not votes:
        return None
    return _of_value(max(votes, key=lambda vote: (vote.at, vote.actor)).value)


def _of_value(value: int) -> Verdict:
    return {1: Verdict.SUCCESS, -1: Verdict.FAILURE}.get(value, Verdict.PENDING)

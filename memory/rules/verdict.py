"""Votes of a run's registers, their weights for others, the verdict for each audience, and the judgements.

A person's weight depends on what administrators verified, never on agreement alone. A newcomer's vote weighs 0 until
the workspace knows them (`standing`), or a teacher or administrator confirmed a vote of theirs. If the workspace has a
teacher, members' votes only propose, except of the most trusted ones (`Vote.decides`).

Weights without verified items can fail badly; anchored ones beat the majority with 5 % of the items verified. A weight
is the log2 odds of Beta(2 + right, 1 + wrong) by default: 1 without a record. It is never below 0, as reversed votes of
bad voters could be gamed, and never above `MAX_WEIGHT`, as accounts can be stolen.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from memory.model import (
    ASK,
    MAX_WEIGHT,
    TAP,
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
from memory.model.evidence import EvidenceRecord, Judgement

CORRECTION = "correction"
"""Source of an author's vote on a lesson that they wrote; with the lesson's id, of the 👎 that a correction implies."""

REVIEW = "review"
"""Source of a teacher's vote in a review that validates a lesson without other votes."""

_MY = r"(?:my|mein(?:e[mnrs]?)?)\b"
_ASKS_OF_ONESELF = re.compile(rf"\b{_MY}", re.IGNORECASE)
_OF_ONESELF = re.compile(
    rf"\W*+(?:(?:the|der|die|das)(?:\s++\S++){{1,4}}?\s++(?:of|for|to|from|in|on|von|für|zu)\s++)?{_MY}"
    r"(?:\s++[^\s>→|/]++){1,6}?\s++(?:is|are|was|were|ist|sind|war|waren)\b",
    re.IGNORECASE,
)
"""A statement about "my bike" or "the code of my bike": "My Account > Password" is where somebody finds something."""


def fold_votes(reactions: Iterable[Reaction]) -> list[Vote]:
    """One vote per person and target: their latest active reaction with a non-zero value.

    The order of the input does not matter; of equal times, the later arrival counts. Bots have no votes.
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


def trust_evidence_of(votes: Iterable[Vote]) -> list[TrustEvidence]:
    """What a run's votes prove about its voters, by node, then actor. The order of the input does not matter.

    A vote that agrees with the administrator's counts only if it was cast before, as agreeing with a verified answer
    proves nothing. One that disagrees always counts. If no administrator voted, a teacher confirms members in the same
    way, but proves nobody wrong, as teachers may err.
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
    """The weight for others of a vote with this record, 0..`MAX_WEIGHT`."""
    start = policy.trust_agree + (policy.trust_teacher if role is Role.TEACHER else 0.0)
    odds = math.log2((start + right) / (policy.trust_disagree + wrong))
    return round(min(MAX_WEIGHT, max(0.0, odds)), 6)


def weights(votes: Iterable[Vote], records: Mapping[str, TrustRecord], policy: TeachingPolicy) -> dict[str, float]:
    """The weight for others of each voter."""
    found: dict[str, float] = {}
    for vote in votes:
        own = voice_weight(vote.standing, *records.get(vote.actor, (0, 0)), vote.role, policy)
        found[vote.actor] = max(own, found.get(vote.actor, 0.0))
    return found


def voice_weight(standing: Standing, right: int, wrong: int, role: Role, policy: TeachingPolicy) -> float:
    """The weight of one vote: 0 for guests, bots, and newcomers without a confirmed vote."""
    if role in (Role.GUEST, Role.BOT):
        return 0.0
    return 0.0 if standing is Standing.NEWCOMER and not right else weight(right, wrong, role, policy)


def standing(vote: Vote, known: KnownPeople) -> Standing:
    """What a vote may decide for others. It depends on when the vote was cast, not on the present time."""
    if vote.role is not Role.MEMBER:
        return Standing.DECIDES
    if vote.actor in known.known_from and vote.at < known.known_from[vote.actor]:
        return Standing.NEWCOMER
    is_taught = known.taught_from is not None and vote.at >= known.taught_from
    return Standing.PROPOSES if is_taught else Standing.DECIDES


def may_be_limited(vote: Vote) -> bool:
    """Whether a vote counts towards its voter's limit, and may exceed it.

    Not an administrator's votes, nor a teacher's by correcting, teaching or reviewing, which is their work. Stores use
    the same rule (`TeachingTable.votes_around`).
    """
    kind = vote.source.partition(":")[0]
    return vote.role is not Role.ADMIN and not (vote.role.may_promote and kind in (CORRECTION, REVIEW))


def is_beyond_limit(number: int, votes: Sequence[PlacedVote], policy: TeachingPolicy) -> bool:
    """Whether the vote at this index exceeds the limit per window. `votes` are the voter's limitable ones, by time.

    It does if the vote `votes_per_window` places before it is within the window.
    """
    most = policy.votes_per_window
    return number >= most and votes[number - most].at > votes[number].at - policy.window


def changes_register(reaction: Reaction, known: Reaction | None) -> bool:
    """Whether a reaction changes its register: it is later, or differs at the same time.

    Registers are last-writer-wins by the platform's time, so the order of delivery does not matter.
    """
    if known is None or reaction.at != known.at:
        return known is None or reaction.at > known.at
    return (reaction.is_active, reaction.value, reaction.role) != (known.is_active, known.value, known.role)


def ballots(episode: Episode, votes: Iterable[Vote]) -> list[Vote]:
    """The votes that apply to this node.

    A vote on the node replaces the same person's vote on the whole answer. 👍 on the answer applies to all nodes, 👎
    only to the root and to failed nodes, as the others may be right.
    """
    by_actor: dict[str, Vote] = {}
    for vote in sorted(votes, key=lambda vote: vote.node_id != ""):
        if vote.role in (Role.GUEST, Role.BOT):
            continue
        if vote.node_id == episode.id or (vote.node_id == "" and _applies_to(episode, vote)):
            by_actor[vote.actor] = vote
    return list(by_actor.values())


def _applies_to(episode: Episode, vote: Vote) -> bool:
    return vote.value > 0 or episode.is_root or episode.termination is Termination.FAILURE


def judge(
    episode: Episode, votes: Iterable[Vote], policy: TeachingPolicy, weights: Mapping[str, float] | None = None
) -> Verdicts:
    """The verdict for each audience. The order of the votes does not matter.

    `weights` are the weights for others by person, 1 if missing. In the asker's personal verdict neither weights nor
    limits matter. What is true of one person (`is_of_oneself`) is no success for others until somebody promotes it.
    """
    cast = ballots(episode, votes)
    decree = _newest_decision([vote for vote in cast if vote.role is Role.ADMIN])
    personal = decree or _verdict_of(next((vote.value for vote in cast if vote.actor == episode.person), 0))
    weighed = weights or {}
    counted = [vote for vote in cast if not vote.is_limited and weighed.get(vote.actor, 1.0) > 0]
    channel = decree or _channel(episode, counted, policy, weighed)
    is_personal = is_of_oneself(episode)
    if is_personal and channel is Verdict.SUCCESS:
        channel = Verdict.PENDING
    if channel is Verdict.PENDING and episode.promoted is not None:
        channel = personal
    workspace = channel if episode.promoted is Audience.WORKSPACE and channel.is_validated else Verdict.PENDING
    proposed = Verdict.PENDING if channel.is_validated or is_personal else _proposed(counted)
    return Verdicts(personal=personal, channel=channel, workspace=workspace, proposed=proposed)


def is_of_oneself(episode: Episode) -> bool:
    """Whether the answer is about whoever asks: "my birthday is 4 May", to "when is my birthday?"."""
    if _ASKS_OF_ONESELF.search(episode.goal) is None:
        return False
    # What a person told to remember without a question, as "4711 is my PIN", is its own.
    return episode.output == episode.goal or _OF_ONESELF.match(episode.output) is not None


def _channel(
    episode: Episode, counted: Sequence[Vote], policy: TeachingPolicy, weights: Mapping[str, float]
) -> Verdict:
    """The channel's verdict: the teachers' if any voted, else that of a quorum.

    For a failure, nobody may approve, the asker included. For a success, approvals must weigh more than objections, so
    that one person cannot undo it alone. `counted` has no votes beyond a limit or of weight 0; votes that only propose
    are ignored.
    """
    taught = {vote.value for vote in counted if vote.role is Role.TEACHER}
    if taught:
        return Verdict.DISPUTED if len(taught) > 1 else _verdict_of(taught.pop())
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
    """The verdict that the counted votes propose, for a channel without a decision."""
    values = {vote.value for vote in counted}
    return Verdict.DISPUTED if len(values) > 1 else _verdict_of(next(iter(values), 0))


def _is_quorum(weights: Sequence[float], quorum: int) -> bool:
    """Whether the weights reach the quorum, from at least two people unless the quorum is 1."""
    return len(weights) >= min(quorum, 2) and sum(weights) >= quorum


def _newest_decision(votes: Sequence[Vote]) -> Verdict | None:
    """The verdict of the newest vote; None without votes. Of equal times, the later name counts."""
    if not votes:
        return None
    return _verdict_of(max(votes, key=lambda vote: (vote.at, vote.actor)).value)


def _verdict_of(value: int) -> Verdict:
    return {1: Verdict.SUCCESS, -1: Verdict.FAILURE}.get(value, Verdict.PENDING)


def without_implied(votes: Iterable[Vote], reactions: Iterable[Reaction]) -> list[Vote]:
    """The votes without those that only follow from a correction.

    People correct wrong answers only, so implied votes would overstate the share of wrong ones. A person who reacted,
    too, keeps that vote. `reactions` are all reactions on the answer.
    """
    every = list(votes)
    if not any(is_implied(each.source) for each in every):
        return every
    own = fold_votes(each for each in reactions if not is_implied(each.source))
    own_votes = {(each.node_id, each.actor): each for each in own}
    found: list[Vote] = []
    for vote in every:
        if not is_implied(vote.source):
            found.append(vote)
        elif own_vote := own_votes.get((vote.node_id, vote.actor)):
            found.append(replace(own_vote, is_limited=vote.is_limited, standing=vote.standing))
    return found


def is_implied(source: str) -> bool:
    """Whether votes of this source only follow from a correction."""
    return source.startswith(f"{CORRECTION}:")


def judgements_of(
    root: Episode, evidence: EvidenceRecord, votes: Iterable[Vote], weights: Mapping[str, float]
) -> list[Judgement]:
    """The judgements of an answer's voters, one each at most, sorted by voter. Pure; the votes' order does not matter.

    `evidence` is that of the answer's first node `root`, `weights` has the voters' weights for others. A vote on the
    best candidate judges it. A tap on another option judges it as wrong, and so does "none of these" (a 👎 on the
    question). Other votes are no judgements, and neither are votes on a question that was asked although the evidence
    was sure, as it was about something else.
    """
    if not evidence.beliefs:
        return []
    confidence = min(100, max(0, int(evidence.confidence * 100 + 1e-9)))
    given = [
        (vote, is_right, weights.get(vote.actor, 1.0) > 0 and not vote.is_limited)
        for vote, is_right in _on_the_best(root, evidence, ballots(root, votes))
    ]
    approving = {vote.actor for vote, is_right, is_known in given if is_right and is_known} - {root.person}
    return [
        Judgement(
            workspace=root.workspace,
            run_id=root.run_id,
            actor=vote.actor,
            at=root.created_at,
            confidence=confidence,
            is_right=is_right,
            is_known=is_known,
            is_checked=vote.actor == root.person or not approving <= {vote.actor},
        )
        for vote, is_right, is_known in given
    ]


def _on_the_best(root: Episode, evidence: EvidenceRecord, votes: Iterable[Vote]) -> Iterator[tuple[Vote, bool]]:
    """The votes that judge the best candidate, each with whether it was right, sorted by voter."""
    for vote in sorted(votes, key=lambda vote: vote.actor):
        if evidence.is_sure and (root.action == ASK or vote.source == TAP):
            continue
        if evidence.is_followed:
            yield vote, vote.value > 0
        elif vote.value < 0 if root.action == ASK else vote.value > 0 and vote.source == TAP:
            yield vote, False

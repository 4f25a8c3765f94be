"""The verdict as a pure function of the votes, for each audience."""

from collections.abc import Iterable, Mapping, Sequence

from memory.model import Audience, Episode, Reaction, Role, TeachingPolicy, Termination, Verdict, Verdicts, Vote


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

    `weights` says what each person's vote weighs for others (`memory.rules.trust`); whoever is not in it weighs 1.
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

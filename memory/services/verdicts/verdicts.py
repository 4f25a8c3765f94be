"""From a reaction to a lesson: registers, votes, their weights, verdicts, the recall index.

Read it from top to bottom. `write_votes` stores reactions; `memory.services.verdicts.tally` turns registers into
votes; `_rejudge` turns votes into verdicts; `Changes` collects the results and writes them. `settle` and `refold` do
the same without a new reaction, `apply_reactions` for reactions on many answers.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory.model import Episode, EventKind, KnownPeople, LedgerEntry, Poll, Reaction, TeachingPolicy, Verdicts, Vote
from memory.ports import Transaction
from memory.ports.people import EVERYBODY
from memory.rules.audience import has_narrowed
from memory.rules.fold import reaction_detail, replay
from memory.rules.verdict import changes_register, judge, weights
from memory.services.core import Cause, Changes, Core, event, update_index
from memory.services.verdicts.archive import restored_by_reaction
from memory.services.verdicts.tally import JudgedRun, keep_judgements, update_votes


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonMark:
    """Whether an answer is a lesson, and the message to show it on."""

    run_id: str
    is_lesson: bool
    message: LedgerEntry | None = None
    """The last part that was posted; None if none was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteResult:
    """What a teaching act did to an answer."""

    is_known: bool
    """Whether the message belongs to an answer at all."""
    changed: bool = False
    """Whether anything was stored. False for repeats, late deliveries and emoji without effect."""
    is_new_opinion: bool = False
    """Whether the value of the person's vote changed."""
    value: int = 0
    """The person's vote on the answer after the act; 0 if they have none."""
    root: Episode | None = None
    """The answer's first node after the act."""
    is_limited: bool = False
    """Whether the vote is beyond the voter's limit in the window, so that it counts for their own scope only."""
    was: Verdicts = field(default_factory=Verdicts)
    """The first node's verdicts before."""
    parts: Sequence[Episode] = ()
    """The answer's other nodes."""
    other_nodes: Sequence[tuple[Verdicts, Episode]] = ()
    """(verdicts before, episode after) of all nodes of other answers whose verdicts changed by trust or limits."""
    marks: Sequence[LessonMark] = ()
    """The answers that became a lesson or stopped being one. Only for a reaction on a message."""
    is_first_objection: bool = False
    """Whether it is the person's first vote against this answer. Only for a reaction on a message."""
    is_first_beyond_limit: bool = False
    """Whether it is the person's first vote beyond the limit in this hour. Only for a reaction on a message."""

    @property
    def is_lesson(self) -> bool:
        """Whether the answer is a lesson after the act, in any audience."""
        return self.root is not None and self.root.is_lesson

    @property
    def was_lesson(self) -> bool:
        """Whether it was a lesson before."""
        return self.was.overall.is_validated


@dataclass(frozen=True, slots=True, kw_only=True)
class RegradeResult:
    """A run after its reactions were folded."""

    nodes: Sequence[tuple[Verdicts, Episode]]
    """(verdicts before, episode after) of all nodes, the root first."""
    before: Sequence[Vote]
    votes: Sequence[Vote]
    other_nodes: Sequence[tuple[Verdicts, Episode]] = ()
    """The same for all nodes of other runs whose verdicts changed."""


# Registers --------------------------------------------------------------------------------------------------------


def write_votes(
    core: Core,
    tx: Transaction,
    now: datetime,
    *reactions: Reaction,
    reason: str = "",
    detail: Mapping[str, object] | None = None,
) -> VoteResult:
    """Write reactions on one run to registers and log, and update votes, verdicts and the index.

    `detail` is added to each event. Reactions that bring no news to their register are ignored, and all of them if the
    run or the node is unknown. The result is about the last reaction.
    """
    last = reactions[-1]
    nodes = tx.episodes.of_run(last.workspace, last.run_id)
    is_of_node = last.is_active and last.node_id != ""
    if not nodes or (is_of_node and last.node_id not in {node.id for node in nodes}):
        return VoteResult(is_known=False)
    changes = Changes()
    given = ReactionSet(reactions=reactions, at=now, reason=reason, detail=detail or {})
    applied = apply_reactions(core, tx, {last.run_id: nodes}, [given], changes)
    if not applied.news:
        return VoteResult(is_known=True, root=nodes[0], was=nodes[0].verdicts)
    tx.teaching.put_reactions(*applied.news, events=changes.write(tx))
    regraded = applied.runs[last.run_id]
    was, root = regraded.nodes[0]
    before, after = _vote_of(regraded.before, last), _vote_of(regraded.votes, last)
    return VoteResult(
        is_known=True,
        changed=True,
        is_new_opinion=_value(after) != _value(before),
        value=_value(after),
        is_limited=after is not None and after.is_limited,
        root=root,
        was=was,
        parts=[node for _, node in regraded.nodes[1:]],
        other_nodes=regraded.other_nodes,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionSet:
    """Reactions on one answer, stored at the same time."""

    reactions: Sequence[Reaction]
    at: datetime
    reason: str = ""
    detail: Mapping[str, object] = field(default_factory=dict[str, object])
    """Added to the detail of each event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedReactions:
    """The result of `apply_reactions`."""

    news: Sequence[Reaction]
    """Reactions that change their register. Their events are the first of the changes."""
    runs: Mapping[str, RegradeResult]
    """The result for each answer with news, by run."""


def apply_reactions(
    core: Core, tx: Transaction, nodes: Mapping[str, Sequence[Episode]], given: Sequence[ReactionSet], changes: Changes
) -> AppliedReactions:
    """Compute what reactions on answers change, and add it to `changes`, which must have no events yet.

    `nodes` has the answers' nodes, by run. The votes are stored, the registers are not.
    """
    workspace = next(iter(nodes.values()))[0].workspace
    beside = {EVERYBODY, *(each.actor for each_set in given for each in each_set.reactions)}
    polls = tx.teaching.polls(workspace, nodes, people=beside)
    people = next(iter(polls.values())).people
    registers = {each.key: each for poll in polls.values() for each in poll.reactions}
    news: list[Reaction] = []
    causes: dict[str, dict[str, Cause]] = {}
    changing: list[ReactionSet] = []
    for each_set in given:
        last = each_set.reactions[-1]
        root = nodes[last.run_id][0]
        new = [each for each in each_set.reactions if changes_register(each, registers.get(each.key))]
        for each in new:
            registers[each.key] = each
            if each.actor not in people.known_from:
                people = tx.people.note(workspace, each.actor, each_set.at, core.policy.newcomer, known=people)
            kind = EventKind.VOTED if each.is_active else EventKind.UNVOTED
            detail = reaction_detail(each) | dict(each_set.detail)
            changes.events.append(event(root, kind, each.actor, each_set.at, detail=detail))
        if new:
            # In a channel that has narrowed, more people could read the reason once it opens again.
            cause = Cause(last.actor, each_set.at, "" if has_narrowed(root) else each_set.reason)
            # A reason given for one node says nothing of others, which the vote may settle by the weight of voters.
            causes.setdefault(last.run_id, {}).update({"": cause._replace(reason=""), last.node_id: cause})
            news += new
            changing.append(each_set)
    for each_set in changing:
        last = each_set.reactions[-1]
        for node in map(changes.now, nodes[last.run_id]):
            if last.is_active and node.archived_at is not None:
                changes.make(node, restored_by_reaction(tx, node, last.actor, each_set.at))
    if not news:
        return AppliedReactions(news=(), runs={})
    by_run: dict[str, list[Reaction]] = {}
    for each in news:
        by_run.setdefault(each.run_id, []).append(each)
    after = {run_id: [changes.now(node) for node in nodes[run_id]] for run_id in by_run}
    counted = {run_id: _with_news(polls[run_id], new, people) for run_id, new in by_run.items()}
    return AppliedReactions(news=news, runs=_settle(tx, after, counted, changes, core.policy, causes))


def withdraw_votes(
    core: Core,
    tx: Transaction,
    now: datetime,
    *reactions: Reaction,
    at: datetime,
    detail: Mapping[str, object] | None = None,
) -> VoteResult:
    """Withdraw active reactions on one answer, at the time `at` or theirs if later. The result is about all of them."""
    result = VoteResult(is_known=True)
    for each in reactions:
        after = write_votes(core, tx, now, replace(each, is_active=False, at=max(at, each.at)), detail=detail)
        result = replace(after, was=result.was if result.changed else after.was)
    return result


def _with_news(poll: Poll, news: Sequence[Reaction], people: KnownPeople) -> Poll:
    """The poll with these reactions added in this order; of each register the last one is kept."""
    registers = {each.key: each for each in poll.reactions}
    newest = max((each.seq for each in poll.reactions), default=0)
    for seq, each in enumerate(news, newest + 1):
        registers.pop(each.key, None)
        registers[each.key] = replace(each, seq=seq)
    return replace(poll, reactions=tuple(registers.values()), people=people)


def _vote_of(votes: Sequence[Vote], reaction: Reaction) -> Vote | None:
    """The vote of the reaction's person on the reaction's node."""
    mine = (vote for vote in votes if (vote.actor, vote.node_id) == (reaction.actor, reaction.node_id))
    return next(mine, None)


def _value(vote: Vote | None) -> int:
    return vote.value if vote else 0


# Verdicts and the index -------------------------------------------------------------------------------------------


def settle(
    tx: Transaction, workspace: str, run_id: str, actor: str, at: datetime, policy: TeachingPolicy
) -> RegradeResult:
    """Update votes, verdicts and the index from a run's registers, also in other runs it affects, and log changes."""
    changes, nodes = Changes(), tx.episodes.of_run(workspace, run_id)
    poll = tx.teaching.polls(workspace, [run_id])[run_id]
    causes = {run_id: {"": Cause(actor, at)}}
    regraded = _settle(tx, {run_id: nodes}, {run_id: poll}, changes, policy, causes)
    changes.write(tx)
    return regraded[run_id]


def settle_joined(core: Core, tx: Transaction, workspace: str, run_id: str, actor: str) -> None:
    """Apply votes on a whole run to episodes that were just added to it."""
    if any(not vote.node_id for vote in tx.teaching.votes(workspace, run_id)):
        settle(tx, workspace, run_id, actor, core.clock(), core.policy)


def _settle(
    tx: Transaction,
    runs: Mapping[str, Sequence[Episode]],
    polls: Mapping[str, Poll],
    changes: Changes,
    policy: TeachingPolicy,
    causes: Mapping[str, Mapping[str, Cause]],
) -> dict[str, RegradeResult]:
    """Store the votes of runs, and add the resulting changes to `changes`, also those in other runs.

    `causes` has each run's causes by node id; the empty id has that of the last reaction.
    """
    workspace = next(iter(runs.values()))[0].workspace
    tally = update_votes(tx, workspace, polls, policy)
    other_nodes: list[tuple[Verdicts, Episode]] = []
    judged_runs: list[JudgedRun] = []
    read: Mapping[str, Poll] = {}
    if tally.other_runs:
        read, others = tx.teaching.polls(workspace, tally.other_runs), tx.episodes.of_runs(workspace, tally.other_runs)
        last = {"": list(causes.values())[-1][""]._replace(reason="")}
        for other in sorted(others):
            cast = read[other].votes
            weighed = weights(cast, read[other].records, policy)
            rejudged = _rejudge(changes, others[other], cast, weighed, policy, last)
            judged_runs.append(JudgedRun(others[other][0], cast, weighed, read[other].reactions))
            other_nodes += rejudged if any(was != now.verdicts for was, now in rejudged) else []
    settled: dict[str, RegradeResult] = {}
    for run_id, nodes in runs.items():
        votes = tally.votes[run_id]
        weighed = weights(votes, tally.records, policy)
        judged = _rejudge(changes, nodes, votes, weighed, policy, causes[run_id])
        judged_runs.append(JudgedRun(nodes[0], votes, weighed, polls[run_id].reactions))
        settled[run_id] = RegradeResult(nodes=judged, before=tally.before[run_id], votes=votes, other_nodes=other_nodes)
    keep_judgements(tx, workspace, judged_runs, {**read, **polls}, policy.error_budget)
    return settled


def _rejudge(
    changes: Changes,
    nodes: Sequence[Episode],
    votes: Sequence[Vote],
    weighed: Mapping[str, float],
    policy: TeachingPolicy,
    causes: Mapping[str, Cause],
) -> list[tuple[Verdicts, Episode]]:
    """(verdicts before, episode after) of every node."""
    judged: list[tuple[Verdicts, Episode]] = []
    for episode in nodes:
        before, verdicts = episode.verdicts, judge(episode, votes, policy, weighed)
        if verdicts == before:
            judged.append((before, episode))
            continue
        was, now = _words(before), _words(verdicts)
        if was == now:
            after = changes.keep(episode, verdicts)  # no verdict changed: the events of the votes are enough
        else:
            by, at, reason = causes.get(episode.id, causes[""])
            kind = EventKind.GRADED if episode.graded_at is None else EventKind.REGRADED
            detail = {"from": was, "to": now}
            is_reversed = before.overall.is_validated and verdicts.overall is not before.overall
            if reason or is_reversed or not verdicts.overall.is_validated:
                detail["reason"] = reason if verdicts.overall.is_validated else ""
            after = changes.make(episode, event(episode, kind, by, at, detail=detail), verdicts)
        judged.append((before, after))
    return judged


def _words(verdicts: Verdicts) -> str:
    return f"{verdicts.personal} {verdicts.channel} {verdicts.workspace}"


# Recomputing, after an erasure or for a proof --------------------------------------------------------------------


def refold(tx: Transaction, workspace: str, run_ids: Collection[str], policy: TeachingPolicy) -> None:
    """Recompute these runs, and others they affect, from registers and log, without logging anything.

    Used after an erasure, a purge or a repair: the result is as if the erased data had never existed.
    """
    tally = update_votes(tx, workspace, tx.teaching.polls(workspace, run_ids), policy, from_scratch=True)
    runs = sorted({*run_ids, *tally.other_runs})
    polls, nodes = tx.teaching.polls(workspace, runs), tx.episodes.of_runs(workspace, runs)
    judged_runs: list[JudgedRun] = []
    for run_id in runs:
        log, votes = tx.log.of_run(workspace, run_id), polls[run_id].votes
        weighed = weights(votes, polls[run_id].records, policy)
        for episode in nodes.get(run_id, ()):
            after = replay(episode, log, policy, votes=votes, weights=weighed)
            if after != episode:
                tx.episodes.put(after)
            update_index(tx, after)
        judged_runs += [JudgedRun(root, votes, weighed, polls[run_id].reactions) for root in nodes.get(run_id, ())[:1]]
    keep_judgements(tx, workspace, judged_runs, polls, policy.error_budget)


# Marks ------------------------------------------------------------------------------------------------------------


def lesson_marks(tx: Transaction, result: VoteResult, parts: Sequence[LedgerEntry]) -> list[LessonMark]:
    """The answers that became a lesson or stopped being one. `parts` are the messages of the answer voted on."""
    marks: list[LessonMark] = []
    if result.root is not None and result.is_lesson != result.was_lesson:
        marks.append(_mark(result.root, parts))
    for was, other in result.other_nodes:
        if other.is_root and other.is_lesson != was.overall.is_validated:
            marks.append(_mark(other, tx.teaching.ledger_of_run(other.workspace, other.run_id)))
    return marks


def lesson_mark(tx: Transaction, workspace: str, run_id: str) -> LessonMark | None:
    """The current mark of an answer; None if there is no such answer."""
    nodes = tx.episodes.of_run(workspace, run_id)
    return _mark(nodes[0], tx.teaching.ledger_of_run(workspace, run_id)) if nodes else None


def _mark(root: Episode, parts: Sequence[LedgerEntry]) -> LessonMark:
    return LessonMark(run_id=root.run_id, is_lesson=root.is_lesson, message=parts[-1] if parts else None)

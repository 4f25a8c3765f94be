"""From a reaction to what is a lesson: the register it writes, the votes, what they weigh, the verdicts, the index.

To be read from top to bottom. `write_votes` takes reactions in; `memory.services.verdicts.tally` makes votes of the
registers; `_rejudge` makes verdicts of the votes; `Changes` writes what came of it. `settle` and `refold` do the same
without a new reaction, `take_signals` with those on many answers.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory.model import (
    Episode,
    EventKind,
    KnownPeople,
    LedgerEntry,
    Poll,
    Reaction,
    TeachingPolicy,
    Verdicts,
    Vote,
)
from memory.ports import Transaction
from memory.ports.people import EVERYBODY
from memory.rules.audience import has_narrowed
from memory.rules.fold import reaction_detail, replay
from memory.rules.verdict import is_news, judge, weights
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
    """Whether anything was stored: False for repeats, late deliveries and emoji without effect."""
    is_new_opinion: bool = False
    """Whether the person's standing vote is another one than before."""
    root: Episode | None = None
    """The answer's first node as it is now."""
    is_limited: bool = False
    """Whether the vote is beyond what its voter may say in the window: it counts for their own scope alone."""
    was: Verdicts = field(default_factory=Verdicts)
    """Its verdicts before."""
    parts: Sequence[Episode] = ()
    """The answer's other nodes."""
    other_nodes: Sequence[tuple[Verdicts, Episode]] = ()
    """(verdicts before, episode after) of every node of other answers that moved with it: by trust, or by limits."""
    marks: Sequence[LessonMark] = ()
    """The answers that became a lesson with it, or stopped being one. Only of a reaction on a message."""
    is_first_objection: bool = False
    """Whether the person speaks against this answer for the first time. Only of a reaction on a message."""
    is_first_beyond_limit: bool = False
    """Whether it is the first vote beyond the person's limit in this hour. Only of a reaction on a message."""

    @property
    def is_lesson(self) -> bool:
        """Whether the answer is a lesson now, in any audience."""
        return self.root is not None and self.root.is_lesson

    @property
    def was_lesson(self) -> bool:
        """Whether it was one before."""
        return self.was.overall.is_validated


@dataclass(frozen=True, slots=True, kw_only=True)
class RegradeResult:
    """A run after its reactions were folded."""

    nodes: Sequence[tuple[Verdicts, Episode]]
    """(verdicts before, episode after) of every node, the root first."""
    before: Sequence[Vote]
    votes: Sequence[Vote]
    other_nodes: Sequence[tuple[Verdicts, Episode]] = ()
    """The same of every node of other runs whose verdicts moved with it."""


# Registers --------------------------------------------------------------------------------------------------------


def write_votes(
    core: Core,
    tx: Transaction,
    now: datetime,
    *reactions: Reaction,
    reason: str = "",
    detail: Mapping[str, object] | None = None,
) -> VoteResult:
    """Write registers of one run, log each (with more `detail`), and let votes, verdicts and the index follow.

    What says no more than its register does is left out. The result is about the last one.
    """
    last = reactions[-1]
    nodes = tx.episodes.of_run(last.workspace, last.run_id)
    if not nodes:
        return VoteResult(is_known=False)
    changes = Changes()
    signals = Signals(reactions=reactions, at=now, reason=reason, detail=detail or {})
    taken = take_signals(core, tx, {last.run_id: nodes}, [signals], changes)
    if not taken.news:
        return VoteResult(is_known=True, root=nodes[0], was=nodes[0].verdicts)
    tx.teaching.put_reactions(*taken.news, events=changes.write(tx))
    regraded = taken.runs[last.run_id]
    was, root = regraded.nodes[0]
    before, after = _vote_of(regraded.before, last), _vote_of(regraded.votes, last)
    return VoteResult(
        is_known=True,
        changed=True,
        is_new_opinion=_value(after) != _value(before),
        is_limited=after is not None and after.is_limited,
        root=root,
        was=was,
        parts=[node for _, node in regraded.nodes[1:]],
        other_nodes=regraded.other_nodes,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Reactions on one answer that are taken in at one time."""

    reactions: Sequence[Reaction]
    at: datetime
    reason: str = ""
    detail: Mapping[str, object] = field(default_factory=dict[str, object])
    """More for the event of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What signals on some answers changed."""

    news: Sequence[Reaction]
    """Those that say more than their register did. Their events are the first of the changes."""
    runs: Mapping[str, RegradeResult]
    """What became of each answer; of none where there was no news."""


def take_signals(
    core: Core, tx: Transaction, nodes: Mapping[str, Sequence[Episode]], signals: Sequence[Signals], changes: Changes
) -> Taken:
    """Put into `changes`, which has no events yet, what follows from signals on the answers with these nodes, by run.

    The votes are stored, the registers are not.
    """
    workspace = next(iter(nodes.values()))[0].workspace
    beside = {EVERYBODY, *(each.actor for signal in signals for each in signal.reactions)}
    polls = tx.teaching.polls(workspace, nodes, people=beside)
    people = next(iter(polls.values())).people
    registers = {each.key: each for poll in polls.values() for each in poll.reactions}
    news: list[Reaction] = []
    causes: dict[str, dict[str, Cause]] = {}
    changing: list[Signals] = []
    for signal in signals:
        last = signal.reactions[-1]
        root = nodes[last.run_id][0]
        new = [each for each in signal.reactions if is_news(each, registers.get(each.key))]
        for each in new:
            registers[each.key] = each
            if each.actor not in people.known_from:
                people = tx.people.note(workspace, each.actor, signal.at, core.policy.newcomer, known=people)
            kind = EventKind.VOTED if each.is_active else EventKind.UNVOTED
            detail = reaction_detail(each) | dict(signal.detail)
            changes.events.append(event(root, kind, each.actor, signal.at, detail=detail))
        if new:
            # Where it has narrowed, the reason would be read by more once its channel is as open as it was.
            cause = Cause(last.actor, signal.at, "" if has_narrowed(root) else signal.reason)
            causes.setdefault(last.run_id, {}).update({"": cause, last.node_id: cause})
            news += new
            changing.append(signal)
    for signal in changing:
        last = signal.reactions[-1]
        for node in map(changes.now, nodes[last.run_id]):
            if last.is_active and node.archived_at is not None:
                changes.make(node, restored_by_reaction(tx, node, last.actor, signal.at))
    if not news:
        return Taken(news=(), runs={})
    by_run: dict[str, list[Reaction]] = {}
    for each in news:
        by_run.setdefault(each.run_id, []).append(each)
    after = {run_id: [changes.now(node) for node in nodes[run_id]] for run_id in by_run}
    counted = {run_id: _with_news(polls[run_id], new, people) for run_id, new in by_run.items()}
    return Taken(news=news, runs=_settle(tx, after, counted, changes, core.policy, causes))


def withdraw_votes(
    core: Core,
    tx: Transaction,
    now: datetime,
    *reactions: Reaction,
    at: datetime,
    detail: Mapping[str, object] | None = None,
) -> VoteResult:
    """Take back signals on one answer that stand, `at` the earliest. The result is about all of them."""
    result = VoteResult(is_known=True)
    for each in reactions:
        after = write_votes(core, tx, now, replace(each, is_active=False, at=max(at, each.at)), detail=detail)
        result = replace(after, was=result.was if result.changed else after.was)
    return result


def _with_news(poll: Poll, news: Sequence[Reaction], people: KnownPeople) -> Poll:
    """The poll as it is once these reactions of these people have arrived, in this order: of each register the last."""
    registers = {each.key: each for each in poll.reactions}
    newest = max((each.seq for each in poll.reactions), default=0)
    for seq, each in enumerate(news, newest + 1):
        registers.pop(each.key, None)
        registers[each.key] = replace(each, seq=seq)
    return replace(poll, reactions=tuple(registers.values()), people=people)


def _vote_of(votes: Sequence[Vote], reaction: Reaction) -> Vote | None:
    """The person's vote on what the reaction is about."""
    mine = (vote for vote in votes if (vote.actor, vote.node_id) == (reaction.actor, reaction.node_id))
    return next(mine, None)


def _value(vote: Vote | None) -> int:
    return vote.value if vote else 0


# Verdicts and the index -------------------------------------------------------------------------------------------


def settle(
    tx: Transaction, workspace: str, run_id: str, actor: str, at: datetime, policy: TeachingPolicy
) -> RegradeResult:
    """Make votes and verdicts of a run what its registers say, log what changed, and file it anew; also elsewhere."""
    changes, nodes = Changes(), tx.episodes.of_run(workspace, run_id)
    poll = tx.teaching.polls(workspace, [run_id])[run_id]
    causes = {run_id: {"": Cause(actor, at)}}
    regraded = _settle(tx, {run_id: nodes}, {run_id: poll}, changes, policy, causes)
    changes.write(tx)
    return regraded[run_id]


def settle_joined(core: Core, tx: Transaction, workspace: str, run_id: str, actor: str) -> None:
    """What people say of a whole run holds for the episodes that somebody just added to it, too."""
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
    """Store the votes of runs, and put into `changes` what follows from them, there and elsewhere.

    `causes` are those of each run, by the node that they are about; that of the last signal by an empty name.
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
            after = changes.keep(episode, verdicts)  # nothing is decided: the votes' own events tell it
        else:
            by, at, reason = causes.get(episode.id, causes[""])
            kind = EventKind.GRADED if episode.graded_at is None else EventKind.REGRADED
            detail = {"from": was, "to": now}
            if reason or not verdicts.overall.is_validated:
                detail["reason"] = reason if verdicts.overall.is_validated else ""
            after = changes.make(episode, event(episode, kind, by, at, detail=detail), verdicts)
        judged.append((before, after))
    return judged


def _words(verdicts: Verdicts) -> str:
    return f"{verdicts.personal} {verdicts.channel} {verdicts.workspace}"


# Anew, after an erasure or for a proof ----------------------------------------------------------------------------


def refold(tx: Transaction, workspace: str, run_ids: Collection[str], policy: TeachingPolicy) -> None:
    """Make these runs, and all others that this touches, what the log says, without logging anything.

    For after an erasure, a purge or a repair: as if what is gone had never been there.
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
    """The answers that became a lesson, or stopped being one; `parts` are the messages of the one voted on."""
    marks: list[LessonMark] = []
    if result.root is not None and result.is_lesson != result.was_lesson:
        marks.append(_mark(result.root, parts))
    for was, other in result.other_nodes:
        if other.is_root and other.is_lesson != was.overall.is_validated:
            marks.append(_mark(other, tx.teaching.ledger_of_run(other.workspace, other.run_id)))
    return marks


def lesson_mark(tx: Transaction, workspace: str, run_id: str) -> LessonMark | None:
    """The mark of one answer as it is now; None if there is no such answer."""
    nodes = tx.episodes.of_run(workspace, run_id)
    return _mark(nodes[0], tx.teaching.ledger_of_run(workspace, run_id)) if nodes else None


def _mark(root: Episode, parts: Sequence[LedgerEntry]) -> LessonMark:
    return LessonMark(run_id=root.run_id, is_lesson=root.is_lesson, message=parts[-1] if parts else None)

"""From a reaction to what is a lesson: the register it writes, the votes, what they weigh, the verdicts, the index.

To be read from top to bottom. `write_votes` takes reactions in; `memory.services.tally` makes votes of the registers;
`_rejudge` makes verdicts of the votes; `_Changes` writes what came of it. `settle` and `refold` do the same without a
new reaction.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory.model import (
    Episode,
    Event,
    EventKind,
    LedgerEntry,
    Poll,
    Reaction,
    TeachingPolicy,
    Verdicts,
    Vote,
)
from memory.ports import IndexEntry, Transaction
from memory.ports.people import EVERYBODY
from memory.rules.audience import filing_of, has_narrowed
from memory.rules.fold import apply, reaction_detail, replay, with_verdicts
from memory.rules.trust import weights
from memory.rules.verdict import is_news, judge
from memory.services.archive import restored_by_reaction
from memory.services.core import Core, event, file_in_index
from memory.services.tally import retally
from memory.services.thresholds import JudgedRun, keep_judgements


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
    beside = {EVERYBODY, *(each.actor for each in reactions)}
    poll = tx.teaching.polls(last.workspace, [last.run_id], people=beside)[last.run_id]
    known = {each.key: each for each in poll.reactions}
    news = [each for each in reactions if is_news(each, known.get(each.key))]
    if not news:
        return VoteResult(is_known=True, root=nodes[0], was=nodes[0].verdicts)
    if has_narrowed(nodes[0]):
        reason = ""  # It would be read by more once its channel is as open as it was.
    changes = _Changes(by=last.actor, at=now, reason=reason)
    for each in news:
        if each.actor not in poll.people.known_from:
            people = tx.people.note(each.workspace, each.actor, now, core.policy.newcomer, known=poll.people)
            poll = replace(poll, people=people)
        kind = EventKind.VOTED if each.is_active else EventKind.UNVOTED
        changes.events.append(event(nodes[0], kind, each.actor, now, detail=reaction_detail(each) | dict(detail or {})))
    if last.is_active:
        nodes = [
            changes.make(each, restored_by_reaction(tx, each, last.actor, now)) if each.archived_at else each
            for each in nodes
        ]
    regraded = _settle(tx, nodes, _with_news(poll, news), changes, core.policy)
    tx.teaching.put_reactions(*news, events=changes.write(tx))
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


def _with_news(poll: Poll, news: Sequence[Reaction]) -> Poll:
    """The poll as it is once these reactions have arrived, in this order."""
    written = {each.key for each in news}
    arrived = [each for each in poll.reactions if each.key not in written]
    newest = max((each.seq for each in arrived), default=0)
    arrived += [replace(each, seq=seq) for seq, each in enumerate(news, newest + 1)]
    return replace(poll, reactions=tuple(arrived))


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
    changes = _Changes(by=actor, at=at)
    nodes = tx.episodes.of_run(workspace, run_id)
    regraded = _settle(tx, nodes, tx.teaching.polls(workspace, [run_id])[run_id], changes, policy)
    changes.write(tx)
    return regraded


def _settle(
    tx: Transaction, nodes: Sequence[Episode], poll: Poll, changes: "_Changes", policy: TeachingPolicy
) -> RegradeResult:
    """Store the votes of a run, and put into `changes` what follows from them, there and elsewhere."""
    workspace, run_id = nodes[0].workspace, nodes[0].run_id
    tally = retally(tx, workspace, {run_id: poll}, policy)
    other_nodes: list[tuple[Verdicts, Episode]] = []
    judged_runs: list[JudgedRun] = []
    polls: Mapping[str, Poll] = {}
    if tally.other_runs:
        polls, others = tx.teaching.polls(workspace, tally.other_runs), tx.episodes.of_runs(workspace, tally.other_runs)
        for other in sorted(others):
            cast = polls[other].votes
            weighed = weights(cast, polls[other].records, policy)
            rejudged = _rejudge(changes, others[other], cast, weighed, policy)
            judged_runs.append(JudgedRun(others[other][0], cast, weighed, polls[other].reactions))
            other_nodes += rejudged if any(was != now.verdicts for was, now in rejudged) else []
    votes = tally.votes[run_id]
    weighed = weights(votes, tally.records, policy)
    judged = _rejudge(changes, nodes, votes, weighed, policy, changes.reason)
    judged_runs.append(JudgedRun(nodes[0], votes, weighed, poll.reactions))
    keep_judgements(tx, workspace, judged_runs, {**polls, run_id: poll}, policy.error_budget)
    return RegradeResult(nodes=judged, before=tally.before[run_id], votes=votes, other_nodes=other_nodes)


def _rejudge(
    changes: "_Changes",
    nodes: Sequence[Episode],
    votes: Sequence[Vote],
    weighed: Mapping[str, float],
    policy: TeachingPolicy,
    reason: str = "",
) -> list[tuple[Verdicts, Episode]]:
    """(verdicts before, episode after) of every node."""
    judged: list[tuple[Verdicts, Episode]] = []
    for episode in nodes:
        before, verdicts = episode.verdicts, judge(episode, votes, policy, weighed)
        after = episode
        if verdicts != before and _words(verdicts) == _words(before):
            after = changes.keep(episode, verdicts)  # nothing is decided: the votes' own events tell it
        elif verdicts != before:
            kind = EventKind.GRADED if episode.graded_at is None else EventKind.REGRADED
            detail = {"from": _words(before), "to": _words(verdicts)}
            if reason or not verdicts.overall.is_validated:
                detail["reason"] = reason if verdicts.overall.is_validated else ""
            after = changes.make(episode, event(episode, kind, changes.by, changes.at, detail=detail), verdicts)
        judged.append((before, after))
    return judged


def _words(verdicts: Verdicts) -> str:
    return f"{verdicts.personal} {verdicts.channel} {verdicts.workspace}"


@dataclass(slots=True, kw_only=True)
class _Changes:
    """What one act makes of episodes, gathered to be written at once."""

    by: str
    at: datetime
    reason: str = ""
    """Why, in the words of who acts."""
    events: list[Event] = field(default_factory=list[Event])
    _before: dict[str, Episode] = field(default_factory=dict[str, Episode])
    _after: dict[str, Episode] = field(default_factory=dict[str, Episode])

    def make(self, episode: Episode, change: Event | None, verdicts: Verdicts | None = None) -> Episode:
        """The episode after an event, if there is one, and with these verdicts, if they are given."""
        if change is None:
            return episode
        self.events.append(change)
        self._before.setdefault(episode.id, episode)
        after = self._after[episode.id] = apply(episode, change)
        return after if verdicts is None else self.keep(after, verdicts)

    def keep(self, episode: Episode, verdicts: Verdicts) -> Episode:
        """The episode with these verdicts."""
        self._before.setdefault(episode.id, episode)
        after = self._after[episode.id] = with_verdicts(episode, verdicts)
        return after

    def write(self, tx: Transaction) -> int:
        """Append the events, store the episodes, and file them anew where that is another place.

        Returns how many events are the newest of the log with it.
        """
        logged = len(tx.log.append(*self.events))
        tx.episodes.update(*self._after.values())
        put: list[tuple[str, IndexEntry]] = []
        remove: list[tuple[str, IndexEntry]] = []
        for episode_id, after in self._after.items():
            was = {entry.partition: entry for entry in filing_of(self._before[episode_id])}
            now = {entry.partition: entry for entry in filing_of(after)}
            put += [(episode_id, entry) for name, entry in now.items() if was.get(name) != entry]
            remove += [(episode_id, entry) for name, entry in was.items() if name not in now]
        if put or remove:
            workspace = next(iter(self._after.values())).workspace
            tx.episodes.change_index(workspace, put=put, remove=remove)
        return logged


# Anew, after an erasure or for a proof ----------------------------------------------------------------------------


def refold(tx: Transaction, workspace: str, run_ids: Collection[str], policy: TeachingPolicy) -> None:
    """Make these runs, and all others that this touches, what the log says, without logging anything.

    For after an erasure, a purge or a repair: as if what is gone had never been there.
    """
    tally = retally(tx, workspace, tx.teaching.polls(workspace, run_ids), policy, from_scratch=True)
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
            file_in_index(tx, after)
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

"""Purging: withdrawing everything that one person taught, recorded in the log (`forget` erases text instead).

Every withdrawal is an event in the name of the person whose act it withdraws, with the id of the purge. So forgetting
or purging the teacher who purged brings nothing back.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

from memory.errors import InvalidInput
from memory.model import Episode, EventKind, Lesson, Origin, Reaction, Role, Scope, Signal, Verdict, Verdicts
from memory.ports import EpisodeFilter, Transaction, rolled_back
from memory.rules.audience import partitions_for, partitions_of
from memory.rules.fold import DECISIONS, GRADINGS, effective_events, replay, with_verdicts
from memory.rules.verdict import CORRECTION
from memory.services.core import (
    ALL,
    Core,
    event,
    event_of_workspace,
    record,
    record_and_index,
    require_episode,
    update_index,
)
from memory.services.privacy.forget import require_person
from memory.services.recall.confusion import ConfusionEstimate
from memory.services.recording.approvals import drop_permissions
from memory.services.topics.withdraw import withdraw_person
from memory.services.verdicts.archive import merged_into, unmerge, why_archived
from memory.services.verdicts.quarantine import restore_texts
from memory.services.verdicts.reason import withdraw_reason
from memory.services.verdicts.verdicts import settle, withdraw_votes


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """The result of a purge, planned or done: what it withdraws."""

    taught_by: str
    votes: int = 0
    """The answers on which they have votes in effect."""
    lessons: int = 0
    """Lessons they wrote that correct no answer."""
    corrections: int = 0
    """Lessons they wrote as corrections."""
    promotions: int = 0
    """Answers and lessons of others that they promoted or narrowed."""
    shelved: int = 0
    """Lessons and topics of others that they archived or restored, which is reverted."""
    released: int = 0
    """Lessons they released from quarantine, which wait for a teacher again."""
    grades: int = 0
    """Grades they gave to single steps."""
    values: int = 0
    """Values they gave to fields of topics that are the current ones."""
    topics: int = 0
    """Topics that only they contributed to, which are archived."""
    permissions: int = 0
    """Their standing approvals, by which actions are done without asking."""
    unlearned: int = 0
    """Answers that are no longer lessons to repeat: they were approved by these votes, or used these lessons."""
    runs: tuple[str, ...] = ()
    """The runs whose answers became a lesson or stopped being one."""

    @property
    def is_empty(self) -> bool:
        """Whether the person taught nothing that is in effect."""
        taught = (self.votes, self.lessons, self.corrections, self.promotions, self.shelved)
        return not any((*taught, self.released, self.grades, self.values, self.topics, self.permissions))


@dataclass(slots=True)
class PurgeInProgress:
    """The state of one purge in progress."""

    tx: Transaction
    workspace: str
    person: str
    id: str
    at: datetime
    now: datetime
    before: dict[str, list[Episode]] = field(default_factory=dict)
    """The nodes of every changed run as they were before, root first."""
    lesson_ids: frozenset[str] = frozenset()
    """The lessons to withdraw, if not everything that a person taught."""
    moved: dict[str, None] = field(default_factory=dict)
    """The changed runs whose dependents were not looked for yet."""

    @property
    def mark(self) -> dict[str, object]:
        """The detail that marks the events of this purge."""
        return {"purge": self.id}

    def touch(self, run_id: str) -> None:
        """Save a run's nodes before its first change."""
        self.moved[run_id] = None
        if run_id not in self.before:
            self.before[run_id] = self.tx.episodes.of_run(self.workspace, run_id)

    def note(self, other_nodes: Sequence[tuple[Verdicts, Episode]]) -> None:
        """Save the earlier state of other runs whose verdicts just changed through trust or limits."""
        nodes: dict[str, list[Episode]] = {}
        for was, episode in other_nodes:
            nodes.setdefault(episode.run_id, []).append(with_verdicts(episode, was))
        self.moved |= dict.fromkeys(nodes)
        self.before = nodes | self.before

    def wrote(self, episode: Episode) -> bool:
        """Whether an episode is a lesson to withdraw: by default, one in the person's own words."""
        if self.lesson_ids:
            return episode.id in self.lesson_ids
        return episode.origin is not Origin.RUN and episode.author == self.person


@dataclass(frozen=True, slots=True)
class Purging:
    """The use cases by which teachers and administrators withdraw what one person taught."""

    _core: Core

    def plan(self, workspace: str, taught_by: str, *, role: Role = Role.ADMIN) -> Purge:
        """What `purge` would do now, found by doing and rolling it back. Raises `InvalidInput` as `purge` does."""
        with rolled_back(self._core.store) as tx:
            return self._purge(tx, workspace, taught_by, self._core.clock(), role, purge_id="plan")

    def purge(self, workspace: str, taught_by: str, *, actor: str, at: datetime, role: Role = Role.ADMIN) -> Purge:
        """Withdraw the person's votes, grades, lessons, corrections, promotions, archivings and values, in one step.

        Approvals (👍), by anybody, of answers that used one of these lessons are withdrawn too, as are those of answers
        that used a lesson which only these votes and promotions had made available, and so on for answers that used
        such answers: they are pending again. Rejections stay, and so do the person's questions and their archivings of
        their own. Everything remains in the log. What they do later counts again, as a newcomer's. Raises
        `InvalidInput` for an empty person, if the role may not purge, and if a teacher would purge an administrator.
        """
        purge_id, estimate = self._core.new_id(), ConfusionEstimate.of(self._core)
        had_estimate = False
        with self._core.store.write() as tx:
            done = self._purge(tx, workspace, taught_by, at, role, purge_id)
            if not done.is_empty:
                had_estimate = estimate.drop(tx, workspace)
                counts = {name: value for name, value in asdict(done).items() if isinstance(value, int)}
                detail = counts | {"purge": purge_id}
                tx.log.append(event_of_workspace(workspace, EventKind.PURGED, actor, self._core.clock(), detail))
        if had_estimate:
            estimate.update_without(workspace)
        return done

    def _purge(self, tx: Transaction, workspace: str, person: str, at: datetime, role: Role, purge_id: str) -> Purge:
        require_person(person)
        if not role.may_promote:
            raise InvalidInput("only a teacher may take back what somebody else taught; ask one to do it")
        judgements = [each for each in tx.teaching.reactions_by(workspace, person) if each.is_active]
        if role is not Role.ADMIN and any(each.role is Role.ADMIN for each in judgements):
            raise InvalidInput("what an administrator decided can be taken back by administrators only")
        now = self._core.clock()
        work = PurgeInProgress(tx=tx, workspace=workspace, person=person, id=purge_id, at=at, now=now)
        votes = self._withdraw_votes(work, judgements)
        grades = self._withdraw_words(work)
        lessons = self._withdraw_lessons(work)
        promotions, shelved, released = self._withdraw_decisions(work)
        self.withdraw_dependents(work)
        self.unmerge_lessons(work)
        tx.deliveries.begin_anew(workspace, person, "", now)
        values, topics, moved = withdraw_person(tx, workspace, person, now, self._core.new_id)
        tx.people.forget(workspace, person)
        runs, unlearned = changed_runs(work)
        return Purge(
            taught_by=person,
            votes=votes,
            lessons=sum(each.origin is not Origin.CORRECTION for each in lessons),
            corrections=sum(each.origin is Origin.CORRECTION for each in lessons),
            promotions=promotions,
            shelved=shelved + moved,
            released=released,
            grades=grades,
            values=values,
            topics=topics,
            permissions=drop_permissions(tx, workspace, person),
            unlearned=unlearned,
            runs=runs,
        )

    # The person's own acts ------------------------------------------------------------------------------------------

    def _withdraw_votes(self, work: PurgeInProgress, judgements: Sequence[Reaction]) -> int:
        """Withdraw their votes. Returns on how many answers, without the votes implied by corrections."""
        judged: set[tuple[str, str]] = set()
        for reaction in judgements:
            self.withdraw(work, reaction)
            if reaction.value and not reaction.source.startswith(CORRECTION):
                judged.add((reaction.run_id or reaction.message_id, reaction.node_id))
        return len(judged)

    def withdraw(self, work: PurgeInProgress, reaction: Reaction) -> None:
        """Withdraw one vote, whoever gave it."""
        if not reaction.run_id:  # on a message that is not known yet: it must not count later
            work.tx.teaching.put_reaction(replace(reaction, is_active=False, at=max(work.at, reaction.at)))
            return
        work.touch(reaction.run_id)
        result = withdraw_votes(self._core, work.tx, work.now, reaction, at=work.at, detail=work.mark)
        work.note(result.other_nodes)

    def _withdraw_words(self, work: PurgeInProgress) -> int:
        """Withdraw the reasons they gave that are in effect, and their grades of steps. Returns the number of grades.

        The grades are deleted from their table and kept in the log, in the name of the person who gave them.
        """
        grades: dict[str, list[dict[str, object]]] = {}
        for each in work.tx.steps.grades_by(work.workspace, work.person):
            grade = asdict(each.grade) | {"at": each.grade.at.isoformat(), "source": each.grade.source.value}
            grades.setdefault(each.episode_id, []).append(grade)
        graded = work.tx.log.by_actor(work.workspace, work.person, GRADINGS, limit=ALL)
        judged = {each.episode_id for each in graded if each.detail.get("reason")}
        for episode in work.tx.episodes.get_many(work.workspace, sorted(judged | set(grades))).values():
            work.touch(episode.run_id)
            detail = work.mark | ({"grades": grades[episode.id]} if episode.id in grades else {})
            gave_none = withdraw_reason(work.tx, episode, work.person, work.now, detail) is episode
            if gave_none and episode.id in grades:
                record(work.tx, episode, event(episode, EventKind.UNGRADED, work.person, work.now, detail=detail))
        work.tx.steps.erase_grades(work.workspace, work.person)
        return sum(map(len, grades.values()))

    def _withdraw_lessons(self, work: PurgeInProgress) -> list[Episode]:
        """Archive their lessons and remove their corrections from answers. Returns the lessons that were in effect."""
        tx = work.tx
        every = EpisodeFilter(author=work.person, include_archived=True, limit=None)
        ids = [each.id for each in tx.episodes.search(work.workspace, every) if work.wrote(each)]
        written = list(tx.episodes.get_many(work.workspace, ids).values())
        # Includes what upkeep archived, which upkeep could otherwise restore.
        live = [lesson for lesson in written if lesson.archived_at is None or why_archived(tx, lesson)]
        for lesson in written:
            work.touch(lesson.run_id)
        for lesson in live:
            record_and_index(tx, lesson, EventKind.ARCHIVED, work.person, work.now, work.mark)
        for lesson in written:
            restore_texts(tx, lesson, work.person, work.now)
        return live

    def _withdraw_decisions(self, work: PurgeInProgress) -> tuple[int, int, int]:
        """Withdraw their decisions about others' lessons.

        Returns the numbers of episodes promoted or narrowed, of those archived or restored, and of those in quarantine
        again.
        """
        tx, promoted, shelved, released = work.tx, 0, 0, 0
        decided = tx.log.by_actor(work.workspace, work.person, DECISIONS, limit=ALL)
        for episode_id in dict.fromkeys(each.episode_id for each in reversed(decided)):
            episode = tx.episodes.get(work.workspace, episode_id)
            if episode is None or work.wrote(episode):
                continue
            log = effective_events(tx.log.of_episode(work.workspace, episode_id))
            kinds = {each.kind for each in log if each.actor == work.person and each.kind in DECISIONS}
            if kinds:
                after = self._withdraw_from(work, episode)
                promoted += EventKind.PROMOTED in kinds
                shelved += (after.archived_at is None) != (episode.archived_at is None)
                released += bool(after.quarantine) and not episode.quarantine
        return promoted, shelved, released

    def _withdraw_from(self, work: PurgeInProgress, episode: Episode) -> Episode:
        tx, policy = work.tx, self._core.policy
        work.touch(episode.run_id)
        tx.log.append(event(episode, EventKind.PURGED, work.person, work.now, detail=work.mark))
        logged = replay(episode, tx.log.of_run(work.workspace, episode.run_id), policy)
        after = replace(episode, promoted=logged.promoted, archived_at=logged.archived_at, quarantine=logged.quarantine)
        tx.episodes.put(after)
        if episode.author == work.person and episode.archived_at is not None and logged.archived_at is None:
            # An answer to their own question, which they archived: that was no teaching.
            after = record(tx, after, event(after, EventKind.ARCHIVED, work.person, work.now, detail=work.mark))
        if (after.quarantine, after.archived_at) != (episode.quarantine, episode.archived_at):
            restore_texts(tx, after, work.person, work.now)
        work.note(settle(tx, work.workspace, episode.run_id, work.person, work.now, policy).other_nodes)
        after = require_episode(tx, work.workspace, episode.id)
        update_index(tx, after)
        return after

    # What depended on them ------------------------------------------------------------------------------------------

    def withdraw_dependents(self, work: PurgeInProgress) -> None:
        """Withdraw the approvals of answers that used removed lessons, and of answers that used those in turn."""
        while work.moved:
            run_id = next(iter(work.moved))
            del work.moved[run_id]
            now = work.tx.episodes.get_many(work.workspace, [each.id for each in work.before[run_id]])
            for was in work.before[run_id]:
                for resting in self._resting_on(work, was, now[was.id]):
                    self._withdraw_approval(work, resting)

    def unmerge_lessons(self, work: PurgeInProgress) -> None:
        """Separate the duplicates that were merged into a lesson that is now removed."""
        touched = [each.id for nodes in work.before.values() for each in nodes]
        joined = merged_into(work.tx, work.workspace, touched)
        for each in work.tx.episodes.get_many(work.workspace, joined).values():
            work.touch(each.run_id)
        unmerge(work.tx, work.workspace, joined, work.now)

    def _resting_on(self, work: PurgeInProgress, was: Episode, now: Episode) -> list[str]:
        """The answers that used an episode as a lesson to repeat and would no longer be given it."""
        runs: dict[str, None] = {}
        for retrieval, item in work.tx.retrievals.of_episode(work.workspace, was.id, limit=ALL):
            if item.signal is not Signal.USED or item.lesson is not Lesson.REPEAT or retrieval.run_id in runs:
                continue
            answer = work.tx.episodes.of_run(work.workspace, retrieval.run_id)[:1]
            if answer and (work.wrote(was) or (_reaches(was, answer[0].scope) and not _reaches(now, answer[0].scope))):
                runs[retrieval.run_id] = None
        return list(runs)

    def _withdraw_approval(self, work: PurgeInProgress, run_id: str) -> None:
        """Withdraw everybody's approval of an answer, whose dependents are looked for later."""
        for reaction in work.tx.teaching.reactions_of_run(work.workspace, run_id):
            if reaction.is_active and reaction.value > 0:
                self.withdraw(work, reaction)


def _reaches(episode: Episode, scope: Scope) -> bool:
    """Whether the episode may be recalled in this scope as a lesson to repeat."""
    named = partitions_for(scope)
    return any(entry.partition in named and entry.verdict is Verdict.SUCCESS for entry in partitions_of(episode))


def changed_runs(work: PurgeInProgress) -> tuple[tuple[str, ...], int]:
    """The runs that became a lesson or stopped being one, and how many of others are no longer lessons to repeat."""
    runs: list[str] = []
    unlearned = 0
    for run_id, nodes in work.before.items():
        was, (now, *_) = nodes[0], work.tx.episodes.of_run(work.workspace, run_id)
        if was.is_lesson != now.is_lesson:
            runs.append(run_id)
        was_repeated = was.is_lesson and was.verdict is Verdict.SUCCESS
        if was_repeated and not work.wrote(was) and not (now.is_lesson and now.verdict is Verdict.SUCCESS):
            unlearned += 1
    return tuple(runs), unlearned

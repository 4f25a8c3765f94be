"""Reviewing imported lessons: approving or rejecting many at once, or editing one."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime

from memory.errors import InvalidInput, NotFound
from memory.model import Audience, Episode, EventKind, Reaction, Role, Visibility
from memory.model.batch import BatchLesson
from memory.ports import Transaction
from memory.rules.audience import visibility_of
from memory.rules.quarantine import Flag
from memory.rules.verdict import REVIEW
from memory.services.batches.batches import (
    Narrow,
    chunks,
    existing_batch,
    is_waiting,
    outlines_waiting,
    sees_everything,
)
from memory.services.core import Core, event, record, record_and_index, require_episode
from memory.services.teaching.correct import Draft, own_vote
from memory.services.teaching.sources import Sources
from memory.services.verdicts.promotion import undo_promotion
from memory.services.verdicts.quarantine import release_undone
from memory.services.verdicts.verdicts import withdraw_votes, write_votes

ShowsReview = Callable[[int, int], None]
"""Progress callback: called with how many more are done, and the total."""
_DECISIONS = {EventKind.VOTED, EventKind.ARCHIVED}
"""The kinds of event with which a reviewer's decision about a lesson begins."""
_Decide = Callable[[Transaction, Episode, BatchLesson, datetime], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewer:
    """The reviewer, and the lessons that they may decide about."""

    actor: str
    role: Role
    may_decide: Narrow = sees_everything


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDecision:
    """The result of a decision about many lessons."""

    done: int
    left_held_back: int = 0
    """The waiting lessons that were left out, because they must be reviewed one by one."""
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchReview:
    """The use cases of reviewing. Each raises `InvalidInput` unless a teacher or administrator asks, and `NotFound`."""

    _core: Core

    def approve(
        self,
        workspace: str,
        batch_id: str,
        by: Reviewer,
        *,
        only: Collection[str] | None = None,
        audience: Audience | None = None,
        progress: ShowsReview | None = None,
    ) -> BatchDecision:
        """Approve the waiting lessons, or `only` these, for their intended audience or for this `audience`.

        Lessons that are held back are left out; one that is approved alone is released, unless it needs a question, as
        its asker is forgotten. A lesson never reaches people outside the channel that it is from. The limit of
        promotions does not apply, as this is one decision.
        """
        is_one = only is not None and len(only) == 1

        def is_left_out(flags: Collection[str]) -> bool:
            return Flag.NEEDS_QUESTION in flags if is_one else bool(flags)

        def decide(tx: Transaction, lesson: Episode, row: BatchLesson, now: datetime) -> None:
            self._approve(tx, lesson, audience or row.audience, by, now)

        return self._decide(workspace, batch_id, by, only, progress, decide, is_left_out)

    def reject(
        self,
        workspace: str,
        batch_id: str,
        by: Reviewer,
        *,
        only: Collection[str] | None = None,
        progress: ShowsReview | None = None,
    ) -> BatchDecision:
        """Archive the waiting lessons, or `only` these; each can be restored."""

        def decide(tx: Transaction, lesson: Episode, row: BatchLesson, now: datetime) -> None:
            record_and_index(tx, lesson, EventKind.ARCHIVED, by.actor, now, {"batch": row.batch_id})

        return self._decide(workspace, batch_id, by, only, progress, decide, lambda _: False)

    def edit(
        self,
        workspace: str,
        lesson_id: str,
        question: str,
        answer: str,
        by: Reviewer,
        *,
        audience: Audience | None = None,
    ) -> Episode:
        """Replace a waiting lesson by one in a teacher's words, which is approved; the former is archived.

        Raises `InvalidInput` also for an unusable text.
        """
        draft = Draft.of(self._core, question, answer, ("a lesson needs a question", "a lesson needs an answer"))
        vector = self._core.embedded(draft.question)
        with self._core.store.write() as tx:
            now = self._core.clock()
            former = require_episode(tx, workspace, lesson_id)
            row = tx.batches.of_lessons(workspace, [lesson_id]).get(lesson_id)
            if row is None or not by.may_decide(former):
                raise NotFound(f"no lesson {lesson_id} that was learned from a file")
            if not by.role.may_promote or not is_waiting(former):
                raise InvalidInput("only a teacher may edit what was learned from a file, and only while it waits")
            place = replace(former.scope, person=by.actor, visibility=visibility_of(former))
            sources = Sources().instead_of(tx, former, draft.answer)
            came_by = {"batch": row.batch_id} | sources.detail
            lesson = draft.store(self._core, tx, place, now, vector, detail=came_by, words_of=sources.people)
            record_and_index(tx, former, EventKind.ARCHIVED, by.actor, now, {"superseded_by": lesson.id})
            same = [each for each in tx.batches.lessons(workspace, row.batch_id) if each.lesson_id == former.id]
            tx.batches.put_lessons(*(replace(each, lesson_id=lesson.id) for each in same))
            self._approve(tx, require_episode(tx, workspace, lesson.id), audience or row.audience, by, now)
            return require_episode(tx, workspace, lesson.id)

    def take_back(self, workspace: str, batch_id: str, by: Reviewer, since: datetime) -> BatchDecision:
        """Undo this reviewer's decisions from `since` on: the lessons wait again."""
        if not by.role.may_promote:
            raise InvalidInput("only a teacher may take back a decision about what was learned from a file")
        with self._core.store.read() as tx:
            existing_batch(tx, workspace, batch_id)
            ids = [each.lesson_id for each in tx.batches.lessons(workspace, batch_id)]
        runs: list[str] = []
        for some in chunks(ids):
            with self._core.store.write() as tx:
                now = self._core.clock()
                lessons = tx.episodes.get_many(workspace, some)
                for name, log in tx.log.of_episodes(workspace, lessons).items():
                    own = {each.kind for each in log if each.actor == by.actor and each.at >= since}
                    if own & _DECISIONS and by.may_decide(lessons[name]):
                        self._undecide(tx, lessons[name], own, by, now)
                        runs.append(lessons[name].run_id)
        return BatchDecision(done=len(runs), runs=tuple(runs))

    def _undecide(
        self, tx: Transaction, lesson: Episode, own: Collection[EventKind], by: Reviewer, now: datetime
    ) -> None:
        """Undo `_approve` or a rejection."""
        if EventKind.ARCHIVED in own and lesson.archived_at is not None:
            lesson = record_and_index(tx, lesson, EventKind.RESTORED, by.actor, now)
        approval = tx.teaching.reaction(_approval(lesson, by, now).key)
        if approval is not None and approval.is_active:
            withdraw_votes(self._core, tx, now, approval, at=now)
            lesson = require_episode(tx, lesson.workspace, lesson.id)
        if EventKind.PROMOTED in own:
            lesson = undo_promotion(self._core, tx, lesson, by.actor, by.role, now)
        if EventKind.RELEASED in own:
            release_undone(tx, lesson, by.actor, by.role, now)

    def _decide(
        self,
        workspace: str,
        batch_id: str,
        by: Reviewer,
        only: Collection[str] | None,
        progress: ShowsReview | None,
        decide: _Decide,
        is_left_out: Callable[[Collection[str]], bool],
    ) -> BatchDecision:
        if not by.role.may_promote:
            raise InvalidInput("only a teacher may decide about what was learned from a file; ask one to do it")
        with self._core.store.read() as tx:
            existing_batch(tx, workspace, batch_id)
            waiting = outlines_waiting(tx, workspace, batch_id, by.may_decide)
            rows = {each.lesson_id: each for each in tx.batches.lessons(workspace, batch_id)}
        meant = [each for each in waiting if only is None or each.id in only]
        chosen = [each.id for each in meant if not is_left_out(each.quarantine)]
        runs: list[str] = []
        for some in chunks(chosen):
            with self._core.store.write() as tx:
                now = self._core.clock()
                for lesson in tx.episodes.get_many(workspace, some).values():
                    # Read again, as somebody may have decided meanwhile.
                    if is_waiting(lesson) and by.may_decide(lesson) and not is_left_out(lesson.quarantine):
                        decide(tx, lesson, rows[lesson.id], now)
                        runs.append(lesson.run_id)
            if progress is not None:
                progress(len(some), len(chosen))
        return BatchDecision(done=len(runs), left_held_back=len(meant) - len(chosen), runs=tuple(runs))

    def _approve(self, tx: Transaction, lesson: Episode, audience: Audience, by: Reviewer, now: datetime) -> None:
        if lesson.quarantine:
            detail: dict[str, object] = {"role": by.role.value, "flags": []}
            lesson = record_and_index(tx, lesson, EventKind.RELEASED, by.actor, now, detail)
        if audience is Audience.WORKSPACE and visibility_of(lesson) is Visibility.PUBLIC:
            detail = {"audience": audience.value, "role": by.role.value, "batch": True}
            lesson = record(tx, lesson, event(lesson, EventKind.PROMOTED, by.actor, now, detail=detail))
        write_votes(self._core, tx, now, _approval(lesson, by, now), reason="a person said what is right")


def _approval(lesson: Episode, by: Reviewer, at: datetime) -> Reaction:
    return replace(own_vote(lesson, by.role, at), actor=by.actor, source=REVIEW)

"""Taking back a whole batch, as if its file had never been imported, recorded in the log."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from memory.errors import InvalidInput
from memory.model import EventKind
from memory.model.batch import Batch, BatchLesson
from memory.ports import Transaction, rolled_back
from memory.services.batches.batches import chunks, existing_batch
from memory.services.core import Core, event_of_workspace, record_and_index
from memory.services.privacy.purge import PurgeInProgress, Purging, changed_runs
from memory.services.recall.confusion import ConfusionEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPurge:
    """The result of taking a batch back, planned or done: what it withdraws."""

    lessons: int = 0
    approved: int = 0
    """Those of the lessons that counted for somebody."""
    votes: int = 0
    """Votes on them."""
    unlearned: int = 0
    """Answers that used them and are no longer lessons to repeat."""

    def __add__(self, other: "BatchPurge") -> "BatchPurge":
        return BatchPurge(**{name: value + asdict(other)[name] for name, value in asdict(self).items()})


@dataclass(frozen=True, slots=True)
class BatchUndo:
    """The use cases by which administrators take a batch back."""

    _core: Core

    def plan(self, workspace: str, batch_id: str) -> BatchPurge:
        """What `purge` would do now, found by doing and rolling it back. Raises as `purge` does."""
        planned = BatchPurge()
        for some in self._chunks(workspace, batch_id):
            with rolled_back(self._core.store) as tx:
                planned += self._withdraw(tx, some, "plan")
        return planned

    def purge(self, workspace: str, batch_id: str, *, actor: str) -> BatchPurge:
        """Archive every lesson of a batch and withdraw what depends on it. The same file may be imported again.

        That does not bring back what was erased since. Raises `NotFound`, and `InvalidInput` for a batch that was taken
        back before.
        """
        purge_id, estimate = self._core.new_id(), ConfusionEstimate.of(self._core)
        done = BatchPurge()
        for some in self._chunks(workspace, batch_id):
            with self._core.store.write() as tx:
                done += self._withdraw(tx, some, purge_id)
        with self._core.store.write() as tx:
            now = self._core.clock()
            had_estimate = estimate.drop(tx, workspace)
            # Lessons that another process imported from the same file meanwhile.
            if late := tx.batches.lessons(workspace, batch_id):
                done += self._withdraw(tx, late, purge_id)
            tx.batches.put(replace(existing_batch(tx, workspace, batch_id), undone_at=now))
            detail = asdict(done) | {"purge": purge_id, "batch": batch_id}
            tx.log.append(event_of_workspace(workspace, EventKind.PURGED, actor, now, detail))
        if had_estimate:
            estimate.update_without(workspace)
        return done

    def _chunks(self, workspace: str, batch_id: str) -> Iterator[Sequence[BatchLesson]]:
        with self._core.store.read() as tx:
            _require_not_undone(existing_batch(tx, workspace, batch_id))
            return chunks(tx.batches.lessons(workspace, batch_id))

    def _withdraw(self, tx: Transaction, rows: Sequence[BatchLesson], purge_id: str) -> BatchPurge:
        workspace, now = rows[0].workspace, self._core.clock()
        lessons = tx.episodes.get_many(workspace, [each.lesson_id for each in rows])
        if not lessons:
            return BatchPurge()
        ids = frozenset(lessons)
        work = PurgeInProgress(tx, workspace, person="", id=purge_id, at=now, now=now, lesson_ids=ids)
        purging = Purging(self._core)
        for lesson in lessons.values():
            work.touch(lesson.run_id)
        polls = tx.teaching.polls(workspace, sorted({each.run_id for each in lessons.values()}))
        votes = [each for poll in polls.values() for each in poll.reactions if each.is_active]
        for vote in votes:
            purging.withdraw(work, vote)
        live = [each for each in tx.episodes.get_many(workspace, lessons).values() if each.archived_at is None]
        for lesson in live:
            # In its author's name, so that purging the administrator who did this brings nothing back.
            record_and_index(tx, lesson, EventKind.ARCHIVED, lesson.author, now, work.mark)
        purging.withdraw_dependents(work)
        purging.unmerge_lessons(work)
        tx.batches.drop(workspace, [each.key for each in rows if each.lesson_id in lessons])
        unlearned = changed_runs(work)[1]
        approved = sum(each.is_lesson for each in lessons.values())
        return BatchPurge(lessons=len(live), approved=approved, votes=len(votes), unlearned=unlearned)


def _require_not_undone(batch: Batch) -> None:
    if batch.undone_at is not None:
        raise InvalidInput(f"batch {batch.id} was taken back before")

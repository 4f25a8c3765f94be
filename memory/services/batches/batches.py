"""Batches of imported lessons as reviewers see them: their progress, and the lessons that wait."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memory.errors import InvalidInput, NotFound
from memory.model import Episode, Verdict, Visibility
from memory.model.batch import Batch, BatchLesson
from memory.ports import EpisodeFilter, Transaction
from memory.services.batches.intake import Intake
from memory.services.core import Core

_SHORTEST = 4
"""How many characters at the end of an id may be given for it."""

CHUNK = 200
"""Lessons changed in one transaction. Others can write in between, and a command that was killed can be repeated."""

T = TypeVar("T")

Narrow = Callable[[Episode], bool]
"""Whether a reviewer may see and decide about a lesson."""


def sees_everything(_: Episode) -> bool:
    """Lets a reviewer see every lesson."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchView:
    """One batch with the progress of its review, counting only the lessons that the reviewer may see."""

    batch: Batch
    waiting: int = 0
    held_back: int = 0
    """Those of the waiting that must be reviewed one by one."""
    approved: int = 0
    rejected: int = 0

    @property
    def total(self) -> int:
        """The number of lessons."""
        return self.waiting + self.held_back + self.approved + self.rejected

    @property
    def is_open(self) -> bool:
        """Whether any lesson waits."""
        return self.waiting + self.held_back > 0


@dataclass(frozen=True, slots=True)
class Batches:
    """The use cases of importing lessons from files, and of viewing the batches."""

    _core: Core

    def intake(self, workspace: str, name: str, digest: str, *, actor: str, is_dry_run: bool = False) -> Intake:
        """Begin the import of a file, or continue it: what was imported before is recognised."""
        with self._core.store.read() as tx:
            known = [each for each in tx.batches.within(workspace) if each.digest == digest and not each.undone_at]
        now = self._core.clock()
        new = Batch(workspace=workspace, id=self._core.new_id(), name=name, digest=digest, actor=actor, at=now)
        return Intake(self._core, known[0] if known else new, is_dry_run=is_dry_run)

    def views(self, workspace: str, narrow: Narrow = sees_everything, *, open_only: bool = False) -> list[BatchView]:
        """The batches that were not taken back, newest first, without those of which the reviewer may see nothing."""
        with self._core.store.read() as tx:
            chosen = [each for each in tx.batches.within(workspace) if each.undone_at is None]
            if open_only:  # reviewed batches are filtered out before their lessons are read
                waiting = tx.episodes.outlines(workspace, _to_decide(chosen)) if chosen else []
                rows = tx.batches.of_lessons(workspace, [each.id for each in waiting])
                still_open = {each.batch_id for each in rows.values()}
                chosen = [each for each in chosen if each.id in still_open]
            found = _views(tx, workspace, chosen, narrow)
        return [each for each in found if each.total and (each.is_open or not open_only)]

    def view(self, workspace: str, batch_id: str, narrow: Narrow = sees_everything) -> BatchView:
        """One batch. Raises `NotFound`."""
        with self._core.store.read() as tx:
            return _views(tx, workspace, [existing_batch(tx, workspace, batch_id)], narrow)[0]

    def find(self, ending: str, workspace: str = "") -> Batch:
        """The batch whose id ends with `ending`. Raises `NotFound`, and `InvalidInput` if there are several."""
        names = [workspace] if workspace else self._core.store.workspaces()
        with self._core.store.read() as tx:
            found = [each for name in names for each in tx.batches.within(name) if each.id.endswith(ending.lower())]
        if not found or len(ending) < _SHORTEST:
            raise NotFound(f"no batch with an id that ends in {ending!r}; `goodbot review list` shows them")
        if len(found) > 1:
            raise InvalidInput(f"{ending!r} is the end of several ids; give more of it")
        return found[0]

    def waiting(
        self, workspace: str, batch_id: str, narrow: Narrow, window: Callable[[int], slice]
    ) -> tuple[list[tuple[Episode, BatchLesson]], int]:
        """A page of the waiting lessons of a batch, in the order of the file, and their total number."""
        with self._core.store.read() as tx:
            rows = {each.lesson_id: each for each in tx.batches.lessons(workspace, batch_id)}
            listed = [each.id for each in outlines_waiting(tx, workspace, batch_id, narrow)]
            chosen = listed[window(len(listed))]
            found = tx.episodes.get_many(workspace, chosen)
        return [(found[each], rows[each]) for each in chosen], len(listed)

    def of_lessons(self, workspace: str, lesson_ids: Collection[str]) -> dict[str, BatchLesson]:
        """The sources of these lessons, by lesson id; lessons that came from no file are left out."""
        with self._core.store.read() as tx:
            return tx.batches.of_lessons(workspace, lesson_ids)


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Split the items into chunks of the size for one transaction."""
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]


def existing_batch(tx: Transaction, workspace: str, batch_id: str) -> Batch:
    """The batch. Raises `NotFound`."""
    batch = tx.batches.get(workspace, batch_id)
    if batch is None:
        raise NotFound(f"no batch {batch_id} in {workspace}; `goodbot review list` shows them")
    return batch


def outlines_waiting(tx: Transaction, workspace: str, batch_id: str, narrow: Narrow) -> list[Episode]:
    """Outlines of the waiting lessons, in the order of the file."""
    wanted = EpisodeFilter(batches=(batch_id,), limit=None, newest_first=False)
    return [each for each in tx.episodes.outlines(workspace, wanted) if is_waiting(each) and narrow(each)]


def is_waiting(lesson: Episode) -> bool:
    """Whether a lesson waits for a decision, which people outside a direct conversation may make."""
    is_open = bool(lesson.quarantine) or lesson.verdict is Verdict.PENDING
    return lesson.archived_at is None and is_open and lesson.visibility is not Visibility.DIRECT


def _to_decide(batches: Sequence[Batch]) -> EpisodeFilter:
    return EpisodeFilter(batches=tuple(each.id for each in batches), to_decide=True, roots_only=True, limit=None)


def _views(tx: Transaction, workspace: str, batches: Sequence[Batch], narrow: Narrow) -> list[BatchView]:
    if not batches:
        return []
    ids = tuple(each.id for each in batches)
    outlines = tx.episodes.outlines(workspace, EpisodeFilter(batches=ids, include_archived=True, limit=None))
    seen = {each.id: each for each in outlines if narrow(each)}
    lessons: dict[str, dict[str, Episode]] = {each: {} for each in ids}
    for row in tx.batches.lessons(workspace, *ids):
        if row.lesson_id in seen:
            lessons[row.batch_id][row.lesson_id] = seen[row.lesson_id]
    return [_view(each, list(lessons[each.id].values())) for each in batches]


def _view(batch: Batch, lessons: Sequence[Episode]) -> BatchView:
    waiting = [each for each in lessons if is_waiting(each)]
    held_back = sum(bool(each.quarantine) for each in waiting)
    approved = sum(each.is_lesson and each.verdict is Verdict.SUCCESS for each in lessons)
    return BatchView(
        batch=batch,
        waiting=len(waiting) - held_back,
        held_back=held_back,
        approved=approved,
        rejected=len(lessons) - len(waiting) - approved,
    )

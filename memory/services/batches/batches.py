"""Batches as their reviewers see them: how far each is, and what waits in it."""

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
"""Characters at the end of an id that may stand for it."""

CHUNK = 200
"""Lessons changed in one transaction, so that others can write in between. A killed command goes on when repeated."""

T = TypeVar("T")

Narrow = Callable[[Episode], bool]
"""Whether somebody may see and decide about a lesson."""


def everything(_: Episode) -> bool:
    """Who may see all of it."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchView:
    """One batch, and how far its review is; of those lessons that whoever asks may see."""

    batch: Batch
    waiting: int = 0
    held_back: int = 0
    """Waiting too, each to be looked at by itself."""
    approved: int = 0
    rejected: int = 0

    @property
    def total(self) -> int:
        """How many lessons there are."""
        return self.waiting + self.held_back + self.approved + self.rejected

    @property
    def is_open(self) -> bool:
        """Whether something waits."""
        return self.waiting + self.held_back > 0


@dataclass(frozen=True, slots=True)
class Batches:
    """Use cases of whoever learns from files, and of those who look at what came of it."""

    _core: Core

    def intake(self, workspace: str, name: str, digest: str, *, actor: str, is_dry_run: bool = False) -> Intake:
        """Begin with a file, or go on with it: what came of it before is known."""
        with self._core.store.read() as tx:
            known = [each for each in tx.batches.within(workspace) if each.digest == digest and not each.undone_at]
        now = self._core.clock()
        new = Batch(workspace=workspace, id=self._core.new_id(), name=name, digest=digest, actor=actor, at=now)
        return Intake(self._core, known[0] if known else new, is_dry_run=is_dry_run)

    def views(self, workspace: str, narrow: Narrow = everything, *, open_only: bool = False) -> list[BatchView]:
        """Every batch that was not taken back, newest first; those with nothing to see are left out."""
        with self._core.store.read() as tx:
            chosen = [each for each in tx.batches.within(workspace) if each.undone_at is None]
            if open_only:  # looked for first: a batch that is reviewed costs next to nothing
                waiting = tx.episodes.outlines(workspace, _to_decide(chosen)) if chosen else []
                rows = tx.batches.of_lessons(workspace, [each.id for each in waiting])
                still_open = {each.batch_id for each in rows.values()}
                chosen = [each for each in chosen if each.id in still_open]
            found = _views(tx, workspace, chosen, narrow)
        return [each for each in found if each.total and (each.is_open or not open_only)]

    def view(self, workspace: str, batch_id: str, narrow: Narrow = everything) -> BatchView:
        """One batch. Raises `NotFound`."""
        with self._core.store.read() as tx:
            return _views(tx, workspace, [existing_batch(tx, workspace, batch_id)], narrow)[0]

    def find(self, ending: str, workspace: str = "") -> Batch:
        """The one batch with an id that ends so. Raises `NotFound`, and `InvalidInput` where there are several."""
        names = [workspace] if workspace else self._core.store.workspaces()
        with self._core.store.read() as tx:
            found = [each for name in names for each in tx.batches.within(name) if each.id.endswith(ending.lower())]
        if not found or len(ending) < _SHORTEST:
            raise NotFound(f"no batch with an id that ends in {ending!r}; `goodbot review` lists them")
        if len(found) > 1:
            raise InvalidInput(f"{ending!r} is the end of several ids; give more of it")
        return found[0]

    def waiting(
        self, workspace: str, batch_id: str, narrow: Narrow, window: Callable[[int], slice]
    ) -> tuple[list[tuple[Episode, BatchLesson]], int]:
        """A part of what waits in a batch, in the order of the file, and how much it is in all."""
        with self._core.store.read() as tx:
            rows = {each.lesson_id: each for each in tx.batches.lessons(workspace, batch_id)}
            listed = [each.id for each in outlines_waiting(tx, workspace, batch_id, narrow)]
            chosen = listed[window(len(listed))]
            found = tx.episodes.get_many(workspace, chosen)
        return [(found[each], rows[each]) for each in chosen], len(listed)

    def of_lessons(self, workspace: str, lesson_ids: Collection[str]) -> dict[str, BatchLesson]:
        """What these lessons were learned from, by lesson; those of no file are left out."""
        with self._core.store.read() as tx:
            return tx.batches.of_lessons(workspace, lesson_ids)


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The items, as many at a time as one transaction takes."""
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]


def existing_batch(tx: Transaction, workspace: str, batch_id: str) -> Batch:
    """The batch. Raises `NotFound`."""
    batch = tx.batches.get(workspace, batch_id)
    if batch is None:
        raise NotFound(f"no batch {batch_id} in {workspace}; `goodbot review` lists them")
    return batch


def outlines_waiting(tx: Transaction, workspace: str, batch_id: str, narrow: Narrow) -> list[Episode]:
    """Outlines of what waits, in the order of the file."""
    wanted = EpisodeFilter(batches=(batch_id,), limit=None, newest_first=False)
    return [each for each in tx.episodes.outlines(workspace, wanted) if is_waiting(each) and narrow(each)]


def is_waiting(lesson: Episode) -> bool:
    """Whether nobody has decided about it, and somebody else than its people may."""
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
    held = sum(bool(each.quarantine) for each in waiting)
    approved = sum(each.is_lesson and each.verdict is Verdict.SUCCESS for each in lessons)
    return BatchView(
        batch=batch,
        waiting=len(waiting) - held,
        held_back=held,
        approved=approved,
        rejected=len(lessons) - len(waiting) - approved,
    )

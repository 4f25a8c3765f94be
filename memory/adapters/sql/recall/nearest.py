"""Nearest-neighbour search in the recall index: exact in small partitions, by sign-bit planes in large ones.

Every search compares the process's copies with the database by `seq`, and reads newer rows, so copies are never stale.
The same statement checks the planes. Rows that changed since the planes were made are searched in a copy beside them,
which replaces what the planes have of these episodes.

Most searches find nothing changed. In SQLite the first row of the statement says so, and the rows with changes are only
computed if they are fetched. In PostgreSQL a second statement reads them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sqlalchemy import select, text

from memory.adapters.sql.recall.index import EPOCH
from memory.adapters.sql.recall.lessons import LessonCache
from memory.adapters.sql.recall.partition_cache import CachedPartition, Key, PartitionCache
from memory.adapters.sql.recall.partition_copies import (
    EVERY,
    News,
    RowSample,
    State,
    apply,
    read,
    scanned,
)
from memory.adapters.sql.recall.plane_cache import PlaneCache, counter_of
from memory.adapters.sql.tables.episodes import counters
from memory.adapters.sql.tables.lesson_versions import lesson_versions
from memory.adapters.sql.transaction.session import Session
from memory.adapters.vectors.hits import Candidates, Partition
from memory.adapters.vectors.partitions import kth_highest, search
from memory.adapters.vectors.planes import Planes
from memory.ports import Neighbourhood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memory.model import Vector

CANDIDATES = 1024
"""How many candidates from the planes are compared by their codes at least. The exact comparison gets the best
`max(CANDIDATES, 4 * k)` of them at most."""
EXACT_ROWS = 10_000
"""The most rows of a partition that is searched exactly, and the most changes of one that a search reads."""
_SPARE = 16
"""How many more rows are read than wanted, as some may have changed."""
SCANNED = 20_000
"""How many of a large partition's newest rows are searched while its planes are not ready."""

_MARKS = select(lesson_versions)
_EPOCHS = select(counters.c.workspace, counters.c.value).where(counters.c.name == EPOCH)
_COUNT = text("SELECT count(*) FROM (SELECT 1 FROM recall_index WHERE workspace = :w AND partition = :p LIMIT :most)")


class RecallIndex:
    """The process's copies of the partitions of one database, up to `budget` bytes (one is always kept).

    Thread-safe. If a transaction's first statement is the search, its snapshot is taken under the lock, so it is not
    older than the copies. With an older snapshot the partition is read again.
    """

    def __init__(self, budget: int, plane_cache: PlaneCache | None = None, exact_rows: int = EXACT_ROWS) -> None:
        self._budget = budget
        self._exact_rows = exact_rows
        self._copies = PartitionCache()
        self._plane_cache = plane_cache
        self._large: set[Key] = set()
        self._epochs: dict[str, _SeenEpoch] = {}
        """By workspace."""
        self._lock = Lock()
        self.lessons = LessonCache()

    def nearest(
        self,
        session: Session,
        workspace: str,
        partitions: Sequence[str],
        model: str,
        vector: "Vector",
        k: int,
        min_cosine: float,
        proposals: Sequence[str] = (),
        actions: Sequence[str] = (),
        *,
        include_gave_up: bool = True,
    ) -> Neighbourhood:
        """`EpisodeTable.nearest` in the snapshot of this transaction."""
        names, others = list(dict.fromkeys(partitions)), list(dict.fromkeys(proposals))
        with self._lock:
            # Rows that this transaction has written may be rolled back, so they must not get into shared copies.
            copies = PartitionCache() if workspace in session.indexed else self._copies
            reader = _Reader(
                session, copies, self._plane_cache, self._large, self._exact_rows, workspace, model, len(vector)
            )
            loaded = reader.loaded([*names, *others])
            found = search(
                loaded[: len(names)],
                vector,
                k,
                min_cosine,
                actions,
                loaded[len(names) :],
                include_gave_up=include_gave_up,
            )
            if reader.epoch is not None:
                self._note_epoch(session, workspace, reader.epoch)
            copies.shrink(self._budget)
        self.lessons.note_mark(session, workspace)
        return found

    def erased(self, workspaces: Iterable[str]) -> None:
        """Drop what is kept of these workspaces, whose tombstones were just deleted, and all lessons."""
        self.lessons.clear()
        with self._lock:
            for workspace in workspaces:
                self._epochs[workspace] = _SeenEpoch(None, is_latest=False, since=self.lessons.next_erasure())
                self._drop(workspace, None)

    def drop_erased(self, session: Session) -> None:
        """Drop what other processes have erased of any workspace, also of those that nobody searches any more."""
        for row in session.rows(_MARKS):
            session.note_mark(row.workspace, row.mark)
        with self._lock:
            for row in session.rows(_EPOCHS):
                if row.workspace in self._epochs:
                    self._note_epoch(session, row.workspace, row.value)
        for workspace in self.lessons.workspaces():
            self.lessons.note_mark(session, workspace)

    def _note_epoch(self, session: Session, workspace: str, epoch: int) -> None:
        """Drop the workspace's copies of other epochs, which have erased rows, also of partitions nobody searches.

        Of a transaction that may be older than the last erasure, no copy is kept (`LessonCache`).
        """
        known = self._epochs.get(workspace)
        if known is None:
            self._epochs[workspace] = _SeenEpoch(epoch, is_latest=True, since=self.lessons.next_erasure())
        elif not known.is_latest or known.epoch != epoch:
            # An epoch that was seen already is not noted anew, so that readers who overlap come to an end of it.
            since = known.since if known.epoch == epoch else self.lessons.next_erasure()
            is_latest = session.erasures_seen >= known.since
            self._epochs[workspace] = _SeenEpoch(epoch, is_latest, since)
            self._drop(workspace, epoch if is_latest else None)

    def _drop(self, workspace: str, but_of: int | None) -> None:
        """Drop the workspace's copies but those of this epoch, and all that is kept of its planes."""
        self._copies.drop_workspace(workspace, but_of)
        if self._plane_cache is not None:
            self._plane_cache.drop_workspace(workspace)


class _SeenEpoch(NamedTuple):
    """The epoch of a workspace's index that a search has read."""

    epoch: int | None
    """None if none was read since this process erased something."""
    is_latest: bool
    """Whether no erasure after it is known. Else no copies are kept."""
    since: int
    """The number of the erasure with which it began (`LessonCache.erasures_seen`)."""


@dataclass(slots=True)
class _Source:
    """Where a partition is searched: in a copy of all its rows, or in planes and a copy of later rows."""

    key: Key
    copy: CachedPartition
    planes: Planes | None = None


@dataclass(slots=True)
class _Reader:
    """Brings the partitions of one search up to date with the transaction's snapshot."""

    session: Session
    copies: PartitionCache
    plane_cache: PlaneCache | None
    large: set[Key]
    """The partitions that may have planes."""
    exact_rows: int
    workspace: str
    model: str
    dimension: int
    epoch: int | None = None
    """The epoch that was read last."""

    def loaded(self, names: Sequence[str]) -> list[Partition]:
        """The partitions as of the snapshot, in the order of the names."""
        if not names:
            return []
        held = {name: self._held(name) for name in names}
        since = {name: source.copy.seq for name, source in held.items()}
        state = self._read(since, self.exact_rows if self.plane_cache is not None else EVERY)
        if all(self._is_unchanged(source, state) for source in held.values()):
            return [self._searched(held[name]) for name in names]
        ready = self._brought_up_to_date(held, state)
        return [ready[name] for name in names]

    def _brought_up_to_date(self, held: "dict[str, _Source]", state: State) -> dict[str, Partition]:
        news = state.news()
        ready: dict[str, Partition] = {}
        fresh: dict[str, _Source] = {}
        for name, source in held.items():
            if self._is_current(source, state):
                ready[name] = self._updated(source, state, news[name])
            else:
                self.copies.drop(source.key)
                source_or_scan = self._replacement(name, state)
                if isinstance(source_or_scan, _Source):
                    fresh[name] = source_or_scan
                else:
                    ready[name] = source_or_scan
        if fresh:
            # The other partitions are in it, too, without rows, so that the same compiled statement is used.
            since = {name: fresh[name].copy.seq if name in fresh else state.numbers.get(name, 0) for name in held}
            again = self._read(since, EVERY)
            news = again.news()
            ready |= {name: self._updated(source, again, news[name]) for name, source in fresh.items()}
        return ready

    def _key(self, name: str, planes: int = 0) -> Key:
        return Key(self.workspace, name, self.model, self.dimension, planes)

    def _held(self, name: str) -> _Source:
        key = self._key(name)
        planes = self.plane_cache.held(key) if self.plane_cache is not None and key in self.large else None
        return self._beside(name, planes) if planes is not None else _Source(key, self.copies.held(key))

    def _beside(self, name: str, planes: Planes) -> _Source:
        key = self._key(name, planes.token)
        return _Source(key, self.copies.held(key, planes.epoch, planes.seq), planes)

    def _read(self, since: dict[str, int], most: int) -> State:
        state = read(self.session, self.workspace, since, self._counters(since), self.model, self.dimension, most)
        self.epoch = state.epoch
        return state

    def _counters(self, names: Iterable[str]) -> list[str]:
        """The names of the counters with the tokens of valid planes; none if no partition can have planes."""
        if not self.large:
            return []
        keys = list(map(self._key, names))
        return [] if self.large.isdisjoint(keys) else list(map(counter_of, keys))

    def _is_unchanged(self, source: _Source, state: State) -> bool:
        return source.copy.seq == state.numbers[source.key.partition] and self._is_current(source, state)

    def _is_current(self, source: _Source, state: State) -> bool:
        copy, newest = source.copy, state.numbers.get(source.key.partition, 0)
        if source.planes is not None:
            is_valid = source.planes.token == state.numbers.get(counter_of(self._key(source.key.partition)), 0)
        else:
            is_valid = True
        is_new = not copy.seq and source.planes is None
        is_of_now = is_new or (copy.epoch == state.epoch and copy.seq <= newest)
        return is_valid and is_of_now and (self.plane_cache is None or newest - copy.seq <= self.exact_rows)

    def _replacement(self, name: str, state: State) -> "_Source | Partition":
        """The replacement for a source that is not current or too far behind: planes, a new copy, or a scan."""
        newest = state.numbers.get(name, 0)
        if self.plane_cache is not None and newest > self.exact_rows:
            planes = self.plane_cache.valid(self._key(name), self._token(name, state), state.epoch)
            if planes is not None and planes.seq <= newest <= planes.seq + self.exact_rows:
                return self._beside(name, planes)
            if self._is_large(name):
                self.plane_cache.prepare(self._key(name))
                return scanned(self.session, self._key(name), SCANNED)
        key = self._key(name)
        self.copies.drop(key)
        return _Source(key, self.copies.held(key, state.epoch))

    def _token(self, name: str, state: State) -> int:
        """The token of the valid planes in the database; 0 if there are none."""
        key = self._key(name)
        if key not in self.large:
            self.large.add(key)
            state = read(self.session, self.workspace, {}, [counter_of(key)])
        return state.numbers.get(counter_of(key), 0)

    def _is_large(self, name: str) -> bool:
        found = self.session.rows(_COUNT, {"w": self.workspace, "p": name, "most": self.exact_rows + 1})
        return int(found[0][0]) > self.exact_rows

    def _updated(self, source: _Source, state: State, news: Sequence[News]) -> Partition:
        name, copy = source.key.partition, source.copy
        self.copies.drop(source.key)  # so that no half-updated copy stays if this is interrupted
        for each in news:
            with self.session.readable():
                changed = apply(each, copy.vectors, self.dimension)
            if source.planes is not None:
                copy.changed.update(changed)
        copy.epoch, copy.seq = state.epoch, state.numbers.get(name, 0)
        self.copies.put(source.key, copy)
        return self._searched(source)

    def _searched(self, source: _Source) -> Partition:
        """The partition to search. Missing or outdated planes are made in the background."""
        name, copy = source.key.partition, source.copy
        if self.plane_cache is None:
            return copy.vectors
        if source.planes is None:
            if len(copy.vectors) > self.exact_rows:
                self.large.add(self._key(name))
                self.plane_cache.prepare(self._key(name))
            return copy.vectors
        if copy.seq - source.planes.seq > self.exact_rows // 2:
            self.plane_cache.prepare(self._key(name))
        sample = self.plane_cache.sample(self._key(name), source.planes.token)
        return _PlanePartition(self.session, self._key(name), self.plane_cache, source.planes, copy, sample)


@dataclass(frozen=True, slots=True)
class _PlanePartition:
    """A large partition: its planes, later rows, and a sample of the rows in the planes."""

    session: Session
    key: Key
    plane_cache: PlaneCache
    planes: Planes
    later: CachedPartition
    sample: RowSample | None

    def __len__(self) -> int:
        return len(self.planes) + len(self.later.vectors)

    def find(
        self, query: "Vector", k: int, least: Callable[[], float], actions: tuple[str, ...], *, include_gave_up: bool
    ) -> "tuple[Sequence[Candidates], NDArray[np.float64] | None]":
        """`Partition.find`, with the totals of actions from a sample of the planes' rows and all later rows."""
        near = self._nearest(query, k, least(), include_gave_up=include_gave_up)
        of_sample = self.planes.cosines(query, self.sample.seqs) if actions and self.sample is not None else None
        if not self.plane_cache.is_usable(self.planes):  # erased meanwhile, or damaged
            return scanned(self.session, self.key, SCANNED).find(
                query, k, least, actions, include_gave_up=include_gave_up
            )
        found, totals = self.later.vectors.find(query, k, least, actions, include_gave_up=include_gave_up)
        if of_sample is not None and self.sample is not None:
            sampled = self.sample.rows.approved(of_sample, actions)
            totals = sampled if totals is None else totals + sampled
        return [*found, *near], totals

    def _nearest(self, query: "Vector", k: int, least: float, *, include_gave_up: bool) -> list[Candidates]:
        """Candidates with the k nearest unchanged rows of the planes, and those as near as the k-th.

        Repeats the search without the changed rows it met, until it meets no new ones.
        """
        without = [np.empty(0, np.intp) if include_gave_up else self.planes.gave_up]
        while True:
            known = len(self.later.outdated)
            outdated = np.fromiter(self.later.outdated, np.intp, known)
            found = self._searched(query, k, least, [*without, outdated])
            if len(self.later.outdated) == known:
                return found

    def _searched(
        self, query: "Vector", k: int, least: float, without: "Sequence[NDArray[np.intp]]"
    ) -> list[Candidates]:
        places, bounds = self.planes.nearest(query, max(CANDIDATES, 4 * k), least, without)
        found: list[Candidates] = []
        start, many = 0, int(np.count_nonzero(bounds >= least)) if k > 0 else 0
        while start < many and bounds[start] >= least:
            end = min(many, start + k + _SPARE)
            found.append(self._compared(query, places[start:end], bounds[start:end]))
            least = kth_highest(np.concatenate([each.cosines for each in found]), k, least)
            start = end
        return found

    def _compared(self, query: "Vector", places: "NDArray[np.intp]", bounds: "NDArray[np.float32]") -> Candidates:
        """These rows with exact cosines; changed rows get -inf."""
        rows = self.planes.rows.found(places)
        cosines = np.vecdot(rows.vectors, query)
        if not self.planes.codes.are_sound(places, bounds, cosines, query[None]):
            self.plane_cache.reject(self.planes)
        is_changed = np.array([each in self.later.changed for each in rows.ids])
        self.later.outdated.update(places[is_changed].tolist())
        np.clip(cosines, -1.0, 1.0, out=cosines)
        cosines[is_changed] = -np.inf
        return Candidates(cosines, rows)

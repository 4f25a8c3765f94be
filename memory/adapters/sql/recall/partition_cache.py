"""The process's cache of partition copies, with a memory budget."""

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from memory.adapters.vectors.partitions import VectorPartition


class Key(NamedTuple):
    """The key of a copy."""

    workspace: str
    partition: str
    model: str
    dimension: int
    planes: int = 0
    """The token of the planes whose later rows it has; 0 if it has all rows."""


@dataclass(slots=True)
class CachedPartition:
    """The rows of a partition as of an epoch and a `seq`."""

    epoch: int
    seq: int
    vectors: VectorPartition
    changed: set[str] = field(default_factory=set[str])
    """Episodes whose rows were added, changed or removed since the planes were made."""
    outdated: set[int] = field(default_factory=set[int])
    """Places in the planes of changed rows that searches have met."""
    used: int = 0
    """The number of the cache's search that used it last."""


IDLE = 256
"""A copy that so many searches did not use is narrowed to half of its memory, until it is used twice again."""
_NARROWED = 4
"""How many copies are checked for this after each search."""


class PartitionCache:
    """Copies of partitions, least recently used first. Not thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, tuple[CachedPartition, int]] = OrderedDict()
        self._wide: OrderedDict[Key, CachedPartition] = OrderedDict()
        """The copies that are not narrow, in the same order."""
        self._nbytes = 0
        self._searches = 0

    def __len__(self) -> int:
        return len(self._kept)

    def held(self, key: Key, epoch: int = 0, seq: int = 0) -> CachedPartition:
        """The copy, now the most recently used; a new empty one at this epoch and `seq` if there is none.

        To change its rows, `drop` it first and `put` it back, so that its size is counted again.
        """
        if key not in self._kept:
            self.put(key, CachedPartition(epoch, seq, VectorPartition(key.dimension)))
        self._kept.move_to_end(key)
        copy = self._kept[key][0]
        if key in self._wide:
            self._wide.move_to_end(key)
        elif self._searches - copy.used <= IDLE:
            copy.vectors.widen()
            self._count(key, copy)
        copy.used = self._searches
        return copy

    def drop(self, key: Key) -> None:
        """Drop a copy, if it is here."""
        if kept := self._kept.pop(key, None):
            self._nbytes -= kept[1]
            self._wide.pop(key, None)

    def drop_workspace(self, workspace: str, but_of: int | None) -> None:
        """Drop the copies of a workspace, but those of the epoch `but_of`."""
        for key in [key for key in self._kept if key.workspace == workspace and self._kept[key][0].epoch != but_of]:
            self.drop(key)

    def put(self, key: Key, copy: CachedPartition) -> None:
        """Add a copy that is not here, as the most recently used."""
        copy.used = self._searches
        self._count(key, copy)

    def shrink(self, budget: int) -> None:
        """After a search: narrow idle copies, then drop the least recently used ones until the budget holds.

        One copy is always kept.
        """
        self._searches += 1
        for key, copy in list(islice(self._wide.items(), _NARROWED)):
            if self._searches - copy.used > IDLE:
                copy.vectors.narrow()
                self._count(key, copy)
        while self._nbytes > budget and len(self._kept) > 1:
            self.drop(next(iter(self._kept)))

    def _count(self, key: Key, copy: CachedPartition) -> None:
        """Update a copy's size; a new one becomes the most recently used."""
        nbytes = copy.vectors.nbytes + 1000  # of empty copies there may be many
        self._nbytes += nbytes - self._kept.get(key, (copy, 0))[1]
        self._kept[key] = copy, nbytes
        self._wide.pop(key, None)
        if not copy.vectors.is_narrow:
            self._wide[key] = copy

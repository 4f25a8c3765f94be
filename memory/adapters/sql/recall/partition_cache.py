"""Which copies of partitions this process keeps, and in how much memory."""

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from memory.adapters.vectors.partitions import VectorPartition


class Key(NamedTuple):
    """What a copy is of."""

    workspace: str
    partition: str
    model: str
    dimension: int
    planes: int = 0
    """The token of the planes that it has the later rows of; 0: it has all of them."""


@dataclass(slots=True)
class CachedPartition:
    """The rows of a partition as they were at an epoch and a `seq`."""

    epoch: int
    seq: int
    vectors: VectorPartition
    changed: set[str] = field(default_factory=set[str])
    """The episodes whose rows came, changed or went since the planes that it is beside."""
    outdated: set[int] = field(default_factory=set[int])
    """The places in those planes of what changed, as far as searches met it."""
    used: int = 0
    """At which search of the cache."""


IDLE = 256
"""What so many searches did not use takes half of the memory until it is used twice again."""
_NARROWED = 4
"""Of how many partitions that is seen to after one search."""


class PartitionCache:
    """Partitions in order of use."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, tuple[CachedPartition, int]] = OrderedDict()
        self._wide: OrderedDict[Key, CachedPartition] = OrderedDict()
        """Those that are not narrow, in the same order."""
        self._nbytes = 0
        self._searches = 0

    def __len__(self) -> int:
        return len(self._kept)

    def held(self, key: Key, epoch: int = 0, seq: int = 0) -> CachedPartition:
        """As the one used last; an empty one, at this epoch and `seq`, if it is not here. Not to be changed here."""
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
        """Keep it no longer."""
        if kept := self._kept.pop(key, None):
            self._nbytes -= kept[1]
            self._wide.pop(key, None)

    def put(self, key: Key, copy: CachedPartition) -> None:
        """As the one used last; it is not here."""
        copy.used = self._searches
        self._count(key, copy)

    def shrink(self, budget: int) -> None:
        """After a search: drop those used longest ago, until the bytes are within the budget or one is left."""
        self._searches += 1
        for key, copy in list(islice(self._wide.items(), _NARROWED)):
            if self._searches - copy.used > IDLE:
                copy.vectors.narrow()
                self._count(key, copy)
        while self._nbytes > budget and len(self._kept) > 1:
            self.drop(next(iter(self._kept)))

    def _count(self, key: Key, copy: CachedPartition) -> None:
        """Where it is among those that are kept; else as the one used last."""
        nbytes = copy.vectors.nbytes + 1000  # even an empty one, of which there may be many, is no nothing
        self._nbytes += nbytes - self._kept.get(key, (copy, 0))[1]
        self._kept[key] = copy, nbytes
        self._wide.pop(key, None)
        if not copy.vectors.is_narrow:
            self._wide[key] = copy

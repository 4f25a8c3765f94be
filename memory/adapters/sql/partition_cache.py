"""A cache of partitions of the recall index in this process."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

from memory.adapters.partitions import VectorPartition


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


class PartitionCache:
    """Partitions in order of use."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, tuple[CachedPartition, int]] = OrderedDict()
        self._nbytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, key: Key, epoch: int = 0, seq: int = 0) -> CachedPartition:
        """Out of here, for it may be changed; an empty one, at this epoch and `seq`, if it is not here."""
        copy, nbytes = self._kept.pop(key, (CachedPartition(epoch, seq, VectorPartition(key.dimension)), 0))
        self._nbytes -= nbytes
        return copy

    def put(self, key: Key, copy: CachedPartition) -> None:
        """As the one used last."""
        nbytes = copy.vectors.nbytes + 1000  # even an empty one, of which there may be many, is no nothing
        self._kept[key] = (copy, nbytes)
        self._nbytes += nbytes

    def shrink(self, budget: int) -> None:
        """Drop those used longest ago, until the bytes are within the budget or one is left."""
        while self._nbytes > budget and len(self._kept) > 1:
            _, (_, nbytes) = self._kept.popitem(last=False)
            self._nbytes -= nbytes

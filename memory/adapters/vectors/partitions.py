"""Exact vector search in one partition, and the search over several partitions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import compress
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from memory.adapters.vectors.action_rows import NOTHING_FOUND, ActionRows
from memory.adapters.vectors.halves import finite_rows, floats, halves, room
from memory.adapters.vectors.hits import Candidates, Partition, RowKind
from memory.ports import ActionFit, Neighbourhood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memory.model import Vector


_SETS_OF_ACTIONS = 4
"""For how many sets of actions a partition caches its `ActionRows`."""
_BYTES_OF_ROW, _BYTES_OF_PLACE = 100, 120
"""Approximate bytes of a row without its vector, and of its entry in the map from ids to places."""

BLOCK = 1024
"""Rows in a block of vectors. A partition that grows copies at most one block."""
_AT_ONCE = 256
"""How many float16 rows are widened at once, so that they stay in the CPU cache."""
_SPARE = 8
"""How many more rows are read than wanted, as some may be of the same episode."""

Hit = tuple[float, str, RowKind, "Vector"]
"""A found row: cosine, episode id, kind, vector."""


class VectorPartition:
    """The rows of one partition: vectors of one model, and columns with ids and kinds.

    The vectors are float32, which is fastest to search, or float16 as stored, in half of the memory (`narrow`).
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._blocks: list[NDArray[np.float32]] = []
        self._is_narrow = False
        self._narrow: list[NDArray[np.float16]] = []
        """Replaces `_blocks` while narrow."""
        self._ids: list[str] = []
        self._narrow_ids = np.zeros(0, np.bytes_)
        """Replaces `_ids` while narrow."""
        self._place: dict[str, int] | None = None
        """Places by episode id; None until they are needed."""
        self._kinds: list[RowKind] = []
        self._number_of: dict[RowKind, int] = {}
        self._numbers = np.zeros(0, np.int32)
        """The number of each row's kind."""
        self._found_nothing: list[int] = []
        """The numbers of kinds with the approval `NOTHING_FOUND`."""
        self._approved: dict[tuple[str, ...], ActionRows] = {}

    def __len__(self) -> int:
        return len(self._narrow_ids if self._is_narrow else self._ids)

    @property
    def nbytes(self) -> int:
        """The approximate size in bytes."""
        of_row = _BYTES_OF_ROW if self._place is None else _BYTES_OF_ROW + _BYTES_OF_PLACE
        of_ids = of_row * len(self._ids) + self._narrow_ids.nbytes + self._numbers.nbytes
        return sum([block.nbytes for block in self._blocks]) + sum([each.nbytes for each in self._narrow]) + of_ids

    @property
    def is_narrow(self) -> bool:
        """Whether the vectors are float16."""
        return self._is_narrow

    def narrow(self) -> None:
        """Store the vectors as the float16 that they came as, and ids as bytes, until a row is added or removed."""
        if not self._is_narrow:
            count = len(self._ids)
            whole = zip(self._blocks, range(0, count, BLOCK), strict=False)
            self._narrow = [halves(block[: count - start]) for block, start in whole]
            self._narrow_ids = np.array([each.encode() for each in self._ids], np.bytes_)
            self._blocks, self._ids, self._place, self._is_narrow = [], [], None, True

    def widen(self) -> None:
        """Store the vectors as float32 again."""
        if self._is_narrow:
            self._blocks, self._ids = list(map(floats, self._narrow)), self._ids_at(np.arange(len(self)))
            self._narrow, self._narrow_ids, self._is_narrow = [], np.zeros(0, np.bytes_), False

    def add(
        self, ids: Sequence[str], kinds: Sequence[RowKind], of_row: Sequence[int], matrix: "NDArray[np.floating]"
    ) -> None:
        """Append rows of shape (len(ids), dimension), each replacing the episode's earlier one.

        `of_row` has the index in `kinds` for each row. Rows that are not finite are dropped.
        """
        self.widen()
        self.remove(ids)
        numbers = self._numbered(kinds)[np.asarray(of_row, np.intp)]
        wide, is_finite = finite_rows(matrix)
        if not is_finite.all():
            ids, numbers, wide = list(compress(ids, is_finite)), numbers[is_finite], wide[is_finite]
        start = len(self._ids)
        self._put(start, wide)
        if start + len(ids) > len(self._numbers):
            self._numbers = np.concatenate([self._numbers[:start], numbers, np.zeros(start, np.int32)])
        self._numbers[start : start + len(ids)] = numbers
        self._ids.extend(ids)
        if self._place is not None:
            self._place.update(zip(ids, range(start, len(self._ids)), strict=True))
        self._forget_rows()

    def remove(self, episode_ids: Iterable[str]) -> None:
        """Drop the rows of these episodes, if they are here: the last row takes the place of each."""
        self.widen()
        if not self._ids:
            return
        if self._place is None:
            self._place = dict(zip(self._ids, range(len(self._ids)), strict=True))
        for episode_id in episode_ids:
            place = self._place.pop(episode_id, None)
            if place is None:
                continue
            last = self._ids.pop()
            if last != episode_id:
                self._ids[place] = last
                self._numbers[place] = self._numbers[len(self._ids)]
                self._row(place)[:] = self._row(len(self._ids))
                self._place[last] = place
            self._forget_rows()

    def cosines(self, vector: "Vector") -> "NDArray[np.float32]":
        """The cosines of all rows with a finite vector. A zero vector has the cosine 0 with every row."""
        # vecdot uses no BLAS threads, which spin when the machine is busy; numpy's float32 is as fast for one query.
        count = len(self)
        found = np.empty(count, np.float32)
        for block, start in zip(self._blocks, range(0, count, BLOCK), strict=False):
            np.vecdot(block[: count - start], vector, out=found[start : start + BLOCK])
        if self._is_narrow:
            self._narrow_products(vector, found)
        np.maximum(found, -1.0, out=found)
        return np.minimum(found, 1.0, out=found)

    def _narrow_products(self, vector: "Vector", found: "NDArray[np.float32]") -> None:
        wide = np.empty((_AT_ONCE, self._dimension), np.float32)
        for number, block in enumerate(self._narrow):
            of_block = found[number * BLOCK : (number + 1) * BLOCK]
            for start in range(0, len(of_block), _AT_ONCE):
                some = of_block[start : start + _AT_ONCE]
                np.vecdot(floats(block[start : start + len(some)], wide[: len(some)]), vector, out=some)

    def find(
        self, query: "Vector", _k: int, _least: Callable[[], float], actions: tuple[str, ...], *, include_gave_up: bool
    ) -> "tuple[Sequence[Candidates], NDArray[np.float64] | None]":
        """`Partition.find`, with all rows as candidates."""
        if not len(self):
            return (), None
        cosines = self.cosines(query)
        approved = self.approved(cosines, actions) if actions else None
        for number in self._found_nothing if not include_gave_up else ():
            cosines[self._numbers[: len(cosines)] == number] = -np.inf
        return [Candidates(cosines, self)], approved

    def approved(self, cosines: "NDArray[np.float32]", actions: tuple[str, ...]) -> "NDArray[np.float64]":
        """Shape (2, actions): how many rows approve each action, and the sum of their cosines."""
        found = self._approved.pop(actions, None) or ActionRows(actions)
        self._approved[actions] = found
        if len(self._approved) > _SETS_OF_ACTIONS:
            del self._approved[next(iter(self._approved))]
        return found.totals(cosines, self._numbers[: len(cosines)], (kind.approves for kind in self._kinds))

    def at(self, places: "NDArray[np.intp]") -> "tuple[Iterable[str], Iterable[RowKind], Iterable[Vector]]":
        kinds = map(self._kinds.__getitem__, self._numbers[places].tolist())
        if self._is_narrow:
            vectors = [floats(self._narrow[place // BLOCK][place % BLOCK]) for place in places.tolist()]
        else:
            vectors = [self._blocks[place // BLOCK][place % BLOCK] for place in places.tolist()]
        return self._ids_at(places), kinds, vectors

    def _ids_at(self, places: "NDArray[np.intp]") -> list[str]:
        if self._is_narrow:
            return [each.decode() for each in self._narrow_ids[places].tolist()]
        return list(map(self._ids.__getitem__, places.tolist()))

    def _row(self, place: int) -> "NDArray[np.float32]":
        found: NDArray[np.float32] = self._blocks[place // BLOCK][place % BLOCK]
        return found

    def _numbered(self, kinds: Sequence[RowKind]) -> "NDArray[np.int32]":
        """The numbers of these kinds; new kinds get one."""
        if len(self._kinds) > 2 * len(self._ids) + BLOCK:  # most kinds are unused
            self._renumber()
        return self._added(kinds)

    def _added(self, kinds: Sequence[RowKind]) -> "NDArray[np.int32]":
        for kind in kinds:
            if kind not in self._number_of:
                if kind.approves == NOTHING_FOUND:
                    self._found_nothing.append(len(self._kinds))
                self._number_of[kind] = len(self._kinds)
                self._kinds.append(kind)
        return np.array([self._number_of[kind] for kind in kinds], np.int32)

    def _renumber(self) -> None:
        used, places = np.unique(self._numbers[: len(self._ids)], return_inverse=True)
        known = [self._kinds[number] for number in used.tolist()]
        self._kinds, self._number_of, self._found_nothing = [], {}, []
        self._numbers = self._added(known)[places]
        self._approved.clear()

    def _forget_rows(self) -> None:
        for approved in self._approved.values():
            approved.forget_rows()

    def _put(self, start: int, matrix: "NDArray[np.float32]") -> None:
        """Write rows from the place `start` on. Into an empty partition they are not copied."""
        if not start:
            self._blocks = [matrix[place : place + BLOCK] for place in range(0, len(matrix), BLOCK)]
            return
        taken = 0
        while taken < len(matrix):
            number, place = divmod(start + taken, BLOCK)
            some = min(BLOCK - place, len(matrix) - taken)
            self._block(number, place + some)[place : place + some] = matrix[taken : taken + some]
            taken += some

    def _block(self, number: int, rows: int) -> "NDArray[np.float32]":
        """The block with this number, with room for at least so many rows. Blocks grow by doubling up to `BLOCK`."""
        if number == len(self._blocks):
            self._blocks.append(room((rows, self._dimension), np.float32))
        block = self._blocks[number]
        if rows > len(block):
            grown = room((min(BLOCK, max(rows, 2 * len(block))), self._dimension), np.float32)
            grown[: len(block)] = block
            block = self._blocks[number] = grown
        return block


def search(
    partitions: Sequence[Partition],
    vector: "Vector",
    k: int,
    min_cosine: float,
    actions: Sequence[str] = (),
    proposals: Sequence[Partition] = (),
    *,
    include_gave_up: bool = True,
) -> Neighbourhood:
    """The k nearest rows of several partitions. An episode in several of them counts as its row in the first.

    Partitions `proposals` come last, and do not count for the fits of actions. Without `include_gave_up`, rows of runs
    that found no answer are left out. A vector whose length is not finite finds nothing.
    """
    query = np.asarray(vector, np.float32)
    found: list[Candidates] = []
    totals = np.zeros((2, len(actions)))
    least, wanted = partial(_least_of_best, found, k, min_cosine), tuple(actions)
    is_usable = isfinite(query.dot(query))
    for number, partition in enumerate((*partitions, *proposals) if is_usable else ()):
        if len(partition):
            of_these = wanted if number < len(partitions) else ()
            candidates, approved = partition.find(query, k, least, of_these, include_gave_up=include_gave_up)
            found += candidates
            if approved is not None:
                totals += approved
    fits = {
        action: ActionFit(lessons, total / lessons)
        for action, lessons, total in zip(actions, *totals.tolist(), strict=True)
        if lessons
    }
    hits, searched = _best(found, k, min_cosine), sum(map(len, partitions))
    if not hits:
        return Neighbourhood(searched=searched, fits=fits)
    cosines, ids, kinds, vectors = zip(*hits, strict=True)
    audiences, verdicts, _ = zip(*kinds, strict=True)
    return Neighbourhood(
        searched=searched,
        ids=ids,
        cosines=cosines,
        audiences=audiences,
        verdicts=verdicts,
        vectors=np.concatenate(vectors).reshape(len(ids), -1),  # a copy, as rows move in their partition
        fits=fits,
    )


def _best(found: Sequence[Candidates], k: int, min_cosine: float) -> list[Hit]:
    """The k best hits, best first, ties by later id. Of an episode's rows the first one counts."""
    if not found or k < 1:
        return []
    cosines = np.concatenate([each.cosines for each in found]) if len(found) > 1 else found[0].cosines
    many = k + _SPARE if len(found) > 1 else k
    while True:
        least = kth_highest(cosines, many, min_cosine)
        hits = [hit for each in found for hit in _hits(each, least)]
        first = {hit[1]: hit for hit in reversed(hits)}
        if len(first) >= k or len(hits) < many:
            return sorted(first.values(), reverse=True)[:k]
        many = many * k // len(first) + _SPARE


def _hits(candidates: Candidates, least: float) -> Iterator[Hit]:
    """The rows with at least this cosine."""
    (places,) = (candidates.cosines >= least).nonzero()
    return zip(candidates.cosines[places].tolist(), *candidates.rows.at(places), strict=True)


def kth_highest(cosines: "NDArray[np.float32]", k: int, least: float) -> float:
    """The k-th highest of the cosines that are at least `least`; `least` if there are fewer than k."""
    high = cosines[cosines >= least]
    if not 0 < k <= len(high):
        return least
    high.partition(len(high) - k)
    return float(high[len(high) - k])


def _least_of_best(found: Sequence[Candidates], k: int, least: float) -> float:
    """The least cosine that may still be among the k best, given the candidates found so far."""
    return max([least, *(kth_highest(each.cosines, k, least) for each in found)])

"""Exact vector search in the process: one partition's vectors side by side, and the merge of several partitions."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, islice, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from memory.model import GAVE_UP, Audience, Verdict
from memory.ports import ActionFit, Neighbour, Neighbourhood
from memory.rules.evidence.answers import named_action

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memory.model import Vector


Label = tuple[str, Audience, Verdict]
"""Whose row it is (an episode's id), and the audience and verdict it is found with."""

_RANK = itemgetter(0, 1)
_SETS_OF_ACTIONS = 4
"""For how many sets of actions a partition keeps which rows approve them."""


BLOCK = 1024
"""How many rows lie side by side: a partition that grows copies no more than these."""


FROM_ONE = 10
"""How many rows of one person count for one action; if there are more, each counts less."""


class Approval(NamedTuple):
    """What a row approves."""

    action: str
    words: str
    """What a person wrote as the right answer, if it is short: it may name an action. Empty for what the agent did."""
    author: str


NOTHING_FOUND = Approval(GAVE_UP, "", "")
"""What stands for a row of a run that found no answer, whatever its verdict."""


class ActionRows:
    """The rows of one partition by the action that they approve, of some actions, and by their author."""

    def __init__(self, actions: Sequence[str]) -> None:
        self._actions = tuple(actions)
        self._column = {name: column for column, name in enumerate(actions)}
        self._groups: dict[tuple[int, str], int] = {}
        self._group_of: list[int] = []
        """By the number of an approval; 0 for one of none of the actions."""
        self._of_row = np.zeros(0, np.intp)
        self._is_current = False

    def forget_rows(self) -> None:
        """The rows are others now."""
        self._is_current = False

    def totals(
        self, cosines: "NDArray[np.float32]", approvals: "NDArray[np.intp]", known: Mapping[Approval | None, int]
    ) -> "NDArray[np.float64]":
        """Shape (2, actions): how many rows approve each action, and the sum of their cosines.

        Of each row the number of what it approves in `known`, to which more may have come at the end.
        """
        if not self._is_current:
            self._group_of += map(self._group, islice(known, len(self._group_of), None))
            self._of_row = np.array(self._group_of, np.intp)[approvals]
            self._columns = np.array([column for column, _ in self._groups], np.intp)
            rows = np.bincount(self._of_row, minlength=len(self._columns) + 1)[1:]
            self._share = np.minimum(rows, FROM_ONE) / np.maximum(rows, 1)
            self._rows = self._by_action(rows)
            self._is_current = True
        sums = np.bincount(self._of_row, cosines, minlength=len(self._columns) + 1)[1:]
        return np.stack([self._rows, self._by_action(sums)])

    def _by_action(self, of_groups: "NDArray[np.floating | np.integer]") -> "NDArray[np.float64]":
        return np.bincount(self._columns, self._share * of_groups, len(self._actions)).astype(np.float64, copy=False)

    def _group(self, approval: Approval | None) -> int:
        if approval is None:
            return 0
        action, words, author = approval
        column = self._column.get(named_action(words, self._actions) if words else action)
        return 0 if column is None else self._groups.setdefault((column, author), len(self._groups) + 1)


class Rows(Protocol):
    """Where vectors lie."""

    def vector(self, place: int) -> "Vector":
        """That of one row, which may change with the next change of the partition."""
        ...


Hit = tuple[float, Label, int, Rows]
"""A row that was found: its cosine, whose it is, and where it lies."""


class Partition(Protocol):
    """What can be searched."""

    def __len__(self) -> int:
        """How many rows it has."""
        ...

    def find(
        self, query: "Vector", k: int, min_cosine: float, actions: tuple[str, ...], *, gave_up: bool
    ) -> "tuple[list[Hit], NDArray[np.float64] | None]":
        """The k rows most like the query with at least this cosine, in any order; of equal ones those of later ids.

        Without `gave_up`, none of `NOTHING_FOUND`. There may be more of those that are as like it as the last. And, if
        there are actions, of shape (2, actions): how many rows approve each, and the sum of their cosines.
        """
        ...


class VectorPartition:
    """The vectors of one partition, all of one model, as float32: exact."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._blocks: list[NDArray[np.float32]] = []
        self._labels: list[Label] = []
        self._place: dict[str, int] = {}
        self._numbers: dict[Approval | None, int] = {}
        self._approvals = np.zeros(0, np.intp)
        """Of each row the number of what it approves."""
        self._approved: dict[tuple[str, ...], ActionRows] = {}

    def __len__(self) -> int:
        return len(self._labels)

    @property
    def nbytes(self) -> int:
        """Bytes held by the vectors, and about 200 per row for its labels."""
        return sum([block.nbytes for block in self._blocks]) + 200 * len(self._labels)

    def add(
        self, labels: Sequence[Label], matrix: "NDArray[np.floating]", approvals: Sequence[Approval | None] = ()
    ) -> None:
        """Append rows of shape (len(labels), dimension), each replacing the episode's earlier one.

        A row that is not finite is like nothing, so it is not kept. `approvals` has what each row approves, if known.
        """
        self.remove(label[0] for label in labels)
        approvals = approvals or [None] * len(labels)
        usable = np.isfinite(matrix).all(axis=1)
        if not usable.all():
            labels, approvals = list(compress(labels, usable)), list(compress(approvals, usable))
            matrix = matrix[usable]
        start = len(self._labels)
        self._put(start, matrix)
        self._labels.extend(labels)
        self._place.update(zip([label[0] for label in labels], range(start, len(self._labels)), strict=True))
        self._put_approvals(start, approvals)

    def remove(self, episode_ids: Iterable[str]) -> None:
        """Drop the rows of these episodes, if they are here: the last row takes the place of each."""
        if not self._labels:
            return
        for episode_id in episode_ids:
            place = self._place.pop(episode_id, None)
            if place is None:
                continue
            last = self._labels.pop()
            if last[0] != episode_id:
                self._labels[place] = last
                self._approvals[place] = self._approvals[len(self._labels)]
                self.vector(place)[:] = self.vector(len(self._labels))
                self._place[last[0]] = place
            for approved in self._approved.values():
                approved.forget_rows()

    def cosines(self, vector: "Vector") -> "NDArray[np.float32]":
        """Those of all rows with a finite vector; one without length has the cosine 0 with every row."""
        # vecdot uses no BLAS threads, which spin when the machine is busy; numpy's float32 is as fast for one query.
        count, found = len(self._labels), np.empty(len(self._labels), np.float32)
        for block, start in zip(self._blocks, range(0, count, BLOCK), strict=False):
            np.vecdot(block[: count - start], vector, out=found[start : start + BLOCK])
        return np.clip(found, -1.0, 1.0, out=found)

    def find(
        self, query: "Vector", k: int, min_cosine: float, actions: tuple[str, ...], *, gave_up: bool
    ) -> "tuple[list[Hit], NDArray[np.float64] | None]":
        """As `Partition.find`."""
        if not self._labels:
            return [], None
        cosines = self.cosines(query)
        approved = self.approved(cosines, actions) if actions else None
        if not gave_up and (number := self._numbers.get(NOTHING_FOUND)) is not None:
            cosines[self._approvals[: len(cosines)] == number] = -np.inf
        return self.nearest(cosines, k, min_cosine), approved

    def approved(self, cosines: "NDArray[np.float32]", actions: tuple[str, ...]) -> "NDArray[np.float64]":
        """Shape (2, actions): how many rows approve each action, and the sum of their cosines."""
        found = self._approved.pop(actions, None) or ActionRows(actions)
        self._approved[actions] = found
        if len(self._approved) > _SETS_OF_ACTIONS:
            del self._approved[next(iter(self._approved))]
        return found.totals(cosines, self._approvals[: len(cosines)], self._numbers)

    def nearest(self, scores: "NDArray[np.float32]", k: int, min_cosine: float) -> list[Hit]:
        """The k best rows with at least this cosine, and those that are as good as the last of them, in any order."""
        places = np.flatnonzero(scores >= min_cosine) if k > 0 else np.empty(0, np.intp)
        near, more = scores[places], len(places) - k
        if more > 0:
            is_best = near >= np.partition(near, more)[more]
            places, near = places[is_best], near[is_best]
        named = places.tolist()
        return list(zip(near.tolist(), map(self._labels.__getitem__, named), named, repeat(self)))

    def vector(self, place: int) -> "Vector":
        """As `Rows.vector`."""
        vector: NDArray[np.float32] = self._blocks[place // BLOCK][place % BLOCK]
        return vector

    def _put_approvals(self, start: int, approvals: Sequence[Approval | None]) -> None:
        if len(self._numbers) > 2 * len(self._labels) + BLOCK:  # most of them no row has any more
            self._renumber(start)
        numbers = self._numbers
        end = start + len(approvals)
        if end > len(self._approvals):
            grown = np.zeros(max(end, 2 * len(self._approvals)), np.intp)
            grown[:start] = self._approvals[:start]
            self._approvals = grown
        self._approvals[start:end] = [numbers.setdefault(each, len(numbers)) for each in approvals]
        for approved in self._approved.values():
            approved.forget_rows()

    def _renumber(self, rows: int) -> None:
        known, numbers = list(self._numbers), dict[Approval | None, int]()
        kept = [numbers.setdefault(known[each], len(numbers)) for each in self._approvals[:rows].tolist()]
        self._approvals, self._numbers = np.array(kept, np.intp), numbers
        self._approved.clear()

    def _put(self, start: int, matrix: "NDArray[np.floating]") -> None:
        """Write rows behind those that are there."""
        taken = 0
        while taken < len(matrix):
            number, place = divmod(start + taken, BLOCK)
            some = min(BLOCK - place, len(matrix) - taken)
            self._block(number, place + some)[place : place + some] = matrix[taken : taken + some]
            taken += some

    def _block(self, number: int, rows: int) -> "NDArray[np.float32]":
        """A block with room for so many rows: it grows by doubling until it is full."""
        if number == len(self._blocks):
            self._blocks.append(np.empty((rows, self._dimension), np.float32))
        block = self._blocks[number]
        if rows > len(block):
            grown = np.empty((min(BLOCK, max(rows, 2 * len(block))), self._dimension), np.float32)
            grown[: len(block)] = block
            block = self._blocks[number] = grown
        return block


def search(
    partitions: Sequence[Partition],
    vector: "Vector",
    k: int,
    min_cosine: float,
    actions: Sequence[str] = (),
    beside: Sequence[Partition] = (),
    *,
    gave_up: bool = True,
) -> Neighbourhood:
    """The k best of several partitions; an episode in several of them counts as its row in the first.

    Of those `beside`, which come last, only the rows count, and no action that they approve. Without `gave_up`, rows
    of runs that found no answer are left out. Exact: a row among the k
    best of all is among the k best of the first partition that holds it. A vector that is not finite is like nothing.
    """
    query = np.asarray(vector, np.float32)
    first: dict[str, Hit] = {}
    totals = np.zeros((2, len(actions)))
    least, wanted = min_cosine, tuple(actions)
    is_usable = bool(np.isfinite(query).all())
    for number, partition in enumerate((*partitions, *beside) if is_usable else ()):
        of_these = wanted if number < len(partitions) else ()
        found, approved = partition.find(query, k, least, of_these, gave_up=gave_up)
        if approved is not None:
            totals += approved
        for hit in found:
            first.setdefault(hit[1][0], hit)
        if len(first) >= k > 0:  # what is less like it than k others is not among the k best
            least = max(least, sorted([hit[0] for hit in first.values()])[-k])
    fits = {
        action: ActionFit(lessons=lessons, cosine=total / lessons)
        for action, lessons, total in zip(actions, *totals.tolist(), strict=True)
        if lessons
    }
    nearest = best(list(first.values()), k)
    vectors = [rows.vector(place) for _, _, place, rows in nearest]
    # Of their own, for a row may move in its partition.
    own = np.concatenate(vectors).reshape(len(vectors), -1) if vectors else ()
    hits = tuple(
        [
            Neighbour(episode_id, cosine, audience, verdict, vector)
            for (cosine, (episode_id, audience, verdict), _, _), vector in zip(nearest, own, strict=True)
        ]
    )
    return Neighbourhood(searched=sum(map(len, partitions)), hits=hits, fits=fits)


def best(hits: list[Hit], k: int) -> list[Hit]:
    """The k most alike, best first; equal ones by later id."""
    return sorted(hits, key=_RANK, reverse=True)[: max(k, 0)]

"""Exact vector search in the process: one partition's vectors side by side, and the merge of several partitions."""

from collections.abc import Iterable, Sequence
from itertools import compress
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from memory.model import Audience, Verdict
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


class ActionRows:
    """The rows of one partition by the action that they approve, of some actions, and by their author."""

    def __init__(self, actions: Sequence[str]) -> None:
        self._actions = tuple(actions)
        self._column = {name: column for column, name in enumerate(actions)}
        self._groups: dict[tuple[int, str], int] = {}
        self._of_row = np.zeros(0, np.int32)
        """The group of each row; 0 for what approves none of the actions."""

    def put(self, start: int, approvals: Sequence[Approval | None]) -> None:
        """Note the rows from `start` on."""
        end = start + len(approvals)
        if end > len(self._of_row):
            grown = np.zeros(max(end, 2 * len(self._of_row)), np.int32)
            grown[:start] = self._of_row[:start]
            self._of_row = grown
        self._of_row[start:end] = [self._group(each) for each in approvals]

    def move(self, source: int, target: int) -> None:
        """A row has another place now."""
        self._of_row[target] = self._of_row[source]

    def totals(self, cosines: "NDArray[np.float32]") -> "NDArray[np.float64]":
        """Shape (2, actions): how many rows approve each action, and the sum of their cosines."""
        columns = np.array([column for column, _ in self._groups], np.intp)
        count = len(columns) + 1
        of_row = self._of_row[: len(cosines)]
        rows = np.bincount(of_row, minlength=count)[1:]
        sums = np.bincount(of_row, cosines, minlength=count)[1:]
        share = np.minimum(rows, FROM_ONE) / np.maximum(rows, 1)
        return np.stack([np.bincount(columns, share * each, len(self._actions)) for each in (rows, sums)])

    def _group(self, approval: Approval | None) -> int:
        if approval is None:
            return 0
        action = named_action(approval.words, self._actions) if approval.words else approval.action
        column = self._column.get(action)
        return 0 if column is None else self._groups.setdefault((column, approval.author), len(self._groups) + 1)


class Hit(NamedTuple):
    """A row that was found, in the place where it lies."""

    cosine: float
    episode_id: str
    audience: Audience
    verdict: Verdict
    vector: "Vector"


class Partition(Protocol):
    """What can be searched."""

    def __len__(self) -> int:
        """How many rows it has."""
        ...

    def find(
        self, query: "Vector", k: int, min_cosine: float, actions: tuple[str, ...]
    ) -> "tuple[list[Hit], NDArray[np.float64] | None]":
        """The k rows most like the query with at least this cosine, best first; equal ones by later id.

        And, if there are actions, of shape (2, actions): how many rows approve each, and the sum of their cosines.
        """
        ...


class VectorPartition:
    """The vectors of one partition, all of one model, as float32: exact."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._blocks: list[NDArray[np.float32]] = []
        self._rows: list[Label] = []
        self._place: dict[str, int] = {}
        self._approvals: list[Approval | None] = []
        self._approved: dict[tuple[str, ...], ActionRows] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """Bytes held by the vectors, and about 200 per row for its labels."""
        return sum(block.nbytes for block in self._blocks) + 200 * len(self._rows)

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
        start = len(self._rows)
        self._put(start, matrix)
        self._rows.extend(labels)
        self._place.update((label[0], place) for place, label in enumerate(labels, start))
        self._approvals.extend(approvals)
        for approved in self._approved.values():
            approved.put(start, approvals)

    def remove(self, episode_ids: Iterable[str]) -> None:
        """Drop the rows of these episodes, if they are here: the last row takes the place of each."""
        for episode_id in episode_ids:
            place = self._place.pop(episode_id, None)
            if place is None:
                continue
            last, approval = self._rows.pop(), self._approvals.pop()
            if last[0] != episode_id:
                self._rows[place], self._approvals[place] = last, approval
                self._vector(place)[:] = self._vector(len(self._rows))
                self._place[last[0]] = place
                for approved in self._approved.values():
                    approved.move(len(self._rows), place)

    def cosines(self, vector: "Vector") -> "NDArray[np.float32]":
        """Those of all rows with a finite vector; one without length has the cosine 0 with every row."""
        # vecdot uses no BLAS threads, which spin when the machine is busy; numpy's float32 is as fast for one query.
        parts = [
            np.vecdot(block[: len(self._rows) - start], vector)
            for block, start in zip(self._blocks, range(0, len(self._rows), BLOCK), strict=False)
        ]
        found: NDArray[np.float32] = np.clip(np.concatenate(parts), -1.0, 1.0) if parts else np.empty(0, np.float32)
        return found

    def find(
        self, query: "Vector", k: int, min_cosine: float, actions: tuple[str, ...]
    ) -> "tuple[list[Hit], NDArray[np.float64] | None]":
        """As `Partition.find`."""
        cosines = self.cosines(query)
        return self.nearest(cosines, k, min_cosine), self.approved(cosines, actions) if actions else None

    def approved(self, cosines: "NDArray[np.float32]", actions: tuple[str, ...]) -> "NDArray[np.float64]":
        """Shape (2, actions): how many rows approve each action, and the sum of their cosines."""
        found = self._approved.pop(actions, None)
        if found is None:
            found = ActionRows(actions)
            found.put(0, self._approvals)
        self._approved[actions] = found
        if len(self._approved) > _SETS_OF_ACTIONS:
            del self._approved[next(iter(self._approved))]
        return found.totals(cosines)

    def nearest(self, scores: "NDArray[np.float32]", k: int, min_cosine: float) -> list[Hit]:
        """The k best rows with at least this cosine, best first; equal ones by later id."""
        count = len(self._rows)
        if not count or k < 1:
            return []
        floor = min_cosine if count <= k else max(min_cosine, np.partition(scores, count - k)[count - k].item())
        places = np.flatnonzero(scores >= floor)
        rows, blocks = self._rows, self._blocks
        return best(
            [
                Hit(cosine, *rows[place], blocks[place // BLOCK][place % BLOCK])
                for place, cosine in zip(places.tolist(), scores[places].tolist(), strict=True)
            ],
            k,
        )

    def _vector(self, place: int) -> "NDArray[np.float32]":
        vector: NDArray[np.float32] = self._blocks[place // BLOCK][place % BLOCK]
        return vector

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
    partitions: Sequence[Partition], vector: "Vector", k: int, min_cosine: float, actions: Sequence[str] = ()
) -> Neighbourhood:
    """The k best of several partitions; an episode in several of them counts as its row in the first.

    Exact: a row among the k best of all is among the k best of the first partition that holds it. A vector that is not
    finite is like nothing.
    """
    query = np.asarray(vector, np.float32)
    first: dict[str, Hit] = {}
    totals = np.zeros((2, len(actions)))
    for partition in partitions if np.isfinite(query).all() else ():
        found, approved = partition.find(query, k, min_cosine, tuple(actions))
        if approved is not None:
            totals += approved
        for hit in found:
            first.setdefault(hit.episode_id, hit)
    fits = {
        action: ActionFit(lessons=lessons, cosine=total / lessons)
        for action, lessons, total in zip(actions, *totals.tolist(), strict=True)
        if lessons
    }
    nearest = best(list(first.values()), k)
    vectors = np.array([hit.vector for hit in nearest])  # of their own: a row may move when its partition changes
    hits = tuple(
        Neighbour(episode_id=hit.episode_id, cosine=hit.cosine, audience=hit.audience, verdict=hit.verdict, vector=own)
        for hit, own in zip(nearest, vectors, strict=True)
    )
    return Neighbourhood(searched=sum(map(len, partitions)), hits=hits, fits=fits)


def best(hits: list[Hit], k: int) -> list[Hit]:
    """The k most alike, best first; equal ones by later id."""
    return sorted(hits, key=_RANK, reverse=True)[: max(k, 0)]

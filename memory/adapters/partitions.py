"""Exact vector search in the process: one partition's vectors side by side, and the merge of several partitions."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from memory.model import Audience, Verdict
from memory.ports import Neighbour, Neighbourhood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memory.model import Vector


Label = tuple[str, Audience, Verdict]
"""Whose row it is (an episode's id), and the audience and verdict it is found with."""


class VectorPartition:
    """The vectors of one partition, all of one model: rows of a float32 matrix that grows by doubling."""

    def __init__(self, dimension: int) -> None:
        self._matrix: NDArray[np.float32] = np.empty((0, dimension), np.float32)
        self._rows: list[Label] = []
        self._place: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """Bytes held by the matrix, and about 200 per row for its labels."""
        return self._matrix.nbytes + 200 * len(self._rows)

    def add(self, labels: Sequence[Label], matrix: "NDArray[np.floating]") -> None:
        """Append rows of shape (len(labels), dimension), each replacing the episode's earlier one.

        A row that is not finite is like nothing, so it is not kept.
        """
        self.remove(label[0] for label in labels)
        usable = np.isfinite(matrix).all(axis=1)
        if not usable.all():
            labels = [label for label, is_usable in zip(labels, usable, strict=True) if is_usable]
            matrix = matrix[usable]
        start, end = len(self._rows), len(self._rows) + len(labels)
        self._reserve(end)
        self._matrix[start:end] = matrix
        self._rows.extend(labels)
        self._place.update((label[0], place) for place, label in enumerate(labels, start))

    def remove(self, episode_ids: Iterable[str]) -> None:
        """Drop the rows of these episodes, if they are here: the last row takes the place of each."""
        for episode_id in episode_ids:
            place = self._place.pop(episode_id, None)
            if place is None:
                continue
            last = self._rows.pop()
            if last[0] != episode_id:
                self._rows[place] = last
                self._matrix[place] = self._matrix[len(self._rows)]
                self._place[last[0]] = place

    def nearest(self, vector: "Vector", k: int, min_cosine: float) -> list[Neighbour]:
        """The k best rows with at least this cosine, best first; equal ones by later id.

        None for a vector that is not finite: it is like nothing. One without length has the cosine 0 with every row.
        """
        count = len(self._rows)
        if not count or k < 1 or not np.isfinite(vector).all():
            return []
        # vecdot uses no BLAS threads, which spin when the machine is busy; numpy's float32 is as fast for one query.
        scores = np.clip(np.vecdot(self._matrix[:count], vector), -1.0, 1.0)
        floor = min_cosine if count <= k else max(min_cosine, np.partition(scores, count - k)[count - k].item())
        found = [
            Neighbour(
                episode_id=row[0],
                cosine=scores[place].item(),
                audience=row[1],
                verdict=row[2],
                vector=self._matrix[place].copy(),
            )
            for place in np.flatnonzero(scores >= floor)
            for row in (self._rows[place],)
        ]
        return _best(found, k)

    def _reserve(self, rows: int) -> None:
        if rows > len(self._matrix):
            grown = np.empty((max(rows, 2 * len(self._matrix)), self._matrix.shape[1]), np.float32)
            grown[: len(self._rows)] = self._matrix[: len(self._rows)]
            self._matrix = grown


def search(partitions: Sequence[VectorPartition], vector: "Vector", k: int, min_cosine: float) -> Neighbourhood:
    """The k best of several partitions; an episode in several of them counts as its row in the first.

    Exact: a row among the k best of all is among the k best of the first partition that holds it.
    """
    query = np.asarray(vector, np.float32)
    first: dict[str, Neighbour] = {}
    for partition in partitions:
        for hit in partition.nearest(query, k, min_cosine):
            first.setdefault(hit.episode_id, hit)
    return Neighbourhood(searched=sum(map(len, partitions)), hits=tuple(_best(list(first.values()), k)))


def _best(hits: list[Neighbour], k: int) -> list[Neighbour]:
    return sorted(hits, key=lambda hit: (hit.cosine, hit.episode_id), reverse=True)[: max(k, 0)]

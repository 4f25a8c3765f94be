"""What a search among vectors goes through: rows in partitions, and how like the query they are."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memory.adapters.vectors.action_rows import RowApproval
from memory.model import Audience, Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.model import Vector


class RowKind(NamedTuple):
    """What many rows have in common: how they are found, and what they approve."""

    audience: Audience
    verdict: Verdict
    approves: RowApproval | None = None


class Rows(Protocol):
    """Where vectors lie, each at a place that it has until the next change."""

    def at(self, places: "NDArray[np.intp]") -> "tuple[Iterable[str], Iterable[RowKind], Iterable[Vector]]":
        """Whose the rows at these places are, their kinds, and their vectors, which may change with the next change."""
        ...


class Candidates(NamedTuple):
    """Rows of different episodes, some of which may be the best."""

    cosines: "NDArray[np.float32]"
    """Of each by its place; below every other of one that is not to be found."""
    rows: Rows


class Partition(Protocol):
    """What can be searched."""

    def __len__(self) -> int:
        """How many rows it has."""
        ...

    def find(
        self, query: "Vector", k: int, least: Callable[[], float], actions: tuple[str, ...], *, gave_up: bool
    ) -> "tuple[Sequence[Candidates], NDArray[np.float64] | None]":
        """Among others the k rows most like the query with the least cosine, and those that are as like it as the last.

        All are of different episodes. Without `gave_up`, none of `NOTHING_FOUND` is to be found. And, if there are
        actions, of shape (2, actions): how many rows approve each, and the sum of their cosines.
        """
        ...

"""Interfaces of vector search: partitions that can be searched, their rows, and candidates."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memory.adapters.vectors.action_rows import RowApproval
from memory.model import Audience, Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memory.model import Vector


class RowKind(NamedTuple):
    """The audience, verdict and approval of a row, shared by many rows."""

    audience: Audience
    verdict: Verdict
    approves: RowApproval | None = None


class Rows(Protocol):
    """Rows of a partition by place. Places are valid until the next change."""

    def at(self, places: "NDArray[np.intp]") -> "tuple[Iterable[str], Iterable[RowKind], Iterable[Vector]]":
        """The episode ids, kinds and vectors of the rows at these places.

        The vectors may be views, which are valid until the next change.
        """


class Candidates(NamedTuple):
    """Rows of different episodes that may be among the best."""

    cosines: "NDArray[np.float32]"
    """The cosine of each row, by place; -inf for a row that must not be found."""
    rows: Rows


class Partition(Protocol):
    """A partition that can be searched."""

    def __len__(self) -> int:
        """The number of rows."""

    def find(
        self, query: "Vector", k: int, least: Callable[[], float], actions: tuple[str, ...], *, include_gave_up: bool
    ) -> "tuple[Sequence[Candidates], NDArray[np.float64] | None]":
        """Candidates that include the k nearest rows with at least the cosine `least()`, and ties with the k-th.

        Each row is of another episode. Without `include_gave_up`, rows marked `NOTHING_FOUND` are left out. The second
        value, if there are actions, has the shape (2, actions): how many rows approve each, and the sum of their
        cosines.
        """

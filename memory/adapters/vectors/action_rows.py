"""What rows of a partition approve, and how like a goal those are that approve each of some actions."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memory.model import GAVE_UP
from memory.rules.evidence.answers import named_action

if TYPE_CHECKING:
    from numpy.typing import NDArray

FROM_ONE = 10
"""How many rows of one person count for one action; if there are more, each counts less."""


class RowApproval(NamedTuple):
    """What a row approves."""

    action: str
    words: str
    """What a person wrote as the right answer, if it is short: it may name an action. Empty for what the agent did."""
    author: str


NOTHING_FOUND = RowApproval(GAVE_UP, "", "")
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
        self, cosines: "NDArray[np.float32]", numbers: "NDArray[np.int32]", known: Iterable[RowApproval | None]
    ) -> "NDArray[np.float64]":
        """Shape (2, actions): how many rows approve each action, and the sum of their cosines.

        Of each row the number of what it approves among what is `known`, to which more may have come at the end.
        """
        if not self._is_current:
            self._group_of += map(self._group, islice(known, len(self._group_of), None))
            self._of_row = np.array(self._group_of, np.intp)[numbers]
            self._columns = np.array([column for column, _ in self._groups], np.intp)
            rows = np.bincount(self._of_row, minlength=len(self._columns) + 1)[1:]
            self._share = np.minimum(rows, FROM_ONE) / np.maximum(rows, 1)
            self._rows = self._by_action(rows)
            self._is_current = True
        if not self._groups:
            return np.zeros((2, len(self._actions)))
        sums = np.bincount(self._of_row, cosines, minlength=len(self._columns) + 1)[1:]
        return np.array([self._rows, self._by_action(sums)])

    def _by_action(self, of_groups: "NDArray[np.floating | np.integer]") -> "NDArray[np.float64]":
        return np.bincount(self._columns, self._share * of_groups, len(self._actions)).astype(np.float64, copy=False)

    def _group(self, approval: RowApproval | None) -> int:
        if approval is None:
            return 0
        action, words, author = approval
        column = self._column.get(named_action(words, self._actions) if words else action)
        return 0 if column is None else self._groups.setdefault((column, author), len(self._groups) + 1)

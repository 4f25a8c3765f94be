"""Which actions the rows of a partition approve, with their number and summed cosines for each action."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memory.model import GAVE_UP
from memory.rules.evidence.named_action import named_action

if TYPE_CHECKING:
    from numpy.typing import NDArray

FROM_ONE = 10
"""The most that one person's rows count for one action. If there are more, each counts less."""


class RowApproval(NamedTuple):
    """The action that a row approves, and who wrote the row."""

    action: str
    words: str
    """A short answer that a person wrote, which may name an action; empty for what the agent did."""
    author: str


NOTHING_FOUND = RowApproval(GAVE_UP, "", "")
"""Marks a row of a run that found no answer, whatever its verdict."""


class ActionRows:
    """Groups the rows of one partition by approved action and author, for one set of actions."""

    def __init__(self, actions: Sequence[str]) -> None:
        self._actions = tuple(actions)
        self._column = {name: column for column, name in enumerate(actions)}
        self._groups: dict[tuple[int, str], int] = {}
        self._group_of: list[int] = []
        """The group of each approval, by the approval's number; 0 if it approves none of the actions."""
        self._of_row = np.zeros(0, np.intp)
        self._is_current = False

    def forget_rows(self) -> None:
        """Group the rows again at the next `totals`, as they changed."""
        self._is_current = False

    def totals(
        self, cosines: "NDArray[np.float32]", numbers: "NDArray[np.int32]", known: Iterable[RowApproval | None]
    ) -> "NDArray[np.float64]":
        """Shape (2, actions): how many rows approve each action, and the sum of their cosines.

        `numbers` has the index of each row's approval in `known`, to which items may only be appended. Both values are
        weighted if an author has more than `FROM_ONE` rows for an action.
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

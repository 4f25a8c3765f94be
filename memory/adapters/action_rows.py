"""Which rows of a partition approve an action, so that one search also tells how like a goal such rows are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memory.rules.evidence.answers import named_action

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

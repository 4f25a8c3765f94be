"""Short writes of threads that wait for the database at the same time, in one transaction with one commit."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST = 64
"""How many share a transaction: others, in other processes too, wait for its end."""


@dataclass(slots=True, eq=False)
class _Waiting(Generic[Item, Result]):
    item: Item
    outcome: list[Result] = field(default_factory=list)
    """Empty until it is stored."""
    is_alone: bool = False
    """Whether it was in a transaction that failed."""


class SharedTransaction(Generic[Item, Result]):
    """Whoever's turn it is does the work of all that wait.

    `work` is given a function that takes what waits; called within the transaction, it takes also what came while that
    had to wait. It returns one outcome for each item, and only after the commit. Where it fails, nothing has happened;
    each item is then worked on by its own thread alone, so that none fails for another's fault.
    """

    def __init__(self, work: Callable[[Callable[[], Sequence[Item]]], Sequence[Result]]) -> None:
        self._work = work
        self._waiting: deque[_Waiting[Item, Result]] = deque()
        self._turn = Lock()

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._waiting)

    def __call__(self, item: Item) -> Result:
        """The outcome of this item, once it is stored. Raises what `work` raises for it."""
        mine = _Waiting[Item, Result](item)
        self._waiting.append(mine)
        with self._turn:
            while not mine.outcome and not mine.is_alone:
                self._lead(mine)
            return mine.outcome[0] if mine.outcome else self._work(lambda: [item])[0]

    def _lead(self, mine: _Waiting[Item, Result]) -> None:
        taken: list[_Waiting[Item, Result]] = []

        def take() -> Sequence[Item]:
            while self._waiting and len(taken) < MOST:
                taken.append(self._waiting.popleft())
            return [each.item for each in taken]

        try:
            outcomes = self._work(take)
        except Exception:
            for each in taken:
                each.is_alone = True
            if taken in ([], [mine]):
                if not taken:
                    self._waiting.remove(mine)
                raise
        else:
            for each, outcome in zip(taken, outcomes, strict=True):
                each.outcome.append(outcome)

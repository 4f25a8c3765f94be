"""Group commit: short writes of threads that wait for the database are done in one transaction with one commit."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST = 64
"""The most items in one transaction, because other writers wait for its end."""


@dataclass(slots=True, eq=False)
class _Waiting(Generic[Item, Result]):
    item: Item
    outcome: list[Result] = field(default_factory=list)
    """The outcome; empty until it is stored."""
    is_alone: bool = False
    """Whether it was in a transaction that failed."""


class SharedTransaction(Generic[Item, Result]):
    """Lets one thread at a time do the work of all waiting threads.

    `work` gets a function that returns the waiting items; called within the transaction, it includes those that came
    while the transaction waited to begin. `work` returns one outcome for each item, after the commit. If it fails,
    nothing was stored, and each thread then works on its own item alone, so that no item fails because of another.
    """

    def __init__(self, work: Callable[[Callable[[], Sequence[Item]]], Sequence[Result]]) -> None:
        self._work = work
        self._waiting: deque[_Waiting[Item, Result]] = deque()
        self._turn = Lock()

    @property
    def waiting(self) -> int:
        """The number of items that wait for their turn."""
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

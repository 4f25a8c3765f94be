"""The people of a store."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Protocol

from memory.model import Acquaintance


class PeopleTable(Protocol):
    """Since when each person of a workspace is known."""

    def note(self, workspace: str, person: str, at: datetime, newcomer: timedelta) -> None:
        """Keep that a person was there, if nothing is kept of them: they are known `newcomer` later.

        Who is noted within as long after the first person of the workspace is known at once.
        """
        ...

    def acquaintance(self, workspace: str, people: Iterable[str]) -> Acquaintance:
        """What is known of these people, and of the workspace's teachers."""
        ...

    def forget(self, workspace: str, person: str) -> None:
        """Erase it: should they come back, they are new."""
        ...

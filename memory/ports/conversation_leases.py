"""Who answers which message, where several processes answer those of one platform."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedMessage:
    """A message whose turn it is, with what its process has to know."""

    workspace: str
    event_id: str
    holder_before: str = ""
    """The process that had it before, and is gone; empty if none had."""
    is_stopped: bool = False
    """Whether somebody asked to end with what there is."""

    @property
    def key(self) -> tuple[str, str]:
        """Of the message."""
        return self.workspace, self.event_id


class ConversationLeaseTable(Protocol):
    """A process lives as long as its lease, `process/NAME` (`UpkeepTable`), has not run out.

    A conversation is leased to the process that holds the message whose turn it is there; it is free once that message
    is delivered, left or given up, or the process has died.
    """

    def take(self, process: str, workspace: str, now: datetime, limit: int) -> list[LeasedMessage]:
        """Give this process its turns: of messages that it holds and that waited, and of those that nobody alive holds.

        The first of a conversation goes before the others, and nobody has a turn there beside it. What is being
        changed this very moment is passed over.
        """
        ...

    def unfinished_in(self) -> set[str]:
        """The workspaces with messages that are unfinished, whoever holds them."""
        ...

    def held(self, process: str) -> list[LeasedMessage]:
        """Whose turn it is by this process, as far as they are unfinished."""
        ...

    def leave(self, process: str, messages: Collection[tuple[str, str]]) -> None:
        """Hold up nobody with these any more (workspace and event id)."""
        ...

    def stop(self, workspace: str, event_id: str) -> bool:
        """Ask whoever works on this message to end with what there is. False if its turn is over."""
        ...

    def announce(self, news: str) -> None:
        """Wake the processes that listen, once this is committed; where none can, nothing happens."""
        ...

    def release_dead(self, now: datetime) -> None:
        """Take every lease from the processes that have died, so that the living need not wait for its end."""
        ...

    def alive(self, now: datetime) -> list[str]:
        """The processes that answer, by name."""
        ...

"""Whose turn it is, where several processes answer the messages of one platform.

Each process lives by a lease that it renews with every look. What it holds is for others as soon as that has run out.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from memory.model import Incoming, Scope
from memory.model.upkeep import Lease
from memory.ports import LeasedMessage
from memory.services.core import Core

PROCESS_FOR = timedelta(seconds=6)
"""For how long others wait for a process that they do not hear of."""
_AT_ONCE = 100
STOP, WAITING, FREE = "stop", "waiting", "free"
"""News: somebody asks to stop; a message waits for its turn; a turn is over that somebody may wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseUpdate:
    """What a process holds after it renewed its lease."""

    taken: tuple[LeasedMessage, ...]
    """Whose turn it is now by this process."""
    held: tuple[LeasedMessage, ...]
    """Those of before that are unfinished."""


@dataclass(frozen=True, slots=True)
class ConversationLeases:
    """The use cases of processes that share platforms."""

    _core: Core

    def look(
        self,
        process: str,
        workspaces: Sequence[str],
        left: Collection[tuple[str, str]] = (),
        platforms: Collection[str] = (),
    ) -> LeaseUpdate:
        """Say that this process lives, leave what it could not finish, and take what is free.

        It takes of these workspaces, and of every one of these platforms.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            tx.upkeep.take_lease(Lease(name=f"process/{process}", owner=process, until=now + PROCESS_FOR), now)
            tx.conversation_leases.release_dead(now)
            tx.conversation_leases.leave(process, left)
            held = tx.conversation_leases.held(process)
            if platforms or len(workspaces) > 1:  # nearly always nothing waits in any of them
                unfinished = sorted(tx.conversation_leases.unfinished_in())
                workspaces = [each for each in unfinished if each in workspaces or each.partition(":")[0] in platforms]
            taken = [
                each
                for workspace in workspaces
                for each in tx.conversation_leases.take(process, workspace, now, _AT_ONCE)
            ]
        return LeaseUpdate(taken=tuple(taken), held=tuple(held))

    def end(self, process: str) -> None:
        """Answer no more: what this process holds is for others at once."""
        with self._core.store.write() as tx:
            tx.upkeep.release_lease(f"process/{process}", process)
            tx.conversation_leases.announce(FREE)

    def read(self, messages: Collection[LeasedMessage]) -> list[Incoming]:
        """These messages as they are now, without those that are gone."""
        with self._core.store.read() as tx:
            found = (tx.deliveries.incoming(each.workspace, each.event_id) for each in messages)
            return [each for each in found if each is not None]

    def running_in(self, scope: Scope) -> Incoming | None:
        """What any process answers in a place: the person's own, else what was written last."""
        with self._core.store.read() as tx:
            now = self._core.clock()
            here = tx.deliveries.being_answered(scope.workspace, scope.channel, scope.thread, now)
        own = [each for each in here if each.scope.person == scope.person]
        return next(reversed(own or here), None)

    def stop(self, message: Incoming) -> bool:
        """Have the process that answers a message end with what there is. False if it is over."""
        with self._core.store.write() as tx:
            is_asked = tx.conversation_leases.stop(message.scope.workspace, message.event_id)
            tx.conversation_leases.announce(STOP)
            return is_asked

    def announce(self, news: str) -> None:
        """Wake the other processes."""
        with self._core.store.write() as tx:
            tx.conversation_leases.announce(news)

    def processes(self) -> list[str]:
        """Who answers now."""
        with self._core.store.read() as tx:
            return tx.conversation_leases.alive(self._core.clock())

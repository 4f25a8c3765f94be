"""Recovery after a crash or kill: which messages may be the cause, and which are not tried again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory.model import AbnormalExit, Incoming, Outgoing, Progress
from memory.model.delivery import CRASHES, KILLS
from memory.ports import Transaction
from memory.services.core import Core


@dataclass(frozen=True, slots=True)
class Recovering:
    """Counts abnormal exits against the messages in work, and sets aside messages that had too many."""

    _core: Core

    def count(self, exits: Sequence[AbnormalExit], note: str) -> list[Incoming]:
        """Count each exit once, even if it is reported again. Returns the messages that are now set aside.

        `note` is the text for their askers, stored to be posted like an answer.
        """
        now = self._core.clock()
        aside: list[Incoming] = []
        with self._core.store.write() as tx:
            for ended in exits:
                workspaces = {workspace for workspace, _ in ended.in_work}
                is_new = {each: tx.log.claim(each, f"death/{ended.id}", now) for each in workspaces}
                for workspace, event_id in dict.fromkeys(ended.in_work):
                    message = tx.deliveries.incoming(workspace, event_id)
                    if is_new[workspace] and message is not None:
                        aside += self._count(tx, message, ended, note)
        return aside

    def _count(self, tx: Transaction, message: Incoming, ended: AbnormalExit, note: str) -> list[Incoming]:
        crashes, kills = message.crashes + ended.is_crash, message.kills + (not ended.is_crash)
        message = replace(message, crashes=crashes, kills=kills)
        workspace = message.scope.workspace
        if message.progress not in (Progress.ACCEPTED, Progress.ANSWERED, Progress.SET_ASIDE):
            return []
        tx.deliveries.put_exit_counts(workspace, message.event_id, crashes=crashes, kills=kills)
        if not message.is_poison:
            return []
        if message.progress is Progress.SET_ASIDE:
            # Even posting the note ends the process.
            tx.deliveries.drop_unsent(workspace, message.run_id)
            return []
        return [self._set_aside(tx, message, note)]

    def _set_aside(self, tx: Transaction, message: Incoming, note: str) -> Incoming:
        """Replace the answer, or its unsent parts, by the note."""
        scope, run_id = message.scope, message.run_id or self._core.new_id()
        # The note gets as many tries as the message.
        crashes, kills = min(message.crashes, CRASHES), min(message.kills, KILLS)
        tx.deliveries.put_exit_counts(scope.workspace, message.event_id, crashes=crashes, kills=kills)
        tx.deliveries.drop_unsent(scope.workspace, run_id)
        sent = tx.deliveries.outgoing(scope.workspace, run_id)
        tx.deliveries.put_outgoing(Outgoing.to(scope, run_id, note, sent[-1].part + 1 if sent else 1))
        tx.deliveries.advance(scope.workspace, message.event_id, message.progress, Progress.SET_ASIDE, run_id)
        return replace(message, progress=Progress.SET_ASIDE, run_id=run_id, crashes=crashes, kills=kills)

    def clear(self, message: Incoming) -> None:
        """Reset the exit counts of a message that was worked on again without an exit."""
        with self._core.store.write() as tx:
            tx.deliveries.put_exit_counts(message.scope.workspace, message.event_id, crashes=0, kills=0)

    def set_aside(self) -> list[Incoming]:
        """The messages of all workspaces that are set aside, newest first."""
        with self._core.store.read() as tx:
            return tx.deliveries.set_aside()

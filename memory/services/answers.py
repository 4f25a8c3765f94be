"""Answers that were posted: where each stands, and which one somebody means."""

from datetime import datetime

from memory.model import Scope
from memory.services.core import Core


class Answers:
    """Use cases of whoever points at an answer."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def of_message(self, scope: Scope, message_id: str, at: datetime) -> str | None:
        """The run whose answer this message is a part of."""
        with self._core.store.read() as tx:
            entry = tx.teaching.ledger(scope.workspace, scope.channel, message_id, at)
        return entry.run_id if entry else None

    def newest(self, scope: Scope) -> str | None:
        """The run of the newest answer in the thread; in the channel if none was given there, or there is no thread."""
        with self._core.store.read() as tx:
            only_thread = bool(scope.thread) and tx.deliveries.has_sent(scope.workspace, scope.channel, scope.thread)
            return tx.teaching.newest_answer(scope.workspace, scope.channel, scope.thread if only_thread else "")

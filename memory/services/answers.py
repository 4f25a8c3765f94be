"""Answers that were posted: where each stands, and which one somebody means."""

from dataclasses import dataclass
from datetime import datetime

from memory.model import Scope
from memory.services.core import Core

_LOOKED_AT = 20
"""Messages of a channel among which the last answer is looked for."""
_LOOKED_AT_FOR_THREAD = 200
"""The same where the answer must be in one of its threads."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Use cases of whoever points at an answer."""

    _core: Core

    def of_message(self, scope: Scope, message_id: str, at: datetime) -> str | None:
        """The run whose answer this message is a part of."""
        with self._core.store.read() as tx:
            entry = tx.teaching.ledger(scope.workspace, scope.channel, message_id, at)
        return entry.run_id if entry else None

    def newest(self, scope: Scope) -> str | None:
        """The run of the newest answer in the thread; in the channel if none was given there, or there is no thread."""
        with self._core.store.read() as tx:
            only_thread = bool(scope.thread) and tx.deliveries.has_sent(scope.workspace, scope.channel, scope.thread)
            limit = _LOOKED_AT_FOR_THREAD if only_thread else _LOOKED_AT
            for run_id in dict.fromkeys(
                entry.run_id for entry in tx.teaching.recent_ledger(scope.workspace, scope.channel, limit)
            ):
                nodes = tx.episodes.of_run(scope.workspace, run_id)
                if nodes and (not only_thread or nodes[0].thread == scope.thread):
                    return run_id
        return None

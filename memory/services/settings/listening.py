"""Listening: a channel's mode, the muted threads, and whose question the bot answered in a thread."""

from collections.abc import Mapping
from dataclasses import dataclass

from memory.model import ListeningMode, MutedThread, Scope
from memory.model.chat_setting import ChatSetting
from memory.ports import Transaction
from memory.rules.chat_settings import MODE
from memory.services.core import Core
from memory.services.settings.chat_settings import settings_at


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningState:
    """What is stored about a place, to judge a message there that does not mention the bot."""

    mode: ListeningMode | None
    """The mode chosen for the channel; None where none was."""
    is_muted: bool
    asker: str
    """The asker of the last answer in the thread, or of the answer replied to; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Listening:
    """The use cases of listening and muting. Places are stored, but not who muted them."""

    _core: Core

    def state(self, scope: Scope, replied_to: str = "") -> ListeningState:
        """The state of a place; `replied_to` is the id of the bot's message that is replied to, if there is one."""
        workspace, channel, thread = scope.workspace, scope.channel, scope.thread
        with self._core.store.read() as tx:
            return ListeningState(
                mode=_mode(settings_at(self._core, tx, workspace, channel)),
                is_muted=tx.channels.is_muted(workspace, channel, thread),
                asker=self._asker(tx, scope, replied_to),
            )

    def _asker(self, tx: Transaction, scope: Scope, replied_to: str) -> str:
        if not replied_to and not scope.thread:
            return ""
        if not replied_to and (asker := tx.deliveries.asker_in(scope.workspace, scope.channel, scope.thread)):
            return asker
        # The id of a thread is that of its first message, which may be an answer.
        run_id = self._run_of(tx, scope, replied_to or scope.thread)
        question = tx.deliveries.incoming_of_run(scope.workspace, run_id) if run_id else None
        return question.scope.person if question is not None else ""

    def _run_of(self, tx: Transaction, scope: Scope, message_id: str) -> str:
        entry = tx.teaching.ledger(scope.workspace, scope.channel, message_id, self._core.clock())
        return entry.run_id if entry is not None else ""

    def mute(self, scope: Scope, message_id: str = "") -> None:
        """Mute this thread: only mentions are answered there. `message_id` is the bot's message in it."""
        with self._core.store.write() as tx:
            thread = self._thread_of(tx, scope, message_id)
            muted = MutedThread(
                workspace=scope.workspace, channel=scope.channel, thread=thread, since=self._core.clock()
            )
            tx.channels.mute(muted)

    def unmute(self, scope: Scope, message_id: str = "", *, is_own: bool = True) -> None:
        """Unmute this thread. With `is_own` off, `message_id` may be a person's message, which changes nothing."""
        with self._core.store.write() as tx:
            if not is_own and not self._run_of(tx, scope, message_id):
                return
            tx.channels.unmute(scope.workspace, scope.channel, self._thread_of(tx, scope, message_id))

    def _thread_of(self, tx: Transaction, scope: Scope, message_id: str) -> str:
        """The thread of a message of the bot's, which some platforms do not give with a reaction."""
        run_id = self._run_of(tx, scope, message_id) if message_id and not scope.thread else ""
        parts = tx.deliveries.outgoing(scope.workspace, run_id) if run_id else []
        return parts[0].thread if parts else scope.thread


def _mode(settings: Mapping[str, ChatSetting]) -> ListeningMode | None:
    return ListeningMode(settings[MODE].value) if MODE in settings else None

"""Finding posted answers, by message or as the newest of a conversation, and their questions."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from memory.model import Episode, Origin, Scope
from memory.ports import Transaction
from memory.rules.audience import may_read
from memory.services.core import Core

_YOUNG = timedelta(minutes=10)
"""How long "that" means the answer to a person's own question, even if others were answered since."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Finds the posted answer that a person means."""

    _core: Core

    def of_message(self, scope: Scope, message_id: str, at: datetime) -> str | None:
        """The run of the answer to which this message belongs."""
        with self._core.store.read() as tx:
            entry = tx.teaching.ledger(scope.workspace, scope.channel, message_id, at)
        return entry.run_id if entry else None

    def addressed(self, scope: Scope, message_id: str, at: datetime) -> str | None:
        """The run that a command or correction is about: that of the given message, else of the newest answer."""
        return self.of_message(scope, message_id, at) if message_id else self.newest(scope)

    def newest(self, scope: Scope) -> str | None:
        """The run of the newest answer in the thread; in the channel if there is no thread or no answer in it.

        Outside threads, where people ask side by side, a recent answer to the person themself comes first.
        """
        young = self._core.clock() - _YOUNG
        with self._core.store.read() as tx:
            if not scope.thread and (
                own := tx.teaching.newest_answer_to(scope.workspace, scope.channel, scope.person, young)
            ):
                return own
            only_thread = bool(scope.thread) and tx.deliveries.has_sent(scope.workspace, scope.channel, scope.thread)
            return tx.teaching.newest_answer(scope.workspace, scope.channel, scope.thread if only_thread else "")


def root_behind(tx: Transaction, scope: Scope, message_id: str, now: datetime) -> Episode | None:
    """The first node of a sent answer; None if there is none whose question may be repeated in this place."""
    entry = tx.teaching.ledger(scope.workspace, scope.channel, message_id, now)
    nodes = tx.episodes.of_run(scope.workspace, entry.run_id) if entry else []
    return nodes[0] if nodes and may_read(scope, nodes[0]) else None


def askers_of(tx: Transaction, episode: Episode) -> list[str]:
    """The people whose words an episode's goal is, its asker first; several where others' words are in it, too."""
    others = partial(tx.episodes.words_of_others, episode.workspace, [episode.id])
    if episode.origin is not Origin.RUN:
        return others().get(episode.id, [episode.author])
    incoming = tx.deliveries.incoming_of_run(episode.workspace, episode.run_id)
    asker = (incoming.asked_by if incoming else "") or episode.author or episode.person
    if incoming is not None and not incoming.repeats and incoming.text == episode.goal:
        return [asker]
    return list(dict.fromkeys([asker, *others().get(episode.id, ())]))

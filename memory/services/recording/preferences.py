"""Standing preferences of people for how they are answered, which are no judgement of content.

Each is a short memory of its person (`memory.model.ShortMemory`), so it is exported and forgotten with other data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.errors import NotFound
from memory.model import Incoming, Outgoing, Scope, ShortMemory
from memory.ports import Transaction
from memory.services.core import Core, put_short_memory
from memory.services.recording.record import Answer
from memory.services.verdicts.verdicts import withdraw_votes

KIND = "goodbot/preference"
MOST = 5
"""The most preferences of a person in a workspace; a further one replaces the oldest."""
_KEPT = timedelta(days=36_500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """A standing preference of a person."""

    kind: str
    """What it is about, for example `language`. A new preference replaces the one of the same kind."""
    text: str
    """An instruction to the model, for example `Answer in German.`"""
    event_id: str = ""
    """The event id of the message or form that it came from."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """The use cases of preferences."""

    _core: Core

    def of(self, workspace: str, person: str) -> tuple[Preference, ...]:
        """The person's preferences, oldest first."""
        with self._core.store.read() as tx:
            return tuple(_read(each) for each in _stored(tx, workspace, person))

    def keep(self, scope: Scope, preference: Preference, *, at: datetime, run_id: str = "") -> bool:
        """Store a preference of `scope.person`. False if its event was handled before.

        `run_id` is the answer it was about, if any: the person's votes against it are withdrawn, as a preference does
        not make the content wrong.
        """
        with self._core.store.write() as tx:
            now = self._core.clock()
            if not tx.log.claim(scope.workspace, preference.event_id, now):
                return False
            _put(tx, scope.workspace, scope.person, preference, now)
            own = [
                each
                for each in (tx.teaching.reactions_of_run(scope.workspace, run_id) if run_id else ())
                if each.is_active and each.actor == scope.person and each.value < 0
            ]
            if own:
                withdraw_votes(self._core, tx, now, *own, at=at)
            return True

    def answer(
        self, message: Incoming, preference: Preference, *, run_id: str, understood: str, reply: str
    ) -> Answer | None:
        """Store an accepted message as a preference, and reply to it with the run `run_id`, which has no episode.

        None if the message was answered or withdrawn meanwhile. Raises `NotFound` if it was edited or stored before.
        """
        scope = message.scope
        with self._core.store.write() as tx:
            now = self._core.clock()
            answered = tx.deliveries.answer(scope.workspace, message.event_id, run_id, understood)
            if answered is None:
                return None
            is_first = answered.text == message.text and tx.log.claim(scope.workspace, preference.event_id, now)
            if not is_first:
                raise NotFound(f"message {message.event_id} in {scope.workspace} was edited or taken in before")
            _put(tx, scope.workspace, scope.person, preference, now)
            part = Outgoing.to(scope, run_id, reply)
            tx.deliveries.put_outgoing(part)
            return Answer(parts=(part,), total=1, lessons=())

    def remove(self, workspace: str, person: str, *, kind: str = "", event_id: str = "") -> Preference | None:
        """Remove the preference of a kind, or the one that came from an event. None if there is none."""
        with self._core.store.write() as tx:
            for stored in _stored(tx, workspace, person):
                found = _read(stored)
                if found.kind == kind or (event_id and found.event_id == event_id):
                    tx.short.delete(workspace, KIND, stored.key)
                    return found
        return None


def _put(tx: Transaction, workspace: str, person: str, preference: Preference, now: datetime) -> None:
    key = f"{person}/{preference.kind}"
    # Deleted first, so that a repeated preference becomes the newest.
    tx.short.delete(workspace, KIND, key)
    others = _stored(tx, workspace, person)
    for oldest in others[: max(0, len(others) - MOST + 1)]:
        tx.short.delete(workspace, KIND, oldest.key)
    value = {"kind": preference.kind, "text": preference.text, "event": preference.event_id}
    put_short_memory(tx, KIND, key, value, of=(workspace, person), at=now, until=now + _KEPT)


def _stored(tx: Transaction, workspace: str, person: str) -> Sequence[ShortMemory]:
    return sorted(tx.short.of_person(workspace, person, KIND), key=lambda each: (each.created_at, each.key))


def _read(stored: ShortMemory) -> Preference:
    value = stored.value
    return Preference(
        kind=str(value.get("kind", "")), text=str(value.get("text", "")), event_id=str(value.get("event", ""))
    )

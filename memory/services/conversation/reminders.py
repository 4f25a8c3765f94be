"""Reminders. Each is stored as a short memory of its person, which is how it is exported and forgotten.

The key begins with the due time, so that due reminders come first. A due reminder becomes an answered message in the
outbox and is posted like any answer: one transaction, in whichever process comes first.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from memory.errors import InvalidInput
from memory.model import Incoming, Outgoing, Scope, ShortMemory, Visibility
from memory.model.delivery import RETRY
from memory.model.normal_form import comparable
from memory.ports import Transaction
from memory.rules.audience import may_be_repeated
from memory.rules.recurrence import ONCE, Recurrence, next_due
from memory.services.core import ALL, Core, put_short_memory

KIND = "goodbot/reminder"
MOST = 50
"""The most reminders a person may have in a workspace."""
TEXT_CHARACTERS = 500
_FARTHEST = timedelta(days=36_525)
"""A hundred years, into the future or the past."""
_LATE = timedelta(minutes=2)
"""The delay from which a reminder is announced as late."""
_AT_ONCE = 50
_POSTED = "reminder/"
"""The beginning of the event ids of messages made for due reminders."""
_FOR_GOOD = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """One reminder."""

    id: str
    scope: Scope
    text: str
    due: datetime
    first: datetime
    """When it was first due, as local time of its zone."""
    zone: str
    repeat: Recurrence = ONCE
    message_id: str = ""
    """The message that asked for it, to which it is posted as a reply."""

    @property
    def local(self) -> datetime:
        """When it is due, in its own zone."""
        return self.due.astimezone(ZoneInfo(self.zone))


TextOf = Callable[[Reminder, bool], str]
"""Returns the text to post for a reminder, given whether it is late."""


@dataclass(frozen=True, slots=True)
class Reminders:
    """The use cases of reminders."""

    _core: Core

    def add(
        self, scope: Scope, text: str, first: datetime, zone: str, repeat: Recurrence = ONCE, message_id: str = ""
    ) -> Reminder:
        """Store a reminder, first due at local time `first` of `zone`; an equal one is not stored twice.

        Raises `InvalidInput`.
        """
        now = self._core.clock()
        if abs(first.replace(tzinfo=UTC) - now) > _FARTHEST:
            raise InvalidInput("that is more than a hundred years away")
        due = next_due(first, ZoneInfo(zone), repeat, now)
        text = self._core.redactor.text(" ".join(text.split()))
        if due is None:
            raise InvalidInput("that time is in the past")
        if not text or len(text) > TEXT_CHARACTERS:
            raise InvalidInput(f"what to remind of has 1 to {TEXT_CHARACTERS} characters")
        made = Reminder(
            id=self._core.new_id(),
            scope=scope,
            text=text,
            due=due,
            first=first,
            zone=zone,
            repeat=repeat,
            message_id=message_id,
        )
        with self._core.store.write() as tx:
            kept = [_read(each) for each in tx.short.of_person(scope.workspace, scope.person, KIND)]
            for each in kept:
                if replace(each, id=made.id, message_id=message_id) == made:
                    return each
            if len(kept) >= MOST:
                raise InvalidInput(f"there are {MOST} reminders already; cancel one first")
            _store(tx, made, now)
        return made

    def of(self, scope: Scope) -> list[Reminder]:
        """The person's reminders, earliest first. In a channel, where others read along, only those of the channel.

        Those from before others could read it are left out there.
        """
        with self._core.store.read() as tx:
            kept = [_read(each) for each in tx.short.of_person(scope.workspace, scope.person, KIND)]
        if scope.visibility is Visibility.DIRECT:
            return kept
        here = [each for each in kept if each.scope.channel == scope.channel]
        return [each for each in here if may_be_repeated(each.scope.visibility, scope.visibility)]

    def cancel(self, scope: Scope, known: str) -> Reminder | None:
        """Delete one of the person's own reminders, by its id or the end of it. None if there is none."""
        found = next((each for each in self.of(scope) if known and each.id.endswith(known)), None)
        if found is None:
            return None
        with self._core.store.write() as tx:
            return found if tx.short.delete(scope.workspace, KIND, _key(found)) else None

    def fire(self, workspace: str, text_of: TextOf) -> int:
        """Hand the due reminders to the outbox, each once even with several processes. Returns the number."""
        now = self._core.clock()
        with self._core.store.read() as tx:
            due = tx.short.up_to(workspace, KIND, _moment(now), _AT_ONCE)
        return sum(self._fire(_read(each), each, text_of, now) for each in due)

    def _fire(self, reminder: Reminder, stored: ShortMemory, text_of: TextOf, now: datetime) -> bool:
        scope, run_id = reminder.scope, self._core.new_id()
        with self._core.store.write() as tx:
            if not tx.short.delete(scope.workspace, KIND, stored.key):
                return False
            again = next_due(reminder.first, ZoneInfo(reminder.zone), reminder.repeat, now)
            if again is not None:
                _store(tx, replace(reminder, due=again), stored.created_at)
            return _put(tx, reminder, run_id, text_of(reminder, now - reminder.due > _LATE), now)


def _put(tx: Transaction, reminder: Reminder, run_id: str, text: str, now: datetime) -> bool:
    """Put the reminder into the outbox, as the answer to a message made for it."""
    scope = reminder.scope
    event_id = f"{_POSTED}{reminder.id}/{_moment(reminder.due)}"
    message = Incoming(
        scope=scope,
        event_id=event_id,
        message_id=f"{RETRY}{event_id}",
        text=text,
        at=now,
        reply_to=reminder.message_id,
    )
    if tx.deliveries.accept(message) is None or tx.deliveries.answer(scope.workspace, event_id, run_id, "") is None:
        return False
    tx.deliveries.put_outgoing(Outgoing.to(scope, run_id, text))
    return True


def erase_in_words_of_others(tx: Transaction, workspace: str, run_ids: Iterable[str]) -> list[str]:
    """Delete the reminders that these answers set with words that were taken over from earlier messages.

    Returns the runs by which such ones were posted.
    """
    posted: list[str] = []
    for run_id in sorted(run_ids):
        if (asked := tx.deliveries.incoming_of_run(workspace, run_id)) is None:
            continue
        person = asked.scope.person
        for stored in tx.short.of_person(workspace, person, KIND):
            made = _read(stored)
            if made.message_id == asked.message_id and comparable(made.text) not in comparable(asked.text):
                tx.short.delete(workspace, KIND, stored.key)
        messages = tx.deliveries.messages_of(workspace, asked.scope.channel, person, ALL)
        replies = [each for each in messages if each.reply_to == asked.message_id]
        posted += [each.run_id for each in replies if each.event_id.startswith(_POSTED)]
    return posted


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"


def _key(reminder: Reminder) -> str:
    return f"{_moment(reminder.due)}/{reminder.id}"


def _store(tx: Transaction, reminder: Reminder, created_at: datetime) -> None:
    scope = reminder.scope
    value = {
        "text": reminder.text,
        "first": reminder.first.isoformat(),
        "zone": reminder.zone,
        "repeat": str(reminder.repeat),
        "channel": scope.channel,
        "thread": scope.thread,
        "visibility": scope.visibility.value,
        "place": scope.place,
        "message": reminder.message_id,
    }
    owner = (scope.workspace, scope.person)
    put_short_memory(tx, KIND, _key(reminder), value, of=owner, at=created_at, until=_FOR_GOOD)


def _read(stored: ShortMemory) -> Reminder:
    value = {name: str(each) for name, each in stored.value.items()}
    due, _, own = stored.key.partition("/")
    return Reminder(
        id=own,
        scope=Scope(
            workspace=stored.workspace,
            channel=value["channel"],
            thread=value["thread"],
            person=stored.person,
            visibility=Visibility(value["visibility"]),
            place=value["place"],
        ),
        text=value["text"],
        due=datetime.fromisoformat(due).replace(tzinfo=UTC),
        first=datetime.fromisoformat(value["first"]),
        zone=value["zone"],
        repeat=Recurrence.read(value["repeat"]),
        message_id=value["message"],
    )

"""Reminders in the store: told once by whoever comes first, late where nobody was there, forgotten."""

from datetime import UTC, datetime, timedelta

import pytest

from memory.errors import InvalidInput
from memory.library.export import export_person
from memory.model import Scope, Visibility
from memory.rules.recurrence import ONCE, Recurrence, Repeat
from memory.services.conversation.reminders import MOST, Reminder
from tests.doubles.memory_world import World, scope

ANA = scope("ana")
TOMORROW = datetime.fromisoformat("2026-11-22T09:00")


def told(reminder: Reminder, is_late: bool) -> str:
    return f"{'late ' if is_late else ''}{reminder.text}"


def outbox(world: World, where: Scope = ANA) -> list[str]:
    return [
        part.text
        for unsent in world.memory.recording.unfinished()
        for part in unsent.parts
        if part.channel == where.channel
    ]


def test_one_is_told_once_at_its_time() -> None:
    world = World()
    reminders = world.memory.reminders
    kept = reminders.add(ANA, "call\n Bob", TOMORROW, "Europe/Berlin")
    assert (kept.text, kept.due) == ("call Bob", datetime(2026, 11, 22, 8, tzinfo=UTC))
    world.clock.now = kept.due - timedelta(seconds=2)
    assert reminders.fire(ANA.workspace, told) == 0
    world.clock.now = kept.due + timedelta(seconds=5)
    assert reminders.fire("terminal:other", told) == 0
    assert reminders.fire(ANA.workspace, told) == 1
    assert reminders.fire(ANA.workspace, told) == 0
    assert outbox(world) == ["call Bob"]
    assert reminders.of(ANA) == []


def test_the_same_one_is_kept_once() -> None:
    """A run that a crash broke off asks for it once more."""
    world = World()
    reminders = world.memory.reminders
    first = reminders.add(ANA, "call Bob", TOMORROW, "UTC", message_id="m1")
    assert reminders.add(ANA, "call  Bob", TOMORROW, "UTC", message_id="m2") == first
    others = [
        reminders.add(ANA, "call Eve", TOMORROW, "UTC"),
        reminders.add(ANA, "call Bob", TOMORROW, "UTC", Recurrence(Repeat.DAY)),
        reminders.add(ANA, "call Bob", TOMORROW + timedelta(minutes=1), "UTC"),
        reminders.add(scope("ana", channel="c2"), "call Bob", TOMORROW, "UTC"),
        reminders.add(scope("bob"), "call Bob", TOMORROW, "UTC"),
    ]
    assert len({first.id, *(each.id for each in others)}) == 6


@pytest.mark.parametrize("when", ["9999-12-31T23:59", "9998-01-01T00:00", "0001-01-01T00:00"])
@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Kiritimati"])
@pytest.mark.parametrize("repeat", [ONCE, Recurrence(Repeat.YEAR)])
def test_what_is_further_away_than_anybody_lives_is_refused(when: str, zone: str, repeat: Recurrence) -> None:
    with pytest.raises(InvalidInput, match="hundred years"):
        World().memory.reminders.add(ANA, "call Bob", datetime.fromisoformat(when), zone, repeat)


def test_two_processes_that_look_at_the_same_time_tell_it_once() -> None:
    world = World()
    kept = world.memory.reminders.add(ANA, "call Bob", TOMORROW, "UTC", Recurrence(Repeat.DAY))
    world.clock.now = kept.due + timedelta(seconds=5)
    with world.memory.store.read() as tx:
        stale = tx.short.of_person(ANA.workspace, "ana")
    assert world.memory.reminders.fire(ANA.workspace, told) == 1
    # What the other process read before is told no more.
    assert not any(world.memory.reminders._fire(kept, each, told, world.clock.now) for each in stale)
    assert outbox(world) == ["call Bob"]


def test_what_was_missed_is_told_late_and_once_however_long_it_was() -> None:
    world = World()
    kept = world.memory.reminders.add(ANA, "stand up", TOMORROW, "UTC", Recurrence(Repeat.DAY))
    world.clock.now = kept.due + timedelta(days=3, hours=1)
    assert world.memory.reminders.fire(ANA.workspace, told) == 1
    assert outbox(world) == ["late stand up"]
    (again,) = world.memory.reminders.of(ANA)
    assert (again.id, again.due) == (kept.id, kept.due + timedelta(days=4))


def test_each_person_sees_and_cancels_their_own_where_they_asked_or_alone() -> None:
    world = World()
    reminders = world.memory.reminders
    kept = reminders.add(ANA, "call Bob", TOMORROW, "UTC")
    direct = scope("ana", channel="d1", visibility=Visibility.DIRECT)
    elsewhere = scope("ana", channel="c2")
    assert [each.id for each in reminders.of(direct)] == [kept.id]
    assert reminders.of(elsewhere) == reminders.of(scope("bob")) == []
    assert reminders.cancel(scope("bob"), kept.id[-8:]) is None
    assert reminders.cancel(ANA, "") is None
    assert reminders.cancel(direct, kept.id[-8:]) == kept
    assert reminders.of(ANA) == []


def test_what_cannot_be_kept_says_why() -> None:
    reminders = World().memory.reminders
    for text, first in (("", TOMORROW), ("x" * 501, TOMORROW), ("call", datetime.fromisoformat("2026-11-20"))):
        with pytest.raises(InvalidInput):
            reminders.add(ANA, text, first, "UTC")
    for number in range(MOST):
        reminders.add(ANA, f"call {number}", TOMORROW, "UTC")
    with pytest.raises(InvalidInput, match="cancel one"):
        reminders.add(ANA, "call", TOMORROW, "UTC")


def test_they_are_exported_and_forgotten_with_their_person() -> None:
    world = World()
    world.memory.reminders.add(ANA, "call Bob", TOMORROW, "UTC")
    held = world.memory.privacy.copy(ANA.workspace, "ana")
    assert "call Bob" in str(export_person(held, "ana"))
    world.memory.privacy.forget(ANA.workspace, "ana")
    assert world.memory.reminders.of(ANA) == []
    world.clock.now += timedelta(days=2)
    assert world.memory.reminders.fire(ANA.workspace, told) == 0


def test_secrets_are_not_kept() -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    kept = World().memory.reminders.add(ANA, f"use {key}", TOMORROW, "UTC")
    assert key not in kept.text


def test_who_is_forgotten_leaves_no_words_in_anothers_reminder_which_stays_if_it_has_none() -> None:
    world, own = World(), "call Eve"
    reminders = world.memory.reminders
    asked = f"remind me to {own}, and of that"
    answer = world.ask(asked, "I will", of=ANA, understood=f"{asked}: fetch the zyzzyva")
    with world.memory.store.write() as tx:
        tx.episodes.note_words(ANA.workspace, {answer.id: ["bob"]})
        message = tx.deliveries.incoming_of_run(ANA.workspace, answer.run_id)
        assert message is not None
    for text in (own, "fetch the zyzzyva"):
        reminders.add(ANA, text, TOMORROW, "UTC", message_id=message.message_id)
    reminders.add(ANA, "fetch the milk", TOMORROW, "UTC", message_id="another")
    due = TOMORROW - timedelta(hours=1)
    reminders.add(ANA, "the zyzzyva", due, "UTC", message_id=message.message_id)
    world.clock.now = due.replace(tzinfo=UTC) + timedelta(seconds=5)
    assert reminders.fire(ANA.workspace, told) == 1
    world.memory.privacy.forget(ANA.workspace, "bob")
    assert {each.text for each in reminders.of(ANA)} == {own, "fetch the milk"}
    assert outbox(world) == []

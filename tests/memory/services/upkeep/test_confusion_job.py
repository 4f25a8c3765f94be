"""The job that estimates how often what was taught is confused, where there are many workspaces."""

from collections.abc import Iterable, Iterator

import pytest

from memory.adapters.sql import SqlStore
from memory.model import Audience, Role
from memory.rules.evidence import confusion as rule
from memory.rules.evidence.confusion import LeftOut
from memory.services.recall import confusion as estimate
from memory.services.upkeep.jobs import ESTIMATED_FOR, LEASE_FOR
from tests.doubles.memory_world import World, scope

PLACES = ("kitchen", "cellar", "attic", "garden", "garage", "hall", "office", "workshop")


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    assert world.memory.audit.check() == []


def workspaces_with_lessons(world: World, *names: str) -> None:
    for name in names:
        for number, place in enumerate(PLACES * 2):
            world.clock.tick()
            world.memory.teaching.teach(
                scope(workspace=name),
                f"who cleans the {place} {'now' if number < 8 else 'today'}",
                f"{place} crew",
                role=Role.MEMBER,
                audience=Audience.CHANNEL,
                at=world.clock(),
            )
    world.clock.tick()


def estimated(world: World) -> list[str]:
    """The workspaces that were estimated."""
    names = world.memory.store.workspaces()
    with world.memory.store.read() as tx:
        found = {name: tx.judgements.threshold(name) for name in names}
    return [name for name, each in found.items() if each is not None and each.confusion != 1.0]


def test_a_run_does_what_it_has_time_for_and_the_next_ones_the_rest(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(lessons: Iterable[LeftOut]) -> float:
        world.clock.tick(seconds=25)
        return rule.confusion(lessons)

    monkeypatch.setattr(estimate, "confusion", slow)
    workspaces_with_lessons(world, *"abcdef")
    run = world.memory.upkeep.run
    assert run("confusion").summary == "3 workspaces where something changed; 3 wait"
    assert estimated(world) == ["a", "b", "c"]
    for name in "ab":  # what changes all the time keeps nothing else from its turn, and is estimated once an hour
        workspaces_with_lessons(world, name)
    world.clock.tick(minutes=10)
    assert run("confusion").summary == "3 workspaces where something changed"
    assert estimated(world) == list("abcdef")
    world.clock.tick(minutes=50)
    assert run("confusion").summary == "2 workspaces where something changed"
    assert run("confusion").summary == "0 workspaces where something changed"


def test_a_run_ends_long_before_the_lease_does() -> None:
    assert 2 * ESTIMATED_FOR < LEASE_FOR


def test_what_was_estimated_stays_so_where_the_process_is_killed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    calls = list[int]()

    def killed_at_the_third(lessons: Iterable[LeftOut]) -> float:
        calls.append(1)
        if len(calls) == 3:
            raise Killed
        return rule.confusion(lessons)

    monkeypatch.setattr(estimate, "confusion", killed_at_the_third)
    workspaces_with_lessons(world, *"abcd")
    with pytest.raises(Killed):
        world.memory.upkeep.run("confusion")
    assert estimated(world) == ["a", "b"]
    world.clock.tick(seconds=1)
    assert world.memory.upkeep.run("confusion").summary == "1 workspaces where something changed"
    assert estimated(world) == ["a", "b", "d"]  # the one that may have killed it comes last, and not at once
    world.clock.tick(hours=1)
    assert world.memory.upkeep.run("confusion").summary == "1 workspaces where something changed"
    assert estimated(world) == list("abcd")


def test_a_workspace_that_was_estimated_when_the_clock_was_ahead_is_estimated_again(world: World) -> None:
    world.clock.tick(days=900)
    workspaces_with_lessons(world, "a")
    world.memory.upkeep.run("confusion")
    world.clock.tick(days=-900)
    workspaces_with_lessons(world, "a")
    assert world.memory.upkeep.run("confusion").summary == "1 workspaces where something changed"


def test_a_workspace_that_fails_keeps_no_other_from_it() -> None:
    store = SqlStore.in_memory()
    world = World(store)
    workspaces_with_lessons(world, *"abcd")
    with store._engine.begin() as connection:
        connection.exec_driver_sql("UPDATE episodes SET created_at = 'x' WHERE workspace = 'a'")
        connection.exec_driver_sql("UPDATE events SET at = 'x' WHERE workspace = 'c'")
    error = world.memory.upkeep.run("confusion").error
    assert error.endswith("Elsewhere: 2 workspaces where something changed.")
    assert "In a: In the database" in error
    assert "In c: In the database" in error
    assert estimated(world) == ["b", "d"]

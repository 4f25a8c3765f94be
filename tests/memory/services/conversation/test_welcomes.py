"""Whom the bot welcomes: each person and place once, also where two processes ask; and what remains of that."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from memory.adapters.sql import SqlStore
from memory.library.export import export_person
from memory.model import Role
from memory.services import Memory
from tests.doubles.memory_world import World, scope

W = scope("ana").workspace


def claims(memory: Memory) -> list[bool]:
    """A person, a channel and the workspace."""
    claim = memory.welcomes.claim
    return [claim(W, person="ana"), claim(W, channel="C1"), claim(W)]


def test_of_two_processes_one_welcomes_and_after_a_restart_none(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'goodbot.db'}"
    with closing(SqlStore.open(address)) as one, closing(SqlStore.open(address)) as other:
        memories = [World(store).memory for store in (one, other)]
        with ThreadPoolExecutor(2) as threads:
            taken = list(threads.map(lambda turn: claims(memories[turn % 2]), range(8)))
        assert [sum(column) for column in zip(*taken, strict=True)] == [1, 1, 1]
    with closing(SqlStore.open(address)) as again:
        assert claims(World(again).memory) == [False] * 3


def test_forgetting_a_person_takes_their_welcome_with_it_and_no_place_s() -> None:
    world = World()
    assert claims(world.memory) == [True] * 3
    held = world.memory.privacy.personal_data(W, "ana")
    assert held.welcomed_at is not None
    assert not held.is_empty
    assert export_person(held, "ana")["welcomed_at"] == held.welcomed_at.isoformat()
    world.memory.privacy.forget(W, "ana")
    assert world.memory.privacy.personal_data(W, "ana").is_empty
    assert claims(world.memory) == [True, False, False]
    assert world.memory.audit.check() == []


def test_who_was_purged_is_new() -> None:
    world = World()
    claims(world.memory)
    world.memory.purging.purge(W, "ana", actor="root", at=world.clock.tick(), role=Role.ADMIN)
    assert claims(world.memory) == [True, False, False]

"""Jobs on the running event loop: due ones run, by one process at a time."""

import asyncio
from collections.abc import Callable

import pytest

from bot.app.processes.scheduler import jobs_running, owner_name
from memory.adapters.system import utc_now
from memory.services import Memory
from memory.services.upkeep import JOBS
from tests.doubles.memory_world import World


async def until(predicate: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not predicate():  # noqa: ASYNC110 - what is waited for happens on other threads
            await asyncio.sleep(0.01)


def ran(memory: Memory) -> set[str]:
    return {state.job.name for state in memory.upkeep.states() if state.last is not None}


async def test_everything_due_runs_at_once_and_again_when_its_time_comes() -> None:
    world = World()
    upkeep = world.memory.upkeep
    async with jobs_running(upkeep, "p1", clock=utc_now, every_s=0.05):
        await until(lambda: ran(world.memory) == {job.name for job in JOBS})
        first = {state.job.name: state.last for state in upkeep.states()}
        world.clock.tick(hours=1)
        await until(lambda: {s.job.name: s.last for s in upkeep.states()}["sweep"] != first["sweep"])
        assert {s.job.name: s.last for s in upkeep.states()}["join"] == first["join"]
        assert upkeep.states()[0].owner == "p1"
    assert upkeep.states()[0].owner == ""


async def test_a_second_process_waits_until_the_first_is_gone() -> None:
    world = World()
    upkeep = world.memory.upkeep
    assert upkeep.hold("p1")
    async with jobs_running(upkeep, "p2", clock=utc_now, every_s=0.02):
        looked = asyncio.get_running_loop().time() + 0.2
        await until(lambda: asyncio.get_running_loop().time() > looked)
        assert ran(world.memory) == set()
        upkeep.release("p1")
        await until(lambda: len(ran(world.memory)) == len(JOBS))


async def test_a_store_that_is_away_is_no_end(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.memory.store.close()
    async with jobs_running(world.memory.upkeep, "p1", clock=utc_now, every_s=0.02):
        await until(lambda: caplog.text.count("was not looked at") > len(JOBS))


def test_every_process_has_a_name_of_its_own() -> None:
    numbers = iter(["id-000001", "id-000002"])
    assert owner_name(lambda: next(numbers)) != owner_name(lambda: next(numbers))

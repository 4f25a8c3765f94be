"""One process at a time for each login: others stand by, and take over when the holder is gone."""

import asyncio
from pathlib import Path

import pytest

from bot.adapters.flow_control import Sleep
from bot.app.processes.logins import LEASE_FOR, Login
from bot.config import load_settings
from tests.doubles.memory_world import World


async def dead(seconds: float) -> None:
    """The sleep of a process that never does anything again."""
    await asyncio.Event().wait()


def login(world: World, folder: Path, owner: str, *, token: str = "xoxb-1", sleep: Sleep = dead) -> Login:
    """Of one process; processes with a folder of their own are on different machines."""
    folder.mkdir(exist_ok=True)
    environment = {"DATABASE_URL": f"sqlite:///{folder / 'goodbot.db'}", "SLACK_BOT_TOKEN": token}
    settings = load_settings(environment, config_path=None, cwd=folder, data_dir=folder)
    return Login(settings, "slack", world.memory.leases, owner, sleep=sleep)


def ticking(world: World, stop: asyncio.Event | None = None) -> Sleep:
    """A sleep that moves the clock at once, until it is stopped."""

    async def sleep(seconds: float) -> None:
        if stop is not None and stop.is_set():
            await dead(seconds)
        world.clock.tick(seconds=seconds)
        await asyncio.sleep(0)

    return sleep


async def test_one_process_has_a_login_and_another_token_is_another_login(tmp_path: Path) -> None:
    world = World()
    async with (
        login(world, tmp_path, "here/1/a") as first,
        login(world, tmp_path, "here/2/b") as second,
        login(world, tmp_path, "here/2/b", token="xoxb-2") as other,
    ):
        assert [await each.take() for each in (first, second, other)] == ["", "here/1/a", ""]
        assert [each.is_held for each in (first, second, other)] == [True, False, True]


async def test_it_is_given_back_at_the_end(tmp_path: Path) -> None:
    world = World()
    async with login(world, tmp_path / "x", "x/1/a") as first:
        assert await first.take() == ""
    async with login(world, tmp_path / "y", "y/1/b") as second:
        assert await second.take() == ""


async def test_on_the_same_machine_a_dead_holder_is_followed_at_once(tmp_path: Path) -> None:
    world = World()
    async with login(world, tmp_path / "x", "here/1/a") as first, login(world, tmp_path / "y", "here/2/b") as second:
        assert await first.take() == ""
        # Its lock is not where the second one's is, as if it had gone with the process.
        assert await second.take() == ""


async def test_a_holder_on_another_machine_is_followed_when_its_lease_has_run_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    world = World()
    first = login(world, tmp_path / "x", "far/1/a")
    async with first, login(world, tmp_path / "y", "near/2/b", sleep=ticking(world)) as second:
        assert await first.take() == ""
        begun = world.clock()
        await second.taken()
        assert second.is_held
        assert LEASE_FOR.total_seconds() <= (world.clock() - begun).total_seconds() <= 10
    told = [record.message for record in caplog.records if "far/1/a" in record.message]
    assert len(told) == 1
    assert "stands by" in told[0]


async def test_a_holder_that_renews_keeps_it_and_one_that_did_not_learns_that_it_lost_it(tmp_path: Path) -> None:
    world, gate, stop = World(), asyncio.Event(), asyncio.Event()

    async def paused(seconds: float) -> None:
        await gate.wait()

    async with (
        login(world, tmp_path / "x", "far/1/a", sleep=ticking(world, stop)) as keeps,
        login(world, tmp_path / "x", "far/1/a", token="xoxb-2", sleep=paused) as loses,
        login(world, tmp_path / "y", "near/2/b") as second,
        login(world, tmp_path / "y", "near/2/b", token="xoxb-2") as third,
    ):
        assert [await keeps.take(), await loses.take()] == ["", ""]
        begun = world.clock()
        while (world.clock() - begun) < 3 * LEASE_FOR:
            assert await second.take() == "far/1/a"
            await asyncio.sleep(0)
        stop.set()  # else the third one's lease would run out meanwhile
        assert await third.take() == ""
        gate.set()
        await loses.lost()
        assert (keeps.is_held, loses.is_held, third.is_held) == (True, False, True)

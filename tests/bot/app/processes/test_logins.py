"""One process at a time for each login: others stand by, and take over when the holder is gone."""

import asyncio
import logging
from datetime import timedelta
from pathlib import Path

import pytest

from bot.adapters.flow_control import Sleep
from bot.app.processes.logins import LEASE_FOR, Login
from bot.config import load_settings
from memory.errors import StoreFull
from memory.model.upkeep import Lease
from memory.services.upkeep.leases import Leases
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


async def test_a_store_that_is_away_is_logged_once_and_so_is_its_return(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    world, looks, take, enough = World(), 0, Leases.take, asyncio.Event()

    def away(leases: Leases, name: str, owner: str, lasts: timedelta) -> Lease:
        nonlocal looks
        looks += 1
        if looks % 20 < 10:  # before it has the login, and again while it has it
            raise StoreFull("the disk is full")
        return take(leases, name, owner, lasts)

    async def sleep(seconds: float) -> None:
        if looks >= 35:
            enough.set()
            await dead(seconds)

    monkeypatch.setattr(Leases, "take", away)
    async with login(world, tmp_path, "here/1/a", sleep=sleep) as held:
        await held.taken()
        await enough.wait()
    logged = [record.message for record in caplog.records if record.name == "bot.app.processes.logins"]
    assert [each.partition(":")[0] for each in logged] == [
        "it is not known who is on slack",
        "the login on slack is not renewed for now",
        "the login on slack is renewed again",
    ]


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
